// The window's whole: document, evaluation, selection, the panels and views, and one function that draws a
// frame of it. Knows no window system: a real window, a test and a picture all call frame().
#pragma once

#include "app/ui/lesson/lesson_cover.h"
#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/lesson/presenter_page.h"
#include "app/ui/lesson/results_page.h"
#include "app/ui/panels/blame_panel.h"
#include "app/ui/panels/calibrate_sheet.h"
#include "app/ui/panels/export_sheet.h"
#include "app/ui/panels/glossary_card.h"
#include "app/ui/panels/import_sheet.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/panels/plan_editor.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/panels/stage_editor.h"
#include "app/ui/shell/beside_work.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/dialog_state.h"
#include "app/ui/shell/document.h"
#include "app/ui/shell/file_browser.h"
#include "app/ui/shell/host.h"
#include "app/ui/shell/incoming.h"
#include "app/ui/shell/recovery.h"
#include "app/ui/shell/screen.h"
#include "app/ui/shell/selected_things.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pentamesh::ui {

class Shell {
  public:
    Shell(const Presets& presets, Plan plan, Host host);
    ~Shell();
    Shell(const Shell&) = delete;
    Shell& operator=(const Shell&) = delete;

    // One frame. Edits of the plan made in it are evaluated before it returns, and drawn in the next, which
    // `wants_frame` asks for.
    void frame(const FrameInfo& info, Page* page = nullptr);
    [[nodiscard]] bool wants_frame() const {
        return state_.wants_frame || state_.tooltip_pending || dirty_ || hover_moved_ || !queue_.empty();
    }
    // Seconds until something is to be drawn without input; infinity: nothing.
    [[nodiscard]] double idle_s() const;
    // Of what it waited for, something came: a frame shows it. False: an open lesson's file is as it was.
    [[nodiscard]] bool due() const;
    // Of all that is drawn, times the monitor's: the room sees words, figures, tables and map larger.
    [[nodiscard]] float scale() const { return settings_.scale * (presenter_.on ? settings_.present : 1); }
    // A second window is wanted, on a screen that the room does not see; presenter_frame draws one frame of
    // it, between two of the first window's.
    [[nodiscard]] bool wants_second_window() const {
        return presenter_.on && presenter_.apart && lesson_.open;
    }
    void presenter_frame(const FrameInfo& info);
    void second_window_closed(const std::string& reason);  // empty: by the user
    [[nodiscard]] UiState& second_state() { return second_; }

    // Opens a plan file, a config.json, a picture with a plan inside or a lesson, or says what is wrong with
    // it. The plan that was open comes back with undo.
    void open_file(const std::filesystem::path& path);
    void open_text(const std::string& text, const std::string& origin);
    void open_link(const std::string& text);  // link.h
    void open_plan(Plan plan);                // a preset's
    // The plan given at the start is this file's; `saved` false: but not as it stands there.
    void opened_from(const std::filesystem::path& path, bool saved = true);
    void edit_plan(Plan plan, std::string what);              // a step of undo, as an edit made by hand
    void show_preview(Image image, std::string reason = {});  // of the picture dialog
    void wrote(const std::filesystem::path& path);            // says where, and offers to open it
    // A picture could not be written: the dialog is shown again with the reason.
    void picture_failed(const std::filesystem::path& path, std::string reason);
    void review_failed(const std::filesystem::path& path, std::string reason);  // the same
    void handout_failed(const std::filesystem::path& path, std::string reason);
    void results_failed(const std::filesystem::path& path, std::string reason);
    [[nodiscard]] Results results() const;  // which tasks are done
    // The plan of lesson steps that open none.
    [[nodiscard]] const Plan& lesson_base() const { return own_document().plan(); }
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
    // A search, a comparison, a tornado, advice nearby, a review or a fit is being worked out.
    [[nodiscard]] bool works_beside() const;
    [[nodiscard]] const CalibrateSheetState& calibration() const { return calibrate_; }
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
        alone_ = SidePane::view;
    }
    [[nodiscard]] std::string message() const { return toast_; }
    [[nodiscard]] DialogKind dialog() const { return dialog_.kind; }
    [[nodiscard]] const std::string& dialog_error() const { return dialog_.error; }
    [[nodiscard]] const std::string& dialog_text() const { return dialog_.text; }
    // A lesson sets the open plan aside and gives it back when it is left.
    void open_lesson(const std::filesystem::path& file);
    [[nodiscard]] const LessonEntry* lesson_after(const std::filesystem::path& file) const;
    void leave_lesson();
    [[nodiscard]] LessonSession& lesson() {
        state_.redraw_all = true;
        return lesson_;
    }
    [[nodiscard]] const std::vector<LessonEntry>& lessons() const { return lessons_; }
    [[nodiscard]] const std::vector<LessonEntry>& courses() const { return courses_; }
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
    std::optional<TitleEdit> title_edit_;  // while the title is typed
    std::optional<NotesEdit> notes_;       // while the plan's notes are open
    std::optional<PlanEdit> view_edit_;    // what a view changed in this frame
    PlanPanelState panel_;
    InspectorState inspector_;
    BlamePanelState blame_;
    HostNames host_names_;
    std::shared_ptr<const Evaluation> pinned_;  // of A as the frame began: a view may unpin it
    ImportSheetState import_;
    ExportSheetState export_;
    CalibrateSheetState calibrate_;
    std::optional<ViewId> full_;

    LessonSession lesson_;
    std::optional<std::vector<KeptPlan>> pinned_before_;  // what a lesson's pinned plan took the place of
    std::optional<LessonTask> task_;  // of its step, or of the screen that is shown: advice keeps to it
    Veil veil_;                       // of its question, or of the screen that is shown
    std::vector<LessonEntry> lessons_, courses_;
    std::optional<Document> set_aside_;  // the plan that was open before the lesson
    Presenter presenter_;
    UiState second_;  // of the window on that screen
    PresenterPage page_;
    std::size_t page_step_ = 0;
    std::string next_of_;                                        // what the page's next step was made of
    SidePane side_ = SidePane::lesson, alone_ = SidePane::view;  // while a lesson is open; else, on a phone
    bool seek_marked_ = false;                                   // in the plan, once it is drawn
    float width_ = 0;                                            // of the window
    LessonAction lesson_action_;                                 // of this frame, done at its end
    bool welcome_ = false;

    std::string menu_;  // the open menu of the bar
    Rect menu_anchor_;
    MenuState menu_state_;
    int menu_turn_ = 0;  // -1, 1: the menu to the left, to the right is wanted
    bool palette_ = false, keys_ = false;
    ScrollState keys_scroll_;
    bool results_ = false;  // the page of tasks
    ScrollState results_scroll_;
    MenuState palette_state_;
    Dialog dialog_;
    ReviewChoice review_;
    PictureDialog picture_;
    std::unique_ptr<FileDialog> native_dialog_;  // that is open in the place of the window's own
    FileBrowser browser_;
    std::vector<Queued> queue_;            // what is done between this frame and the next
    std::unique_ptr<Recovery> recovery_;   // null: nothing is remembered
    std::vector<std::string> left_names_;  // of the plans in recovery_->left()
    std::string toast_;
    std::filesystem::path last_step_of_;  // the lesson whose last step the toast is about; empty: none
    double toast_until_s_ = 0, now_s_ = 0, evaluate_s_ = 0;
    std::optional<LostSelection> lost_selection_;
    SelectedThings selected_;  // what the selection's numbers mean in the evaluated plan
    std::uint64_t evaluated_ = 0;
    MainFigures figures_;  // of the plan that was evaluated last
    std::string changed_;  // what the last edit made of them, shown until changed_until_s_
    double changed_until_s_ = 0;
    bool replaced_ = false;         // another plan took the open one's place: that is no edit of it
    std::vector<PlanEdit> better_;  // that a search knows
    std::uint64_t better_of_ = 0, better_revision_ = 0;
    WorkedOut<std::optional<SearchResult>, std::uint64_t> near_;  // within two edits; by revision
    double edited_s_ = 0;                                         // when the plan became what it is
    std::uint64_t edited_revision_ = 0;
    BesideWork beside_;
    bool search_seen_ = false, compare_seen_ = false;  // in this frame
    bool hover_moved_ = false;
    bool dirty_ = true, quit_ = false, fullscreen_ = false;
    bool typed_ = false;  // a field or a control had the keyboard when the frame began

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
    void make_layout_commands();
    void make_view_commands();
    void make_timeline_commands();
    void make_look_commands();
    void make_export_commands();
    void make_help_commands();
    void make_link_commands();  // shell_link.cpp
    void draw_menu_bar(Ui& ui, Rect bar);
    void draw_view(Ui& ui, Rect room, Scene& scene, ViewId view);
    void draw_kept_view(Ui& ui, Rect room, Scene& scene, ViewId view);
    [[nodiscard]] bool has_keys(const Ui& ui, Rect room, Pane pane);
    [[nodiscard]] Scene scene_of(Hover& next);
    void draw_layers(Ui& ui, Scene& scene);

    // shell_decide.cpp
    void tend_decide();
    void note_change(bool edited);
    // When the plan has rested long enough that better layouts are looked for; infinity: not as things stand.
    [[nodiscard]] double advice_due_s() const;
    [[nodiscard]] bool rests() const;
    void tend_advice();
    void look_for_better();
    void flip_pinned();
    void compare_with_before();
    void make_decide_commands();

    // shell_calibrate.cpp
    void draw_calibrate(Ui& ui);
    void tend_calibrate();
    void add_runs(const std::filesystem::path& path);
    void use_calibrated(bool save);
    void make_calibrate_commands();

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
    [[nodiscard]] bool one_pane() const;
    std::optional<PlanEdit> draw_one_pane(Ui& ui, Rect room, Scene& scene);
    void draw_pane_switch(Ui& ui, Rect row);
    void draw_side_switch(Ui& ui, Rect row);
    void draw_side_strip(Ui& ui, Rect row);
    void show_side(SidePane pane);
    void seek_marked(Rect panel);
    [[nodiscard]] SidePane side() const;
    void make_side_commands();

    // shell_lessons.cpp
    void make_lesson_commands();
    void make_opening_commands();
    void begin_lesson_frame();
    void apply_lesson_scene();
    void show_lesson_plan(Plan plan);
    void pin_for_lesson(const std::vector<std::string>& sets);
    void unpin_lesson();
    void show_lesson_view();
    [[nodiscard]] bool shows_lesson_view() const;  // or the step has none of its own
    void pass_last_step();
    void take_lesson_picks();
    std::optional<PlanEdit> draw_plan(Ui& ui, Rect room, Scene& scene);
    void draw_lesson(Ui& ui, Rect room, const Scene& scene, float size, bool bare);
    void do_lesson(const LessonAction& action);
    // shell_tasks.cpp
    void begin_step();
    void note_task();
    [[nodiscard]] const LessonProgress* progress_of(const std::string& title) const;
    void keep_answers();
    void solve_task();
    void restart_task();
    [[nodiscard]] bool task_done(const std::string& title) const;
    void draw_results(Ui& ui);
    void open_task(const std::string& title);
    std::optional<PlanEdit> draw_presenter(Ui& ui, Rect room, Scene& scene);
    void draw_presenter_foot(Ui& ui, Rect foot);
    void draw_presenter_cover(Ui& ui);
    void present_keys();
    void set_presenting(bool on);
    void fit_words(Ui& ui, float width, float height, const Scene& scene);
    void make_presenter_commands(), make_present_command();
    void draw_presenter_side(Ui& ui, Rect notes);
    // shell_apart.cpp
    void make_next_step();
    void toggle_apart();
    void make_apart_commands();
    // What Ctrl+plus makes larger: while presenting, the setting that goes with it.
    [[nodiscard]] float& own_scale() { return presenter_.on ? settings_.present : settings_.scale; }
    void draw_welcome(Ui& ui);  // shell_welcome.cpp

    void draw_title(Ui& ui, Rect bar, Rect row);
    void edit_title();
    void draw_palette(Ui& ui);
    void draw_keys(Ui& ui);

    // shell_notes.cpp
    void draw_notes(Ui& ui);
    [[nodiscard]] bool types_notes() const;
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
    [[nodiscard]] bool has_missing_files() const;  // a recent file is gone
    void open_recent(const std::filesystem::path& file);
    void drop_missing_files();
    [[nodiscard]] bool draw_missing_dialog(Ui& ui, Rect buttons);

    // shell_picture.cpp
    [[nodiscard]] std::string pictured_view() const;
    [[nodiscard]] float picture_dialog_height(Ui& ui, float width) const;
    [[nodiscard]] bool draw_picture_dialog(Ui& ui, Rect room, Rect buttons);
    void take_dialog_focus(std::string_view button);
    void draw_picture_preview(Ui& ui, Rect box) const;
    void tend_preview();
    void copy_picture();
    [[nodiscard]] ViewId tabled_view() const;
    void save_table(const std::filesystem::path& path);
    void copy_table(TableFormat format);
    [[nodiscard]] bool draw_written_dialog(Ui& ui, Rect room, Rect buttons);

    // shell_review.cpp
    [[nodiscard]] float review_dialog_height(Ui& ui, float width) const;
    [[nodiscard]] bool draw_review_dialog(Ui& ui, Rect room, Rect buttons);
    [[nodiscard]] std::shared_ptr<const Plan> review_second() const;
    [[nodiscard]] std::string review_note() const;
    [[nodiscard]] std::vector<Plan> reviewed_plans() const;
    void draw_review_second(Ui& ui, Rect row);
    void draw_review_page_preview(Ui& ui, Rect box);
    void tend_review();
    void take_review_second(const std::filesystem::path& path);
    void ask_review();
    void ask_review_file();
    void make_review_commands();

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
    void ask_to_keep();
    void begin_new_model();
    [[nodiscard]] const Document& own_document() const { return set_aside_ ? *set_aside_ : document_; }
    void keep_unsaved();
    void look_for_left_plans();
    void open_left(std::size_t index);
    void forget_left(std::size_t index);
    [[nodiscard]] std::string close_words() const;

    void draw_toast(Ui& ui);
    void toggle_full(ViewId view);
};

}  // namespace pentamesh::ui
