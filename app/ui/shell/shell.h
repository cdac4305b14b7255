// The window as a whole: it draws a frame out of its parts and evaluates the plan. It knows no window system:
// a real window, a test and a picture all call frame().
#pragma once

#include "app/ui/lesson/lesson_session.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/decider.h"
#include "app/ui/shell/dialogs.h"
#include "app/ui/shell/files.h"
#include "app/ui/shell/lesson_desk.h"
#include "app/ui/shell/menu_bar.h"
#include "app/ui/shell/sheets.h"
#include "app/ui/shell/window.h"
#include "core/teach/loaf.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// One step of a small model: its samples cut, then each of its layers too. Both have it whole as well.
struct OpeningLoaves {
    Loaf samples, layers;
};

class Shell {
  public:
    Shell(const Presets& presets, Plan plan, Host host);
    Shell(const Shell&) = delete;
    Shell& operator=(const Shell&) = delete;

    // Draws one frame. Edits of the plan made in it are evaluated before it returns, and drawn in the next
    // frame.
    void frame(const FrameInfo& info, Page* page = nullptr);
    [[nodiscard]] bool wants_frame() const;
    // Returns the seconds until something must be drawn without input; infinity if nothing must.
    [[nodiscard]] double idle_s() const;
    // Returns true if a frame must be drawn for something that the window waited for.
    [[nodiscard]] bool due() const;
    // Returns the zoom of the whole window, to be multiplied by the monitor's scale.
    [[nodiscard]] float scale() const;
    [[nodiscard]] bool wants_second_window() const { return desk_.wants_second_window(); }
    void presenter_frame(const FrameInfo& info) { desk_.presenter_frame(info); }
    void second_window_closed(const std::string& reason) { desk_.second_window_closed(reason); }
    [[nodiscard]] UiState& second_state() { return desk_.second_state(); }

    void open_file(const std::filesystem::path& path) { files_.open(path); }
    void open_text(const std::string& text, const std::string& origin) { files_.open_text(text, origin); }
    void open_link(const std::string& text) { files_.open_link(text); }
    void open_plan(Plan plan);  // of a preset
    void opened_from(const std::filesystem::path& path, bool saved = true) {
        files_.opened_from(path, saved);
    }
    void edit_plan(Plan plan, std::string what) { window_.edit_plan(std::move(plan), std::move(what)); }
    void show_preview(Image image, std::string reason = {}) {
        dialogs_.show_preview(std::move(image), std::move(reason));
    }
    void wrote(const std::filesystem::path& path) { dialogs_.wrote(path); }
    // A file could not be written: its dialog is shown again with the reason.
    void write_failed(DialogKind kind, const std::filesystem::path& path, std::string reason) {
        dialogs_.ask(kind, path.string(), nullptr, std::move(reason));
    }
    // Runs a command when the frame that is being drawn is done.
    void run(const Command& command) { menus_.run(command); }
    void say(std::string text) { window_.say(std::move(text)); }
    void autosave() { window_.end_peek(), files_.autosave(); }
    void closed() { window_.end_peek(), files_.closed(); }
    void reopen() { files_.reopen(); }  // what was open when a window was closed last
    [[nodiscard]] bool may_close() { return window_.end_peek(), files_.may_close(); }
    bool offer_recovery();

    [[nodiscard]] const Document& document() const { return window_.document; }
    [[nodiscard]] const Evaluation& evaluation() const { return window_.evaluation; }
    [[nodiscard]] const Glossary& glossary() const { return window_.glossary; }
    [[nodiscard]] UiState& ui_state() { return window_.state; }
    [[nodiscard]] const Selection& shown_selection() const { return window_.selection; }
    [[nodiscard]] Selection& selection() { return redrawn(window_.selection); }
    [[nodiscard]] const ViewStates& views() const { return window_.views; }
    [[nodiscard]] bool works_beside() const { return decider_.works() || dialogs_.works() || runs_.works(); }
    [[nodiscard]] Screen screen() const { return window_.screen(); }
    void show(const Screen& screen) { window_.show(screen); }
    [[nodiscard]] const Settings& settings() const { return window_.settings; }
    [[nodiscard]] Settings& settings() { return redrawn(window_.settings); }
    [[nodiscard]] const std::vector<Command>& commands() const { return commands_; }
    [[nodiscard]] bool quit() const { return window_.quit; }
    [[nodiscard]] std::string title() const;
    void show_full(std::optional<ViewId> view) { window_.show_full(view); }
    // Shows that view, or the page that has a name of its own, in the whole window, and a page of it where
    // one is named. Returns false, and shows nothing else, where there is no such view or page.
    bool show_named(std::string_view view, std::string_view page);
    // From now on one view fills the window, and nothing else is drawn: no panel, menu, dialog or line of
    // figures. Keys undo and redo, and answer the view (embed.h).
    void show_bare();
    [[nodiscard]] bool bare() const { return bare_; }
    [[nodiscard]] std::optional<ViewId> full_view() const { return window_.full; }
    [[nodiscard]] std::string message() const { return window_.toast; }
    [[nodiscard]] DialogKind dialog() const { return dialogs_.open().kind; }
    [[nodiscard]] const std::string& dialog_error() const { return dialogs_.open().error; }
    [[nodiscard]] const std::string& dialog_text() const { return dialogs_.open().text; }
    void open_lesson(const std::filesystem::path& file) { desk_.open(file); }
    void leave_lesson() { desk_.leave(); }
    [[nodiscard]] LessonSession& lesson() { return redrawn(desk_.lesson()); }
    // Returns the plan of lesson steps that open none.
    [[nodiscard]] const Plan& lesson_base() const { return window_.own_document().plan(); }
    [[nodiscard]] Results results() const { return desk_.results(); }
    [[nodiscard]] const std::vector<LessonEntry>& lessons() const { return desk_.lessons(); }
    [[nodiscard]] const std::vector<LessonEntry>& courses() const { return desk_.courses(); }
    [[nodiscard]] bool presenting() const { return desk_.presenter().on; }

  private:
    Window window_;
    Settings saved_settings_;
    GlossaryState glossary_state_;
    AxisCardState axis_card_;
    std::vector<Command> commands_;
    LessonDesk desk_;
    Sheets sheets_;
    RunDesk runs_;
    Files files_;
    Dialogs dialogs_;
    MenuBar menus_;
    Decider decider_;
    std::uint64_t curve_frames_ = 0;  // in which a line of a lesson was drawn
    PlanPanelState panel_;
    InspectorState inspector_;
    std::shared_ptr<const Evaluation> pinned_;  // of A as the frame began: a view may unpin it
    Pane keys_pane_ = Pane::top;                // whose view has the keyboard on the dashboard
    bool welcome_ = false, hover_moved_ = false, bare_ = false;
    // Somebody looks around: hints that were not seen yet are shown, while this stands.
    struct Looking {
        std::uint64_t file = 0;
        int edits = 0;
        std::optional<ViewId> full;
        std::array<ViewId, kPaneCount> in_pane{};
    };
    std::optional<Looking> looking_;
    Kept<OpeningLoaves> opening_;      // of the welcome
    ViewId bare_view_ = ViewId::mesh;  // the last one that was shown so

    template <typename T>
    T& redrawn(T& of) {
        window_.state.redraw_all = true;
        return of;
    }
    void connect();
    void note_change();
    void take_peek(const FrameInfo& info);
    [[nodiscard]] bool may_advise() const;
    void run_queue();
    [[nodiscard]] Scene scene_of(Hover& next);
    void put_beside_scale(const KeptPlan* a);
    void draw_frame(const FrameInfo& info, Page* page);
    [[nodiscard]] Effects draw_content(Ui& ui, Scene& scene, Rect room);
    [[nodiscard]] Effects draw_sheets(Ui& ui, Scene& scene);
    [[nodiscard]] Effects draw_layers(Ui& ui, Scene& scene);
    // Does what clicks of this frame ask for.
    void take(Effects effects);
    void draw_hint(Ui& ui, const Scene& scene);
    void draw_toast(Ui& ui);
    void take_keys(bool view_took_escape);
    void take_undo_keys();
    void take_escape();
    void keep_settings(const FrameInfo& info);

    // shell.cpp
    [[nodiscard]] Effects draw_view(Ui& ui, Rect room, Scene& scene, ViewId view);
    void ask_for_plan(Ui& ui, Rect room, ViewId view);
    [[nodiscard]] Effects draw_kept_view(Ui& ui, Rect room, Scene& scene, ViewId view);
    [[nodiscard]] bool has_keys(const Ui& ui, Rect room, Pane pane);
    [[nodiscard]] Effects draw_middle(Ui& ui, Rect middle, Scene& scene);
    [[nodiscard]] std::optional<Pane> left_out(Rect middle) const;
    // Returns the key of what is kept of a view: the plan and what the mouse is over elsewhere.
    [[nodiscard]] std::uint64_t shown_key(ViewId view) const;
    [[nodiscard]] Effects draw_panels(Ui& ui, Rect room, Scene& scene);
    [[nodiscard]] Effects draw_presenter(Ui& ui, Rect room, Scene& scene);
    [[nodiscard]] Effects draw_bare(Ui& ui, Rect room, Scene& scene);
    [[nodiscard]] Effects draw_plan(Ui& ui, Rect room, Scene& scene);
    [[nodiscard]] Effects draw_side(Ui& ui, Rect right, Scene& scene);
    [[nodiscard]] bool one_pane() const;
    [[nodiscard]] bool& panels_shown();                 // as the window is now
    [[nodiscard]] bool small_room(const Ui& ui) const;  // one picture by tabs, the axes next to it
    [[nodiscard]] Effects draw_one_pane(Ui& ui, Rect room, Scene& scene);
    void draw_pane_switch(Ui& ui, Rect row);
    void draw_side_switch(Ui& ui, Rect row);
    void draw_side_strip(Ui& ui, Rect row);
    void show_side(SidePane pane) { window_.show_side(pane, desk_.lesson().open); }
    void seek_marked(Rect panel);
    [[nodiscard]] SidePane side() const;

    void draw_welcome(Ui& ui);  // shell.cpp

    // commands.cpp
    void add(Command command) { commands_.push_back(std::move(command)); }
    void make_commands();
    void make_file_commands();
    void make_recent_commands();
    void make_edit_commands();
    void make_layout_commands();
    void make_export_commands();
    void make_help_commands();
    void make_view_commands();
    void make_page_commands();
    void make_mesh_commands();
    void show_mesh();  // brings the cells of the mesh into the window
    void make_timeline_commands();
    void make_look_commands();
    void make_side_commands();
    [[nodiscard]] float& own_scale();
    // The view whose table is exported, and the table as it would be shown as data.
    [[nodiscard]] ViewId tabled_view() const;
    [[nodiscard]] Table shown_table();
    void save_table(const std::filesystem::path& path);
    void copy_table(TableFormat format);
};

}  // namespace pentamesh::ui
