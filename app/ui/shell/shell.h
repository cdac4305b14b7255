// The window's whole: document, evaluation, selection, the panels and views, and one function that draws a
// frame of it. Knows no window system: a real window, a test and a picture all call frame().
#pragma once

#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/panels/glossary_card.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/document.h"
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
    std::filesystem::path config_folder;  // empty: nothing is remembered
    bool first_run = false;               // the welcome may be shown where it was not seen yet
};

// What stands beside the view while a lesson is open in a narrow window: the lesson, the plan, or nothing.
enum class SidePane : std::uint8_t { lesson, plan, view };

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
        return state_.animating || state_.waiting || dirty_ || hover_moved_;
    }
    // Seconds until something is to be drawn without input; infinity: nothing.
    [[nodiscard]] double idle_s() const;

    // Opens a plan file, a config.json, a picture with a plan inside, or shows what is wrong with it.
    void open_file(const std::filesystem::path& path);
    void open_text(const std::string& text, const std::string& origin);
    void open_plan(Plan plan);
    void opened_from(const std::filesystem::path& path);  // the plan given at the start is this file's
    void say(std::string text);                           // a line that passes by
    void closed();  // the window went: what was discarded is not offered again
    // True when the window may close now; else the question is shown.
    bool may_close();

    [[nodiscard]] const Document& document() const { return document_; }
    [[nodiscard]] const Evaluation& evaluation() const { return evaluation_; }
    [[nodiscard]] const Glossary& glossary() const { return glossary_; }
    [[nodiscard]] UiState& ui_state() { return state_; }
    [[nodiscard]] Selection& selection() {
        state_.disturbed = true;
        return selection_;
    }
    [[nodiscard]] const ViewStates& views() const { return views_; }
    // What the window shows, to be shown by another shell: for a picture.
    [[nodiscard]] Screen screen() const;
    void show(const Screen& screen);
    [[nodiscard]] const Settings& settings() const { return settings_; }
    [[nodiscard]] Settings& settings() {
        state_.disturbed = true;
        return settings_;
    }
    [[nodiscard]] const std::vector<Command>& commands() const { return commands_; }
    [[nodiscard]] bool quit() const { return quit_; }
    [[nodiscard]] std::string title() const;
    // The view that fills the window; nullopt: the dashboard.
    void show_full(std::optional<ViewId> view) {
        state_.disturbed = true;
        full_ = view;
    }
    [[nodiscard]] std::string message() const { return toast_; }
    // A lesson sets the open plan aside and gives it back when it is left.
    void open_lesson(const std::filesystem::path& file);
    [[nodiscard]] const LessonEntry* lesson_after(const std::filesystem::path& file) const;
    void leave_lesson();
    [[nodiscard]] LessonSession& lesson() { return lesson_; }
    [[nodiscard]] const std::vector<LessonEntry>& lessons() const { return lessons_; }
    [[nodiscard]] std::optional<ViewId> full_view() const { return full_; }
    [[nodiscard]] bool presenting() const { return presenter_.on; }
    // Writes the autosave where the plan is modified, removes it where not.
    void autosave();
    [[nodiscard]] bool offer_recovery();  // true: one was found and opened

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
    std::optional<PlanEdit> view_edit_;  // what a view changed in this frame
    PlanPanelState panel_;
    InspectorState inspector_;
    std::optional<ViewId> full_;

    LessonSession lesson_;
    std::vector<LessonEntry> lessons_;
    std::optional<Document> set_aside_;  // the plan that was open before the lesson
    struct Presenter {
        bool on = false, blank = false, spotlight = false, side = false;
        double begun_s = 0;
    } presenter_;
    SidePane side_ = SidePane::lesson;
    bool seek_marked_ = false;          // in the plan, once it is drawn
    float width_ = 0;                   // of the window
    LessonAction lesson_action_;        // of this frame, done at its end
    std::filesystem::path open_later_;  // a lesson, once the frame has been drawn
    bool welcome_ = false;

    std::string menu_;  // the open menu of the bar
    Rect menu_anchor_;
    MenuState menu_state_;
    bool palette_ = false, keys_ = false;
    MenuState palette_state_;
    std::string dialog_, dialog_text_, dialog_error_;  // "open", "save", "close", "about"; empty: none
    std::function<void()> after_dialog_;
    std::string toast_;
    double toast_until_s_ = 0;
    double now_s_ = 0, evaluate_s_ = 0;
    std::uint64_t evaluated_ = 0;
    std::uint64_t autosaved_ = 0;
    bool hover_moved_ = false;
    bool dirty_ = true, quit_ = false, fullscreen_ = false, dialog_fresh_ = false;

    void evaluate_now();
    void apply(std::optional<PlanEdit> edit);
    void make_commands();
    void draw_menu_bar(Ui& ui, Rect bar);
    void draw_view(Ui& ui, Rect room, Scene& scene, ViewId view);
    void draw_kept_view(Ui& ui, Rect room, Scene& scene, ViewId view);
    [[nodiscard]] bool has_keys(const Ui& ui, Rect room, Pane pane);
    [[nodiscard]] Scene scene_of(Hover& next);
    void draw_layers(Ui& ui, Scene& scene);

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

    void draw_palette(Ui& ui);
    void draw_keys(Ui& ui);
    void draw_dialog(Ui& ui);
    void draw_toast(Ui& ui);
    void toggle_full(ViewId view);
    void copy_table(TableFormat format);
    void ask(std::string dialog, std::string text, std::function<void()> after);
    void save(const std::filesystem::path& path);
    [[nodiscard]] std::string plan_text() const;
    [[nodiscard]] std::filesystem::path autosave_file() const;
};

}  // namespace pentamesh::ui
