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

struct TimelineWindows {
    SteadyPart steady;
    int shown_periods = 0;
    std::array<TimeScale, 3> window;  // fill, steady, drain
    double whole_s = 0;
};

// The height that the overview and the windows' heads take above the rows.
inline constexpr float kWindowsHead = 68;

// Returns the windows in `plot`, or nullopt where one window over everything is as good: blocks of the median
// length then have at least `least_px` pixels, or fewer than three periods are equal. `steady_at_s` is where
// the middle window begins, < 0: in the middle of the steady part.
[[nodiscard]] std::optional<TimelineWindows> find_windows(const Timeline& t, double whole_s, Rect plot,
                                                          float least_px, double steady_at_s);

// Draws the step as a strip with the three windows marked, beams down to them, and their heads. A drag over
// the strip moves the middle window: `steady_at_s` is set.
void draw_windows_head(Ui& ui, Rect room, const TimelineWindows& w, const Timeline& t,
                       const ShownTimeline& shown, SeenBlocks& blocks, double& steady_at_s);
// Returns a window's name, and what is seen in it.
[[nodiscard]] std::array<std::string, 2> window_words(const TimelineWindows& w, std::size_t part,
                                                      const Timeline& t);
// Draws how a window comes out of the strip above: its beam, and its frame on the strip, which is on `scale`.
void draw_beam(Canvas& canvas, const Theme& theme, const TimeScale& scale, const TimeScale& window, float to);
void draw_window_frame(Canvas& canvas, const Theme& theme, const TimeScale& scale, const TimeScale& window);
// Draws the breaks between the windows, and a bracket under one period.
void draw_breaks(Canvas& canvas, const Theme& theme, Rect rows, const TimelineWindows& w);
void draw_period(Ui& ui, Rect row, const TimelineWindows& w);

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
    // Many micro-batches are shown in three windows; by version, place, and where the middle one was dragged.
    double steady_at_s = -1;  // < 0: in the middle of the steady part
    Kept<std::optional<TimelineWindows>, std::tuple<std::uint64_t, Rect, double>> windows;
    std::array<SeenBlocks, 3> window_blocks;
    SeenBlocks overview_blocks;

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
