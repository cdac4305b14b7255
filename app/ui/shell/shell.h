// The window's whole: document, evaluation, selection, the panels and views, and one function that draws a
// frame of it. Knows no window system: a real window, a test and a picture all call frame().
#pragma once

#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/panels/blame_panel.h"
#include "app/ui/panels/export_sheet.h"
#include "app/ui/panels/glossary_card.h"
#include "app/ui/panels/import_sheet.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/panels/plan_editor.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/panels/stage_editor.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/document.h"
#include "app/ui/shell/file_browser.h"
#include "app/ui/shell/file_question.h"
#include "app/ui/shell/incoming.h"
#include "app/ui/shell/recovery.h"
#include "app/ui/shell/settings.h"
#include "app/ui/views/table.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pentamesh::ui {

// What the shell asks of whoever runs it; a picture and a test answer with nothing.
struct Host {
    std::function<std::string()> clipboard;
    std::function<void(const std::string&)> set_clipboard;
    std::function<void(bool)> set_fullscreen;
    std::function<double()> now_s;  // for measuring evaluate; empty: not measured
    // Renders one view as PNG at a size and scale, with the plan inside. Empty: no pictures.
    std::function<void(const std::string& view, const std::filesystem::path& file)> save_picture;
    // Opens a dialog of the desktop's. Empty, or a null answer: the window's own is shown.
    std::function<std::unique_ptr<FileDialog>(const FileQuestion&)> file_dialog;
    std::filesystem::path config_folder;  // empty: nothing is remembered
    std::filesystem::path home;           // what "~" stands for; empty: "~" is a name like any other
    // Files outside of it are neither looked at nor written; empty: all can be. For what uses the window at
    // random.
    std::filesystem::path fence;
    bool first_run = false;  // the welcome may be shown where it was not seen yet
};

// What stands beside the view while a lesson is open in a narrow window: the lesson, the plan, or nothing.
enum class SidePane : std::uint8_t { lesson, plan, view };

enum class DialogKind : std::uint8_t {
    none,
    open,
    save,
    picture,
    settings,
    close,
    recover,
    about,
    missing,
    preset,
    presets
};

// What is on the screen, but for the plan.
struct Screen {
    ViewStates views;
    Selection selection;
    Settings settings;
    std::optional<ViewId> full;
    std::uint64_t revision = 0;  // of the plan that `views` keeps things of
};

class Shell {
  public:
    Shell(const Presets& presets, Plan plan, Host host);

    // One frame. Edits of the plan made in it are evaluated before it returns, and drawn in the next, which
    // `wants_frame` asks for.
    void frame(const FrameInfo& info, Page* page = nullptr);
    [[nodiscard]] bool wants_frame() const {
        return state_.wants_frame || state_.tooltip_pending || dirty_ || hover_moved_ || !queue_.empty();
    }
    // Seconds until something is to be drawn without input; infinity: nothing.
    [[nodiscard]] double idle_s() const;

    // Opens a plan file, a config.json, a picture with a plan inside or a lesson, or says what is wrong with
    // it. The plan that was open comes back with undo.
    void open_file(const std::filesystem::path& path);
    void open_text(const std::string& text, const std::string& origin);
    void open_plan(Plan plan);  // a preset's
    // The plan given at the start is this file's; `saved` false: but not as it stands there.
    void opened_from(const std::filesystem::path& path, bool saved = true);
    void edit_plan(Plan plan, std::string what);  // a step of undo, as an edit made by hand
    // A picture could not be written: the dialog is shown again with the reason.
    void picture_failed(const std::filesystem::path& path, std::string reason);
    // Runs a command once the frame that is being drawn is done.
    void run(const Command& command) { later(command.title, command.run); }
    void say(std::string text);  // a line that passes by
    void closed();               // the window went: what was discarded is not offered again
    // True when the window may close now; else the question is shown.
    bool may_close();

    [[nodiscard]] const Document& document() const { return document_; }
    [[nodiscard]] const Evaluation& evaluation() const { return evaluation_; }
    [[nodiscard]] const Glossary& glossary() const { return glossary_; }
    [[nodiscard]] UiState& ui_state() { return state_; }
    [[nodiscard]] Selection& selection() {
        state_.redraw_all = true;
        return selection_;
    }
    [[nodiscard]] const ViewStates& views() const { return views_; }
    // What the window shows, to be shown by another shell: for a picture.
    [[nodiscard]] Screen screen() const;
    void show(const Screen& screen);
    [[nodiscard]] const Settings& settings() const { return settings_; }
    [[nodiscard]] Settings& settings() {
        state_.redraw_all = true;
        return settings_;
    }
    [[nodiscard]] const std::vector<Command>& commands() const { return commands_; }
    [[nodiscard]] bool quit() const { return quit_; }
    [[nodiscard]] std::string title() const;
    // The view that fills the window; nullopt: the dashboard.
    void show_full(std::optional<ViewId> view) {
        state_.redraw_all = true;
        full_ = view;
    }
    [[nodiscard]] std::string message() const { return toast_; }
    [[nodiscard]] DialogKind dialog() const { return dialog_.kind; }
    [[nodiscard]] const std::string& dialog_error() const { return dialog_.error; }
    [[nodiscard]] const std::string& dialog_text() const { return dialog_.text; }
    // A lesson sets the open plan aside and gives it back when it is left.
    void open_lesson(const std::filesystem::path& file);
    [[nodiscard]] const LessonEntry* lesson_after(const std::filesystem::path& file) const;
    void leave_lesson();
    [[nodiscard]] LessonSession& lesson() { return lesson_; }
    [[nodiscard]] const std::vector<LessonEntry>& lessons() const { return lessons_; }
    [[nodiscard]] std::optional<ViewId> full_view() const { return full_; }
    [[nodiscard]] bool presenting() const { return presenter_.on; }
    // What is not saved is kept against a crash after each frame, a little later. This waits until it is.
    void autosave();
    // Asks about plans that windows left which are gone. False: there are none.
    bool offer_recovery();

  private:
    const Presets& presets_;
    Document document_;
    Evaluation evaluation_;
    Host host_;
    Settings settings_, saved_settings_;
    UiState state_;
    Selection selection_;
    Hover hover_;
    std::vector<Command> commands_;

    ViewStates views_;
    Pane keys_pane_ = Pane::top;  // whose view has the keyboard on the dashboard
    Glossary glossary_;
    GlossaryState glossary_state_;
    PlanEditorState editor_;
    StageEditorState stages_;
    struct TitleEdit {
        std::string text;
        bool fresh = true;  // until it has the keyboard: a menu may keep that for a frame
    };
    std::optional<TitleEdit> title_edit_;  // while the title is typed
    struct NotesEdit {
        std::string text, known;
        double changed_s = -1;  // < 0: the plan has the text
        bool fresh = true;      // until it has the keyboard
        bool undo_held = false;
    };
    std::optional<NotesEdit> notes_;     // while the plan's notes are open
    std::optional<PlanEdit> view_edit_;  // what a view changed in this frame
    PlanPanelState panel_;
    InspectorState inspector_;
    BlamePanelState blame_;
    ImportSheetState import_;
    ExportSheetState export_;
    std::optional<ViewId> full_;

    LessonSession lesson_;
    std::vector<LessonEntry> lessons_;
    std::optional<Document> set_aside_;  // the plan that was open before the lesson
    struct Presenter {
        bool on = false, blank = false, spotlight = false, side = false;
        double begun_s = 0;
    } presenter_;
    SidePane side_ = SidePane::lesson;
    bool seek_marked_ = false;    // in the plan, once it is drawn
    float width_ = 0;             // of the window
    LessonAction lesson_action_;  // of this frame, done at its end
    bool welcome_ = false;

    std::string menu_;  // the open menu of the bar
    Rect menu_anchor_;
    MenuState menu_state_;
    int menu_turn_ = 0;  // -1, 1: the menu to the left, to the right is wanted
    bool palette_ = false, keys_ = false;
    MenuState palette_state_;
    struct Dialog {
        DialogKind kind = DialogKind::none;
        std::string text{}, error{};
        std::function<void()> after{};
        bool fresh = true;                  // its field gets the keyboard
        std::filesystem::path confirmed{};  // a file, or a preset's id, that may be replaced
        PresetKind preset = PresetKind::model;
        ScrollState scroll{};
        int asks = -1;  // the row of a list that is to be removed if that is said again
    } dialog_;
    std::unique_ptr<FileDialog> native_dialog_;  // that is open in the place of the window's own
    FileBrowser browser_;
    struct Queued {
        std::string what;
        std::function<void()> run;
    };
    std::vector<Queued> queue_;            // what is done between this frame and the next
    std::unique_ptr<Recovery> recovery_;   // null: nothing is remembered
    std::vector<std::string> left_names_;  // of the plans in recovery_->left()
    std::string toast_;
    double toast_until_s_ = 0;
    double now_s_ = 0, evaluate_s_ = 0;
    std::uint64_t evaluated_ = 0;
    bool hover_moved_ = false;
    bool dirty_ = true, quit_ = false, fullscreen_ = false;

    void evaluate_now();
    void apply(std::optional<PlanEdit> edit);
    void later(std::string what, std::function<void()> run);
    void run_queue();
    bool leave_typed_number();
    // Runs `act`; what it throws is said, with `what` was being done. False: it threw.
    bool guarded(std::string_view what, const std::function<void()>& act);
    // The same while a frame is drawn; the reason stands in `room`, and what was begun in `ui` is ended.
    bool draw_guarded(Ui& ui, std::string_view what, Rect room, const std::function<void()>& draw);
    void draw_frame(const FrameInfo& info, Page* page);
    void draw_content(Ui& ui, Scene& scene, Rect room);
    void take_keys(bool view_took_escape);
    void take_undo_keys();
    void take_escape();
    void keep_settings(const FrameInfo& info);

    // commands_table.cpp, commands_views.cpp
    void add(Command command);
    void make_commands();
    void make_file_commands();
    void make_edit_commands();
    void make_order_commands();
    void make_view_commands();
    void make_timeline_commands();
    void make_look_commands();
    void make_export_commands();
    void make_help_commands();
    void draw_menu_bar(Ui& ui, Rect bar);
    void draw_view(Ui& ui, Rect room, Scene& scene, ViewId view);
    void draw_kept_view(Ui& ui, Rect room, Scene& scene, ViewId view);
    [[nodiscard]] bool has_keys(const Ui& ui, Rect room, Pane pane);
    [[nodiscard]] Scene scene_of(Hover& next);
    void draw_layers(Ui& ui, Scene& scene);

    // shell_interop.cpp
    void draw_interop(Ui& ui, const Scene& scene);
    void save_settings_text(const std::filesystem::path& path);
    void make_interop_commands();
    void make_flags_commands();
    [[nodiscard]] std::optional<interop::Framework> flags_framework() const;

    // shell_panels.cpp
    void draw_middle(Ui& ui, Rect middle, Scene& scene);
    // What is kept of a view and comes from what the mouse is over elsewhere, and from which plan.
    [[nodiscard]] std::uint64_t shown_key(ViewId view) const;
    std::optional<PlanEdit> draw_panels(Ui& ui, Rect room, Scene& scene);
    std::optional<PlanEdit> draw_side(Ui& ui, Rect right, Scene& scene);
    void draw_side_switch(Ui& ui, Rect row);
    void draw_side_strip(Ui& ui, Rect row);
    void show_side(SidePane pane);
    void seek_marked(Rect panel);
    [[nodiscard]] SidePane side() const;
    void make_side_commands();

    // shell_lessons.cpp
    void make_lesson_commands();
    void begin_lesson_frame();
    void apply_lesson_scene();
    void show_lesson_plan(Plan plan);
    void show_lesson_view();
    void pass_last_step();
    void take_lesson_picks();
    void draw_lesson(Ui& ui, Rect room, const Scene& scene, float size, bool bare);
    void do_lesson(const LessonAction& action);
    std::optional<PlanEdit> draw_presenter(Ui& ui, Rect room, Scene& scene);
    void draw_presenter_foot(Ui& ui, Rect foot);
    void draw_presenter_cover(Ui& ui);
    void present_keys();
    void make_presenter_commands();
    void draw_welcome(Ui& ui);

    void draw_title(Ui& ui, Rect bar, Rect row);
    void edit_title();
    void draw_palette(Ui& ui);
    void draw_keys(Ui& ui);

    // shell_notes.cpp
    void draw_notes(Ui& ui);
    [[nodiscard]] std::optional<PlanEdit> typed_notes();
    void make_notes_commands();

    // dialogs.cpp
    // `error`: why it is asked again.
    void ask(DialogKind kind, std::string text, std::function<void()> after, std::string error = {});
    void close_dialog();
    void draw_dialog(Ui& ui);
    [[nodiscard]] float dialog_body_height(Ui& ui, float width) const;
    [[nodiscard]] bool draw_dialog_body(Ui& ui, Rect room, Rect buttons);
    [[nodiscard]] bool draw_close_dialog(Ui& ui, Rect buttons);
    [[nodiscard]] bool draw_recovery_dialog(Ui& ui, Rect room, Rect buttons);
    void try_in_dialog(const std::function<void()>& act);

    // shell_files.cpp
    void begin_file_dialog();
    void begin_browsing();
    void poll_native_dialog();
    [[nodiscard]] bool draw_waiting_dialog(Ui& ui, Rect buttons);
    [[nodiscard]] bool draw_file_dialog(Ui& ui, Rect room, Rect buttons);
    void finish_file_dialog();
    [[nodiscard]] std::vector<FilePlace> places() const;
    [[nodiscard]] std::filesystem::path first_folder() const;
    [[nodiscard]] std::filesystem::path typed_path(DialogKind kind) const;
    [[nodiscard]] std::string recent_label(std::size_t index) const;
    void open_recent(const std::filesystem::path& file);
    void drop_missing_files();
    [[nodiscard]] bool draw_missing_dialog(Ui& ui, Rect buttons);

    // shell_presets.cpp
    void ask_preset_name(PresetKind kind);
    struct PresetNote {
        std::string text;
        bool refused = false;
    };
    [[nodiscard]] PresetNote preset_note() const;
    [[nodiscard]] float preset_dialog_height(Ui& ui, float width) const;
    [[nodiscard]] bool draw_preset_dialog(Ui& ui, Rect room, Rect buttons);
    void finish_preset_dialog();
    void own_presets_changed();
    void ask_own_presets();
    [[nodiscard]] float presets_dialog_height(Ui& ui, float width) const;
    [[nodiscard]] bool draw_presets_dialog(Ui& ui, Rect room, Rect buttons);
    void draw_own_presets(Ui& ui, Rect room);
    void remove_preset(const Presets::Entry& entry);

    // shell_documents.cpp
    void load_file(const std::filesystem::path& path);
    void take(Incoming incoming, const std::filesystem::path& path, const std::string& origin);
    void replace_plan(OpenedPlan opened, const std::string& named);
    void show_scene_of_plan();
    void save(const std::filesystem::path& path);
    void save_or_ask(std::function<void()> after = nullptr);
    [[nodiscard]] std::string proposed_file(std::string_view name = {}) const;
    [[nodiscard]] std::string plan_text() const;
    // The own plan, also while a lesson shows another.
    [[nodiscard]] const Document& own_document() const { return set_aside_ ? *set_aside_ : document_; }
    void keep_unsaved();
    void look_for_left_plans();
    void open_left(std::size_t index);
    void forget_left(std::size_t index);
    [[nodiscard]] std::string close_words() const;

    void draw_toast(Ui& ui);
    void toggle_full(ViewId view);
    void copy_table(TableFormat format);
};

}  // namespace pentamesh::ui
