// The view Timeline shows when each stage works.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/evaluate.h"
#include "core/explain/lane_picture.h"
#include "core/pipeline/stages.h"
#include "core/pipeline/timeline.h"
#include "core/step/exposure.h"
#include "core/step/memory_curve.h"
#include "core/step/step.h"
#include "render/canvas.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct TimelineChoice {
    int steps = 1;    // 2: two of them back to back
    SlowDevice slow;  // injected: not the plan's
    bool operator==(const TimelineChoice&) const = default;
};

// Holds shares of a block's time: collectives exposed on each axis, compute slowed by traffic, the recomputed
// forward.
struct BlockShares {
    EnumArray<GroupKind, float> axis{};
    float slowed = 0, recomputed = 0, host = 0, offload = 0;
    [[nodiscard]] float sum() const {
        float all = slowed + recomputed + host + offload;
        for (const float x : axis) all += x;
        return all;
    }
};

// Lists what a timeline is drawn with. `waits` and `hides` are of an axis.
enum class TimelineMark : std::uint8_t {
    forward,
    backward,
    input_gradient,
    weight_gradient,
    pair,
    again,  // a forward that is recomputed
    slowed,
    host,     // waits for its launches
    offload,  // waits for the link to host memory
    optimizer,
    stragglers,
    idle,
    slow_stage,  // a wait because of it
    sends,
    later_chunk,
    waits,
    hides = waits + kGroupKindCount
};
class TimelineMarks {
  public:
    void add(TimelineMark mark) { bits_ |= bit(mark, 0); }
    void add(TimelineMark mark, GroupKind axis) { bits_ |= bit(mark, static_cast<int>(axis)); }
    void add(const TimelineMarks& others) { bits_ |= others.bits_; }
    [[nodiscard]] bool has(TimelineMark mark) const { return (bits_ & bit(mark, 0)) != 0; }
    [[nodiscard]] bool has(TimelineMark mark, GroupKind axis) const {
        return (bits_ & bit(mark, static_cast<int>(axis))) != 0;
    }
    bool operator==(const TimelineMarks&) const = default;

  private:
    static std::uint64_t bit(TimelineMark mark, int more) {
        return std::uint64_t{1} << (static_cast<int>(mark) + more);
    }
    std::uint64_t bits_ = 0;
};

struct ShownTimeline {
    TimelineChoice choice;
    std::uint64_t version = 0;  // grows whenever it is made anew: what is derived from it compares this
    TimelineCosts costs;        // with the slow device
    Timeline slowed, two, before_two;
    WorkIndex index;
    Bubble bubble;                      // of the step as shown
    std::vector<ChunkExposed> exposed;  // by chunk
    std::vector<HiddenComm> hidden;     // by chunk: what nothing waits for
    HiddenComm hidden_once;             // of a step; zero where two are shown
    bool hides = false, hides_once = false;
    BlockShares most;                                 // the largest share of any block
    EnumArray<GroupKind, double> longest_hidden_s{};  // of a block's or of a step's hidden calls
    StepTail tail;                         // zero where two steps are shown or no step can be computed
    double step_before_s = 0, step_s = 0;  // without and with the slow device; 0: cannot be computed
    std::vector<StagePlace> places;
    std::array<bool, 5> has{};  // by OpKind

    [[nodiscard]] const Timeline& timeline(const Evaluation& e) const {
        return choice.steps > 1 ? two : choice.slow.any() ? slowed : e.timeline;
    }
    // Returns the same without the slow device, or null where no device is slowed.
    [[nodiscard]] const Timeline* before(const Evaluation& e) const {
        return !choice.slow.any() ? nullptr : choice.steps > 1 ? &before_two : &e.timeline;
    }
    [[nodiscard]] double whole_s(const Evaluation& e) const { return timeline(e).makespan + tail.total(); }
};
// The key is the plan's revision, the schedule that is set next to its own (-1 for its own), and the choice.
using KeptTimeline = Kept<ShownTimeline, std::tuple<std::uint64_t, int, TimelineChoice>>;
[[nodiscard]] std::string words_of(const SlowDevice& slow);  // "stage 0 × 2"
// Precondition: the evaluation has a timeline.
void keep_shown(const Plan& plan, const Evaluation& evaluation, std::uint64_t revision, int schedule,
                const TimelineChoice& choice, KeptTimeline& kept);

// Holds which passes an op does, and the places of their chunks in lists by device and chunk: an FB pair does
// both.
struct OpHalves {
    bool forward = false, backward = false;
    std::size_t f = 0, b = 0;
    // Returns a call's seconds in the passes of the op; `of` has one entry for each chunk.
    [[nodiscard]] double hidden_s(const std::vector<HiddenComm>& of, GroupKind axis) const {
        return (forward ? of[f].forward[axis] : 0) + (backward ? of[b].backward[axis] : 0);
    }
    [[nodiscard]] bool in(std::size_t chunks) const { return f < chunks && b < chunks; }
};
[[nodiscard]] OpHalves halves_of(const Op& op, int device, int chunks);

// Returns the op of the evaluation's own timeline that this op of the shown one repeats.
[[nodiscard]] std::size_t own_op(const Timeline& t, std::size_t op);

struct TimeScale {
    double from_s = 0, to_s = 1;
    Rect plot;
    [[nodiscard]] float x(double time_s) const {
        return plot.x + static_cast<float>((time_s - from_s) / (to_s - from_s) * static_cast<double>(plot.w));
    }
    [[nodiscard]] double time(float px) const {
        return from_s + static_cast<double>((px - plot.x) / plot.w) * (to_s - from_s);
    }
};

// Holds what is asked of a timeline once, to find its windows.
struct WindowFacts {
    std::optional<SteadyPart> steady;
    double median_s = 0, round_s = 0;  // of a block; until every stage has run each of its chunks
};

// Says how large the overview and the windows' heads are, in logical pixels: a pane of the dashboard has the
// small ones.
struct WindowsForm {
    float strip, beam, heads, gap, type;
    [[nodiscard]] constexpr float head() const { return strip + beam + heads; }
    bool operator==(const WindowsForm&) const = default;
};
inline constexpr WindowsForm kLargeWindows{24, 22, 22, 26, 12}, kSmallWindows{15, 12, 16, 16, 11};

// Three parts of a step on one scale of time: how it fills, its middle, how it drains.
struct TimelineWindows {
    WindowsForm form = kLargeWindows;
    SteadyPart steady;
    std::array<TimeScale, 3> window;  // fill, steady, drain
    double whole_s = 0;
    double strip_s = 0;  // the end of the strip of all of the step: the larger of two plans sets it
    [[nodiscard]] double px_per_s() const {
        return static_cast<double>(window[0].plot.w) / (window[0].to_s - window[0].from_s);
    }
    // Returns the number of whole periods in the middle; 0 where it holds a part of one.
    [[nodiscard]] int periods() const;
    void place(float y, float height) {
        for (TimeScale& w : window) w.plot.y = y, w.plot.h = height;
    }
};

struct TimelineViewState {
    double from_s = 0, to_s = 0;  // the visible range; to <= from: everything
    double cursor_s = -1;         // < 0: none
    bool playing = false;
    bool critical = false;
    TimelineChoice choice;
    double played_at = 0;
    bool panning = false;
    double pan_from_s = 0;
    float scroll = 0;             // rows
    std::ptrdiff_t hovered = -1;  // op of the shown timeline under the mouse in the last frame
    // These are made from the evaluation and kept as long as it stays.
    KeptTimeline shown;
    Kept<std::vector<std::size_t>> critical_path;                          // by version
    Kept<std::vector<InFlightStep>, std::pair<std::uint64_t, int>> curve;  // by version and device
    Kept<MemoryCurve> memory;                                              // of one stage; by version
    // The selected block's stage on its lanes; by version and stage. The card lies on the plot: the mouse on
    // it is not the plot's.
    Kept<std::optional<LanePicture>, std::pair<std::uint64_t, int>> lanes;
    Rect card;
    // A second schedule has the same costs, on the same time axis: -1 for no second schedule, else a
    // Schedule.
    int second = -1;
    KeptOtherPlan other;
    KeptTimeline second_shown;
    SeenBlocks blocks, second_blocks;
    // Many micro-batches are shown in three windows.
    double steady_at_s = -1;  // the middle one begins there; < 0: in the middle of the steady part
    Kept<WindowFacts> facts;  // by version
    std::optional<TimelineWindows> windows;  // of the last frame
    std::array<SeenBlocks, 3> window_blocks;
    SeenBlocks overview_blocks;
    TimelineMarks drawn, named;  // of the last frame: by the rows, and by the legend

    // Returns the stage that was slowed by hand, and the step with it; nullopt where none is or no step is
    // known.
    [[nodiscard]] std::optional<InjectedStage> injected(const Plan& plan, const Evaluation& e,
                                                        std::uint64_t revision);
    // Returns the timeline on the screen; null where it was made from another revision of the plan.
    [[nodiscard]] const Timeline* current(const Evaluation& e, std::uint64_t revision) const {
        const auto* of = shown.key();
        return !e.timeline.empty() && of != nullptr && std::get<0>(*of) == revision ? &shown->timeline(e)
                                                                                    : nullptr;
    }
};
// The selected block has a card with its lanes, which leads to all of them.
[[nodiscard]] Effects draw_timeline(Ui& ui, Rect head_row, Rect room, Scene& scene, TimelineViewState& state,
                                    std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table timeline_data(const Scene& scene, int part);

// Sets the cursor on the next (by > 0) or last start or end of an op, of the selected stage or of any; keeps
// it in sight.
void step_cursor(const Timeline& t, TimelineViewState& state, int by, int stage);

}  // namespace pentamesh::ui
