// The open plan, its file and its history. Undo is a stack of plans; each knows the file that it belongs to,
// so that opening another plan is a step of undo like any edit.
#pragma once

#include "app/ui/kit/theme.h"
#include "app/ui/views/table.h"
#include "core/base/files.h"
#include "core/plan/plan.h"
#include "core/teach/hand_in.h"

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pentamesh::ui {

// A plan that takes the open one's place.
struct OpenedPlan {
    Plan plan;
    std::filesystem::path path{};  // the plan file that it is; empty: it has none until it is saved
    bool kept = true;              // it can be had again from where it came; false: it counts as modified
};

// A plan that would be lost if the window went away now.
struct UnsavedPlan {
    std::uint64_t file = 0;  // stays the same while the plan is edited
    std::filesystem::path path;
    std::shared_ptr<const Plan> plan;
};

class Document {
  public:
    explicit Document(Plan plan);

    [[nodiscard]] const Plan& plan() const { return *now_.plan; }
    [[nodiscard]] const std::filesystem::path& path() const { return now_.file->path; }  // empty: never saved
    [[nodiscard]] bool modified() const { return now_.modified(); }
    // Tells opened plans apart: an edit keeps it, opening another plan and undoing that do not.
    [[nodiscard]] std::uint64_t file() const { return now_.file->id; }
    // Grows with every change of the plan. Code that keeps something made from the plan compares this.
    [[nodiscard]] std::uint64_t revision() const { return revision_; }

    // Makes an edit. Edits in a row with the same `merge_key`, if not empty, are one step of undo (a drag).
    void edit(Plan plan, std::string what, std::string merge_key = {});
    // Returns true if an edit with that key belongs to the last step.
    [[nodiscard]] bool merges(std::string_view merge_key) const;
    // Opens another plan, with its own path and saved state. Undo brings the old one back with its own.
    void replace(OpenedPlan opened, std::string what);
    // Does the same without a step of undo: only for a plan without edits.
    void replace_unmodified(OpenedPlan opened);
    // Opens the nearest state of that file (UnsavedPlan) again, as a step of undo. Returns false if the file
    // has no state.
    bool bring_back(std::uint64_t file, std::string what);
    // Keeps a plan that was looked at and changed, without a question: redo shows it, and undo then shows
    // this one.
    void looked_at(Plan plan, std::string what);
    bool undo();
    bool redo();
    [[nodiscard]] bool can_undo() const { return !undo_.empty(); }
    [[nodiscard]] bool can_redo() const { return !redo_.empty(); }
    // Null: nothing can be undone.
    [[nodiscard]] const Plan* before_last_edit() const {
        return undo_.empty() ? nullptr : undo_.back().state.plan.get();
    }
    [[nodiscard]] std::string undo_text() const { return undo_.empty() ? "" : undo_.back().what; }
    // Replaces each state of the history by what `change` makes of it: what a plan says means something else
    // from now on. What was saved stays what the file holds, so that a state that is changed counts as
    // modified.
    void rewrite(const std::function<Plan(const Plan&)>& change);
    // A drag has ended: the next edit with the same key is a step of its own.
    void end_merge() { merge_key_.clear(); }

    // A copy that was set aside comes back: its revision gets larger than all that were seen meanwhile.
    void continue_after(std::uint64_t revision) {
        revision_ = (revision_ > revision ? revision_ : revision) + 1;
    }

    // Returns true if another program wrote the plan's file since it was read or saved here.
    [[nodiscard]] bool changed_elsewhere() const;
    // Notes that this file holds the plan as it stands.
    void belongs_to(const std::filesystem::path& path);
    // Writes the canonical text with the scene to a new file, then renames it. Throws an error of kind io
    // and leaves the old file as it was. A scene is no change of the plan: modified() does not look at it.
    void save_as(const std::filesystem::path& path, const SavedScene& scene);

    // Returns the open plan, if modified, and each plan that was replaced while modified; the newest first.
    [[nodiscard]] std::vector<UnsavedPlan> unsaved() const;
    // Returns the bytes that the history keeps.
    [[nodiscard]] std::size_t history_bytes() const;

  private:
    // Tells one writing of a file from the next. A file that is not there has none.
    struct Stamp {
        std::filesystem::file_time_type time{};
        std::uintmax_t bytes = 0;
        bool operator==(const Stamp&) const = default;
    };
    static Stamp stamp_of(const std::filesystem::path& path);
    // Describes one plan file. All states of the plan that belong to it share this.
    struct File {
        std::uint64_t id = 0;
        std::filesystem::path path;
        std::shared_ptr<const Plan> saved;  // as it is kept elsewhere; null: nowhere
        Stamp stamp{};                      // when it was read or saved here
    };
    struct State {
        std::shared_ptr<const Plan> plan;
        std::shared_ptr<File> file;
        [[nodiscard]] bool modified() const;
    };
    struct Step {
        State state;
        std::string what;
    };
    std::uint64_t files_ = 0;  // made so far; before now_, which is the first
    State now_;
    std::vector<Step> undo_, redo_;
    std::string merge_key_;
    std::uint64_t revision_ = 1;

    [[nodiscard]] State state_of(OpenedPlan opened);
    void push_undo(std::string what);
    // Takes the last step of one history and puts what it replaces on the other. False: `from` has no step.
    bool exchange(std::vector<Step>& from, std::vector<Step>& to);
};

// Plans that are not saved, kept in files against a crash, and those that windows left that are gone. Every
// window has its own files and a lock that says that it lives; the lock ends with the process, however that
// ends.

// Returns "3 minutes ago", "less than a minute ago".
[[nodiscard]] std::string age_text(std::filesystem::file_time_type time);

// A plan that a window left.
struct LeftPlan {
    std::filesystem::path file;
    std::string window;  // whose it was
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type written{};
};

class Recovery {
  public:
    using Write = std::function<std::string(const Plan&)>;
    // Nothing is made in `folder` before there is something to keep. `write` makes a plan's text, on a
    // thread.
    explicit Recovery(std::filesystem::path folder, Write write = {});
    // Leaves the kept files in the folder, as a crash does.
    ~Recovery();
    Recovery(const Recovery&) = delete;
    Recovery& operator=(const Recovery&) = delete;

    // From now on these are kept, and nothing else of this window's. Returns at once: a thread writes them,
    // at most every half second. Where there are no threads they are written now.
    void keep(const std::vector<UnsavedPlan>& plans);
    // Waits until what was given last is on the disk.
    void flush();
    // Returns why the last writing failed, once; "": it did not.
    [[nodiscard]] std::string take_error();
    // Removes all that is kept: the window ends as it should.
    void finish();

    // Looks for plans of windows that are gone, and claims them, so that no other window offers them too.
    void look();
    [[nodiscard]] const std::vector<LeftPlan>& left() const { return left_; }
    // Deletes one of them.
    void forget(std::size_t index);

  private:
    using Kept = std::map<std::uint64_t, std::shared_ptr<const Plan>>;  // by file

    std::filesystem::path folder_;
    Write write_text_;
    std::string window_;            // this one's name
    std::optional<FileLock> lock_;  // this one's; taken with the first writing
    std::map<std::string, FileLock> claimed_;
    std::vector<LeftPlan> left_;

    std::mutex mutex_;
    std::condition_variable changed_;
    Kept wanted_;   // guarded by mutex_, as are the four below
    Kept written_;  // what lies in the folder
    std::string error_;
    bool hurry_ = false, stop_ = false;
    std::thread writer_;  // started with the first plan to keep

    [[nodiscard]] std::filesystem::path file_of(const std::string& window, std::uint64_t file) const;
    [[nodiscard]] std::filesystem::path lock_of(const std::string& window) const;
    void write_loop();
    // Returns why it failed; "": it did not.
    [[nodiscard]] std::string written_down(const Kept& wanted, Kept& written);
    void write(const Kept& wanted, Kept& written);
    void take_lock();
    void stop();
    void claim(const std::string& window);
};

// A plan keeps what the window shows (/scene), so that a file or a picture opens as it was left.

// "memory activations, stage 2, rank 5": what the inspector speaks of stands first.
[[nodiscard]] std::string selection_words(const Selection& selection);
// Words that are not known, and numbers that the plan has no such thing for, select nothing.
[[nodiscard]] Selection selection_named(std::string_view words, const Evaluation& evaluation);

// `full`: the view that fills the window; nullopt: the dashboard. A scene's page is, of a view, which of its
// own pages it shows; of the dashboard, which views stand in its panes.
[[nodiscard]] SavedScene scene_as_saved(const ViewStates& views, const Selection& selection,
                                        std::optional<ViewId> full);
// Returns the selection of a plan that is opened and keeps no scene: nothing, over the expert mesh if the
// step waits most for one of its axes.
[[nodiscard]] Selection selection_at_first(const Evaluation& evaluation);
// Shows what the scene states and leaves the rest as it is. Selects only what the evaluation has.
void show_saved_scene(const SavedScene& scene, const Evaluation& evaluation, ViewStates& views,
                      Selection& selection, std::optional<ViewId>& full);

// The window keeps its settings between runs, in the platform's config folder. A broken file is set aside and
// is never fatal.

inline constexpr std::size_t kRecentListed = 6;  // in the File menu
inline constexpr float kPresentScale = 1.6f;     // a lecture room's last row

struct Settings {
    ThemeId theme = ThemeId::dark;
    float scale = 1;                         // times the monitor's
    float present = kPresentScale;           // times that, while presenting
    float left = 0, right = 0;               // widths of the panels; 0: they follow the window's
    bool panels = true;                      // they stand next to the dashboard
    bool panels_in_full = false;             // and next to a view in the whole window
    float memory = 0.24f, timeline = 0.25f;  // shares of the middle's height
    std::vector<std::string> recent;         // absolute paths, each once, newest first
    std::vector<std::string> tasks_done;     // titles, each once
    std::vector<std::string> tasks_helped;   // those of them that hints or the solution helped with
    std::vector<LessonProgress> lessons;     // that were begun, each title once
    std::string lesson_software;             // lessons show it; empty: nobody chose one
    std::string learner;                     // whose results the page of tasks shows
    std::string flags = "software";          // a framework's name, "software": the plan's own, "none"
    std::string link_base;                   // what links begin with; empty: the page's own address
    bool welcomed = false;                   // the welcome was seen
    int hints = 0;                           // that were seen, of those after the welcome
    bool zoom_flown = false;                 // the zoom flew by itself
    bool reduced_motion = false;             // nothing glides
    bool operator==(const Settings&) const = default;
};

// Returns defaults where the file is missing; `warning` says what was wrong with one that could not be read.
[[nodiscard]] Settings load_settings(const std::filesystem::path& folder, std::string& warning);
// Throws an error of kind io.
void save_settings(const std::filesystem::path& folder, const Settings& settings);
void add_recent(Settings& settings, const std::filesystem::path& path);

}  // namespace pentamesh::ui
