// The state that the parts of the window share: the open plan, its evaluation, and what is on the screen.
#pragma once

#include "app/ui/scene/host_names.h"
#include "app/ui/scene/scene.h"
#include "app/ui/shell/document.h"
#include "app/ui/shell/host.h"
#include "app/ui/shell/selected_things.h"
#include "app/ui/shell/settings.h"
#include "app/ui/views/table.h"
#include "core/teach/hidden_answer.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// The dialogs of the window.
enum class DialogKind : std::uint8_t {
    none,
    open,
    save,
    picture,       // its size, theme and file
    picture_file,  // the file to write
    table,
    review,         // its pages and paper
    review_file,    // the file to write
    review_second,  // the plan to compare with
    written,        // says where something was written
    handout,        // of the open lesson
    results,        // a picture of the tasks that are done
    runs,           // measured runs, to calibrate from
    run,            // files of a real run of the plan
    settings,
    close,
    recover,
    about,
    missing,
    preset,
    presets,
    gallery  // the plans that ship
};
inline constexpr int kDialogKinds = static_cast<int>(DialogKind::gallery) + 1;

// While a lesson is open in a narrow window, this is next to the view: the lesson, the plan, or nothing.
enum class SidePane : std::uint8_t { lesson, plan, view };

// A screen holds all that the window shows, except the plan.
struct Screen {
    ViewStates views;
    Selection selection;
    Settings settings;
    std::optional<ViewId> full;
    std::uint64_t revision = 0;        // of the plan that `views` keeps things of
    HiddenAnswer hidden_answer{};      // of a question that is open
    std::optional<LessonTask> task{};  // that is open
    std::shared_ptr<const RealRun> run{};
};

// A task for the time between this frame and the next. `what` names it in an error message.
struct Queued {
    std::string what;
    std::function<void()> run;
};

// Says how an edit was made. Undo and redo are no edits.
struct PlanEdited {
    std::string what{};                   // "tp 4"; empty: there was none
    std::optional<Axis> touched{};        // the axis whose factor was pressed
    bool drags = false, goes_on = false;  // it is part of a drag; not its first
};

struct Window {
    Window(const Presets& shipped, Plan plan, Host asked);

    const Presets& presets;
    Glossary glossary;
    Document document;
    std::optional<Document> set_aside;  // the user's own plan while a lesson shows another
    Evaluation evaluation;
    std::uint64_t evaluated = 0;  // revision of the evaluated plan
    double evaluate_s = 0;
    bool replaced = false;  // another plan took the place of the open one; this is not an edit of it
    PlanEdited edited;      // the edit that is to be evaluated
    bool peeks = false;     // the plan before the last edit is shown for a moment

    Host host;
    Settings settings;
    UiState state;
    Selection selection;
    SelectedThings selected;  // the meaning of the selection's numbers in the evaluated plan
    Hover hover;
    HostNames host_names;
    std::shared_ptr<const RealRun> real_run;  // of the plan; null: none

    ViewStates views;
    std::optional<ViewId> full;                                // the view that fills the window
    SidePane side = SidePane::lesson, alone = SidePane::view;  // with a lesson; without one, on a phone
    bool seek_marked = false;                                  // in the plan, once it is drawn
    HiddenAnswer hidden_answer;                                // of the open question
    std::optional<LessonTask> task;                            // of the open step: advice keeps to it
    float width = 0;

    double now_s = 0;
    bool dirty = true;  // a frame must be drawn
    bool quit = false, fullscreen = false;
    bool typed = false;  // a control had the keyboard when the frame began

    std::string toast;  // a line at the bottom that passes by
    double toast_until_s = 0;
    std::filesystem::path last_step_of;  // the lesson whose last step the toast is about; empty: none

    // The shell connects these with its parts.
    std::function<void(DialogKind, std::string text, std::function<void()> after, std::string error)>
        ask_dialog;
    std::function<void()> close_dialog;
    std::function<void(OpenedPlan, const std::string& named)> replace_plan;
    std::function<void(std::string filter)> search_commands;
    std::function<void(const std::filesystem::path& log)> import_settings;
    std::function<void(const std::filesystem::path& file)> open_run;

    // Returns what a view is handed; the shell adds what only a whole window has.
    [[nodiscard]] Scene scene(Hover& next);
    // Returns what the window shows, so that another one can show it: for a picture.
    [[nodiscard]] Screen screen() const;
    void show(const Screen& screen);

    void evaluate();
    // Takes an edit of the plan as a step of undo.
    void apply(std::optional<PlanEdit> edit);
    void edit_plan(Plan plan, std::string what);
    // Shows the plan before the last edit until end_peek. Meanwhile nothing edits it.
    void peek();
    void end_peek();
    // Opens a dialog. `error` says why it is asked again.
    void ask(DialogKind kind, std::string text = {}, std::function<void()> after = nullptr,
             std::string error = {}) const {
        ask_dialog(kind, std::move(text), std::move(after), std::move(error));
    }
    void say(std::string text);
    // Runs `run` when the frame that is being drawn is done.
    void later(std::string what, std::function<void()> run);
    void run_queue();
    [[nodiscard]] bool has_queue() const { return !queue_.empty(); }
    // Returns false if `act` threw. The error is said, after `what` was being done.
    bool guarded(std::string_view what, const std::function<void()>& act);
    // Does the same while a frame is drawn: the reason stands in `room`, and parts left open in `ui` are
    // closed.
    bool draw_guarded(Ui& ui, std::string_view what, Rect room, const std::function<void()>& draw);

    // The view fills the window; nullopt: the dashboard.
    void show_full(std::optional<ViewId> view);
    void toggle_full(ViewId view);
    void show_side(SidePane pane, bool in_lesson);
    // The user's own plan, also while a lesson shows another.
    [[nodiscard]] const Document& own_document() const { return set_aside ? *set_aside : document; }
    // Open plans keep their meaning when a preset of the user's own was changed or removed.
    void own_presets_changed();
    [[nodiscard]] std::filesystem::path first_folder() const;
    // The path for a new file of that name (empty: the plan's own name), next to the file that was used last.
    [[nodiscard]] std::string proposed_file(std::string_view name = {}) const;

  private:
    std::vector<Queued> queue_;
    Selection before_peek_;
    std::optional<LostSelection> lost_selection_;
};

}  // namespace pentamesh::ui
