// The window cannot do these things by itself: the program that runs it does them.
#pragma once

#include "app/ui/review/review.h"
#include "app/ui/scene/scene.h"
#include "app/ui/shell/dialog_picture.h"
#include "app/ui/shell/document.h"
#include "app/ui/views/table.h"
#include "core/teach/lesson.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

class Dialogs;
class Files;
class MenuBar;
class RunDesk;
class Sheets;

// A file that the user is asked for. The program that runs the window may have the desktop's dialog for it.
struct FileQuestion {
    bool saves = false;
    std::string title;
    std::filesystem::path start;       // a folder, or the file that is proposed
    std::string kind;                  // of file: "Plans and pictures"
    std::vector<std::string> endings;  // ".json"
};

struct FileAnswer {
    enum class Kind : std::uint8_t { picked, cancelled, failed };
    Kind kind = Kind::cancelled;
    std::filesystem::path path{};  // that was picked
    std::string reason{};          // of a failure
};

// A dialog that is open next to the window. Its destructor closes it.
class FileDialog {
  public:
    FileDialog() = default;
    virtual ~FileDialog() = default;
    FileDialog(const FileDialog&) = delete;
    FileDialog& operator=(const FileDialog&) = delete;
    // Returns at once; nullopt: it is still open. It is not called again after an answer.
    [[nodiscard]] virtual std::optional<FileAnswer> poll() = 0;
};

// The shell asks this of the program that runs it; a picture and a test answer with nothing.
struct Host {
    std::function<std::string()> clipboard;
    std::function<void(const std::string&)> set_clipboard;
    std::function<void(bool)> set_fullscreen;
    // Returns true if there is a screen other than the window's. Empty: there is no other.
    std::function<bool()> has_second_screen;
    std::function<double()> now_s;  // for measuring evaluate; empty: not measured
    // Draws a picture once the frame is done: to a file, to the clipboard, or as a preview (show_preview).
    // Empty: no pictures.
    std::function<void(const PictureOrder&)> save_picture;
    // Writes a design review of the plans (the open one first): PDF, or HTML by the file's ending. Empty: no
    // reviews.
    std::function<void(const ReviewRequest&, const std::vector<Plan>&, const std::filesystem::path&)>
        save_review;
    // Writes the open lesson as a handout: PDF or HTML by the file's ending. Empty: no handouts.
    std::function<void(const std::filesystem::path& file)> save_handout;
    // Writes a picture of which tasks are done, by the file's ending. Empty: none.
    std::function<void(const std::filesystem::path& file)> save_results;
    // Opens a dialog of the desktop's. Empty, or a null answer: the window's own is shown.
    std::function<std::unique_ptr<FileDialog>(const FileQuestion&)> file_dialog;
    // Opens a file with what the desktop has for it; "", or why not. Empty: nothing can be opened.
    std::function<std::string(const std::filesystem::path&)> open_outside;
    std::string page_address;              // of the page that the window is in; empty: it is in none
    bool in_page = false;                  // nothing is quit there: a page is closed
    std::filesystem::path config_folder;   // empty: nothing is remembered
    std::filesystem::path lessons_folder;  // of one's own lessons; empty: in the folder of own presets
    std::filesystem::path home;            // what "~" stands for; empty: "~" is a name like any other
    // Files outside of it are neither looked at nor written; empty: all can be. It is for tests that use the
    // window at random.
    std::filesystem::path fence;
    bool searches = false;       // looks for better layouts in the background, a little after each edit
    bool flies = false;          // the zoom may fly by itself, once
    bool first_run = false;      // the welcome may be shown where it was not seen yet
    bool plan_chosen = true;     // false: the plan that the window begins with is nobody's choice
    std::function<void()> wake;  // from any thread: a frame is wanted; empty: the window asks by itself
};

// Notes what the numbers of a selection mean, and finds those that mean the same in another plan. A call, a
// block or a tensor is selected by its place in a list; an edit may make another list.

// A plan became impossible: what was selected before, and what of it that plan could keep.
struct LostSelection {
    Selection whole, left;
};

class SelectedThings {
  public:
    // Looks up what is selected in the plan that is shown; does nothing while that stands.
    void note(const Plan& plan, const Evaluation& evaluation, const Selection& selection);
    // Sets the numbers of `selection` to those of the same things in another plan, -1 where it has none. A
    // number that was not noted stays if the new list is that long.
    void find(const Plan& plan, const Evaluation& evaluation, Selection& selection) const;

  private:
    struct Call {
        GroupKind group = GroupKind::tp;
        Phase phase = Phase::forward;
        bool recomputed = false;
        What what = What::none;
        bool operator==(const Call&) const = default;
    };
    struct Block {
        std::ptrdiff_t device = 0;
        Op op;
    };
    static Call call_of(const Operation& o);

    int operation_ = -1, tensor_ = -1, activation_ = -1;
    std::ptrdiff_t op_ = -1;
    Call call_;
    Block block_;
    std::string tensor_name_;
};

// Small enough to be seen at once, and no press of a factor makes it impossible.
inline constexpr std::string_view kFirstPlan = "mesh-8";

// The state that the parts of the window share: the open plan, its evaluation, and what is on the screen.

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
    run,            // files of a real run of the plan
    settings,
    close,
    recover,
    about,
    missing,
    preset,
    presets,
    gallery,  // the plans that ship
    run_by,   // what runs a plan whose file does not say it
};
inline constexpr int kDialogKinds = static_cast<int>(DialogKind::run_by) + 1;

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
    CommonAxes axes{};
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
    int edits = 0;          // that were made since the start
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
    ViewId alone_view = ViewId::mesh;                          // the one that a small room shows
    SidePane side = SidePane::lesson, alone = SidePane::view;  // with a lesson; without one, on a phone
    bool seek_marked = false;                                  // in the plan, once it is drawn
    HiddenAnswer hidden_answer;                                // of the open question
    std::optional<LessonTask> task;                            // of the open step: advice keeps to it
    CommonAxes axes;                                           // in a picture of a pair
    float width = 0;

    double now_s = 0;
    bool dirty = true;  // a frame must be drawn
    std::optional<GroupKind>
        shown_by_edit{};  // by itself, where all groups were shown before: undo shows all again
    bool quit = false, fullscreen = false;
    bool typed = false;  // a control had the keyboard when the frame began

    std::string toast;  // a line at the bottom that passes by
    double toast_until_s = 0;

    // The parts of the whole window that others turn to by the functions below; in a picture of one view
    // there are none, and the functions do nothing.
    struct Parts {
        Dialogs* dialogs = nullptr;
        Files* files = nullptr;
        Sheets* sheets = nullptr;
        RunDesk* runs = nullptr;
        MenuBar* menus = nullptr;
    } parts;

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
    void undo();
    void peek();
    void end_peek();
    // Opens a dialog. `after` runs once it is done; `error` says why it is asked again.
    void ask(DialogKind kind, std::string text = {}, std::function<void()> after = nullptr,
             std::string error = {}) const;
    void close_dialog() const;
    void replace_plan(OpenedPlan opened, const std::string& named) const;
    // Opens the list of commands, those that the words find.
    void search_commands(std::string words) const;
    // Opens the sheet that reads settings, with those that a log says.
    void import_settings(const std::filesystem::path& log) const;
    void open_run(const std::filesystem::path& file) const;
    void say(std::string text, double for_s = 6);
    // Says that there is no plan to do that with, and returns true, where a run's own is not known.
    bool lacks_plan(std::string_view to_do);
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
    // Returns false for the plan that a window without one begins with, as long as nobody edited it.
    [[nodiscard]] bool has_chosen_plan() const;
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
