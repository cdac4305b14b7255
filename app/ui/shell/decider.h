// Deciding: the search and the advice that run in the background, the pinned plan, and what the last edit
// changed.
#pragma once

#include "app/ui/kit/job.h"
#include "app/ui/scene/scene.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/window.h"
#include "core/decide/compare.h"
#include "core/decide/decision.h"
#include "core/decide/mends.h"
#include "core/decide/scale.h"
#include "core/decide/search.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

class SearchRunner;

class Decider {
  public:
    explicit Decider(Window& window);
    ~Decider();
    Decider(const Decider&) = delete;
    Decider& operator=(const Decider&) = delete;

    // Notes that this frame shows the view: some views want background work.
    void saw(ViewId view);
    // Starts, stops and collects background work after a frame. `may_advise` is true while nothing else is
    // asked of the user.
    void update(bool may_advise);
    // Compares the plan with that before the last edit. Returns true if another one was evaluated.
    bool note_change(const PlanEdited& edited);
    // Forgets the last change once its time is over. Returns true if it did.
    bool forget_change();
    [[nodiscard]] const std::string& changed() const { return changed_; }
    // Returns what the last edit changed; null: there was none, or its time is over.
    [[nodiscard]] const PlanChange* change() const { return change_ ? &*change_ : nullptr; }
    // Returns the next time at which it has something to do or to draw; infinity without one.
    [[nodiscard]] double due_s(bool may_advise) const;
    [[nodiscard]] bool works() const;
    [[nodiscard]] const std::vector<BetterLayout>& better() const { return better_; }
    // A and the open plan take each other's place.
    void flip_pinned();
    // The plan before the last edit becomes A.
    void compare_with_before();
    void add_commands(std::vector<Command>& commands);

  private:
    Window& window_;
    std::unique_ptr<SearchRunner> search_;                                  // null until it is wanted
    bool search_seen_ = false, compare_seen_ = false, scale_seen_ = false;  // in this frame
    ChangeFigures figures_;                    // of the plan that was evaluated last
    ChangeFigures drag_start_;                 // of the plan before the first edit of a drag
    std::uint64_t figures_of_ = 0, file_ = 0;  // revision and file of that plan
    std::optional<PlanChange> change_;         // shown until changed_until_s_, as is
    std::string changed_;                      // "step 7.4 s → 7.1 s"
    double changed_until_s_ = 0;
    std::vector<BetterLayout> better_;  // known to a search
    std::uint64_t better_of_ = 0, better_revision_ = 0;
    Kept<std::optional<PlanDecision>> decision_;  // of the plan, by revision
    Kept<std::vector<MemoryMend>> mends_;         // of a plan that does not fit, by revision
    double edited_s_ = 0;                         // when the plan was edited last
    std::uint64_t edited_revision_ = 0;

    // Returns the time at which better layouts are looked for, if the plan stays as it is.
    [[nodiscard]] double advice_due_s() const;
    [[nodiscard]] bool rests(bool may_advise) const;
    void update_advice(bool rested);
    void look_for_better();
    void offer_mends(const SearchResult* proposed);
    void update_scale();
};

// Reads the files of a real run: for the window on another thread, for a picture at once.

// Returns true for a folder, and for a file that says by its begin that it is of a run: a log with steps is
// one, with settings or without. Never throws.
[[nodiscard]] bool is_run_place(const std::filesystem::path& path);

// Reads dumps of flight recorders (a folder, or one of them for all in its folder), or traces, logs,
// and Inspector files of one run. `open` is the plan of the window: it names groups and nodes.
// Throws Error (invalid) that says which kind something is where it is of another, and where the reading was
// cancelled.
[[nodiscard]] RealRun read_real_run(const std::vector<std::filesystem::path>& places, const Plan& open,
                                    const Presets& presets, runs::ReadWatch* watch = nullptr);

// Returns the text of a log, unpacked. Throws Error where it cannot be read.
[[nodiscard]] std::string log_text(const std::filesystem::path& path);

// The real run next to the plan: its files are read in the background, and what they say is compared with the
// plan anew after each edit.

class RunDesk {
  public:
    explicit RunDesk(Window& window) : window_(window) {}

    // Adds a file or folder to what is read next; those of one frame are of one run.
    void add(const std::filesystem::path& place);
    // Starts and collects background work after a frame.
    void update();
    [[nodiscard]] bool works() const { return read_.running() || compared_.running(); }
    // Returns true if there is a line to draw: a run is open, or is being read.
    [[nodiscard]] bool shown() const { return read_.running() || window_.real_run != nullptr; }
    // Draws the line: what is read, with a bar and Cancel, or what the run says.
    void draw(Ui& ui, Rect row);
    void add_commands(std::vector<Command>& commands);

  private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // the run's number, and the plan's revision
    using Places = std::vector<std::filesystem::path>;

    Window& window_;
    Places pending_, reading_;
    std::shared_ptr<runs::ReadWatch> watch_;
    std::uint64_t number_ = 0;                   // of what is read
    bool wanted_ = false;                        // until it is cancelled
    bool read_bare_ = false;                     // the plan of what is read was not known
    Kept<std::shared_ptr<const RealRun>> read_;  // by number
    Kept<std::shared_ptr<const runs::Measured>, Key> compared_;

    // Returns true if the open plan is somebody's, with a model and a cluster that are known.
    [[nodiscard]] bool knows_plan() const;
    void begin();
    void cancel();
    void open(const std::shared_ptr<const RealRun>& run);
    void compare();
    void set_measured(std::shared_ptr<const runs::Measured> measured, std::uint64_t revision);
    void close();
};

}  // namespace pentamesh::ui
