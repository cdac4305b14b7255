// Says which timeline is on the screen: the evaluation's own, or the same order replayed with a slow device
// or two steps back to back; and holds values made from it once and kept while it stays.
#pragma once

#include "app/ui/kit/kept.h"
#include "core/evaluate.h"
#include "core/pipeline/stage_names.h"
#include "core/pipeline/timeline_blocks.h"
#include "core/step/block_parts.h"
#include "core/step/bubble.h"

#include <array>
#include <tuple>
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
// Precondition: the evaluation has a timeline.
void keep_shown(const Plan& plan, const Evaluation& evaluation, std::uint64_t revision, int schedule,
                const TimelineChoice& choice, KeptTimeline& kept);

// Returns the op of the evaluation's own timeline that this op of the shown one repeats.
[[nodiscard]] std::size_t own_op(const Timeline& t, std::size_t op);

}  // namespace pentamesh::ui
