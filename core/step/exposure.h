// Says how much of a pipeline's time is idle, by each measure that papers use, and what one slow device adds.
#pragma once

#include "core/pipeline/stages.h"
#include "core/pipeline/timeline.h"
#include "core/step/pair.h"
#include "core/step/step.h"

#include <array>
#include <cstdint>
#include <optional>

namespace pentamesh {

// Holds seconds (or the costs' unit) of one step. "Work" is the mean time that a device is busy: m(F + I + W)
// where stages are equal. docs/schedules.md, two measures of idle time, has the measures.
struct Bubble {
    double work = 0;
    double makespan = 0;           // first start to last end, less the work
    double span = 0;               // the longest of the devices' own spans, less the work
    std::optional<double> steady;  // time that one more step adds where steps run back to back, less the work
    double fraction = 0;           // makespan bubble of the makespan
    double overhead = 0;           // makespan bubble of the work
    ClosedForm form;               // of stages that are all like the mean
    double form_overhead = 0;      // its bubble of the work
    bool equal_stages = false;     // every chunk costs the same and no device is slow
    // Returns true if the closed form is this timeline's own: its condition holds and the stages are equal.
    [[nodiscard]] bool form_holds() const { return form.exact && equal_stages; }
    // Returns its bubble of the span or makespan that it would make, to compare with `fraction`.
    [[nodiscard]] double form_fraction() const { return form_overhead / (1 + form_overhead); }
};
// `step` is one iteration of these costs. `two` is two of them back to back (run_iterations), or null.
[[nodiscard]] Bubble measure_bubble(const Timeline& step, const TimelineCosts& costs,
                                    const Timeline* two = nullptr);

// This is one device that takes `factor` times as long for everything: a hot GPU, a slow NIC's node. Its
// tensor and context peers wait for it in every layer, so the whole stage runs at its pace.
struct SlowDevice {
    int device = -1;  // -1: none
    double factor = 1;
    [[nodiscard]] bool any() const { return device >= 0 && factor != 1; }
    bool operator==(const SlowDevice&) const = default;
};
// Sets costs.slow; a device beyond the pipeline slows none.
void apply_slow(const SlowDevice& slow, int devices, TimelineCosts& costs);
// Returns the step time when the pipeline's makespan changes from one value to another and all else stays:
// gradients, optimizer and the straggler's share of the whole.
[[nodiscard]] double step_with_makespan(const Step& step, double makespan_before, double makespan_after);

// Finds the exposed communication. Calls of a layer hide behind its compute, gradients and parameters behind
// the last backward and the first forward.

// Lists the axes that a layer communicates on, in the order of UnitComm.
inline constexpr std::array<GroupKind, UnitComm::kAxes> kUnitAxes{GroupKind::tp, GroupKind::cp, GroupKind::ep,
                                                                  GroupKind::etp};

// Says what may cover a call: the attention core, the products of attention or of the MLP, or another
// micro-batch's pass, for the way to the experts and from them (core/step/pair.h). For context parallelism
// only the ring is covered.
enum class Cover : std::uint8_t { core, mixer, mlp, to_experts, from_experts, none };
inline constexpr std::size_t kCovers = 6;
// Returns true if another micro-batch's pass covers it.
[[nodiscard]] inline bool is_paired(Cover c) {
    return c == Cover::to_experts || c == Cover::from_experts;
}
// Returns the share of a device's forwards that find another micro-batch's backward to run with: not those
// that go out before the first backward. Both ends of a pipeline together.
[[nodiscard]] double paired_share(const ScheduleShape& shape);
// Returns the call of a pair that a cover's calls of one pass are.
[[nodiscard]] inline PairCall pair_call(Cover c, bool forward) {
    if (c == Cover::to_experts) return forward ? PairCall::tokens_to_experts : PairCall::gradients_to_experts;
    return forward ? PairCall::tokens_from_experts : PairCall::gradients_from_experts;
}

// Sums operations of a layer type that the same compute may cover, in seconds per layer and micro-batch.
struct CoveredTime {
    double need = 0, hidden = 0;
    double window = 1;  // share of the compute that may cover: the first block of a ring has nothing to send
    double paired =
        1;  // share of the passes that run together with another micro-batch's: only there it hides
    WaitsBecause because = WaitsBecause::nothing_to_hide_behind;  // of what is not hidden
    [[nodiscard]] double exposed_share() const { return need > 0 ? (need - hidden) / need : 0; }
};

// Holds for each layer type one CoveredTime for each cover, forward and backward.
class CoveredTimes {
  public:
    explicit CoveredTimes(int types) : table_(types) {}
    CoveredTime& of(int type, Cover cover, bool forward) {
        return table_[type][static_cast<std::size_t>(cover) * 2 + (forward ? 0 : 1)];
    }
    // Calls use(type, its CoveredTime) for the types that make a call.
    template <typename F>
    void each(const Operation& o, F&& use);  // only for exposure.cpp
    // Returns the exposed share of an operation's time, over the layers of a device.
    [[nodiscard]] double exposed_share(const Operation& o, const LayerCounts& layers);
    [[nodiscard]] int types() const { return table_.size(); }

  private:
    PerType<std::array<CoveredTime, kCovers * 2>> table_;
};

// Returns what may cover a call of a layer.
[[nodiscard]] Cover cover_of(const Operation& o);

// Times each call, says what it hides behind, and adds the exposed time to the parts of `work`.
void time_operations(const ResolvedPlan& resolved, Comm& comm, StepWork& work, CoveredTimes& shared);

// Returns which call of a lane a row of data parallelism's state is.
[[nodiscard]] LaneCall lane_call(const Operation& o);

// Returns the lane that a call is on.
[[nodiscard]] inline TrafficLane lane_of(const Operation& o) {
    return o.tier > 0 ? TrafficLane::card : TrafficLane::fast;
}
// Returns the micro-batches whose passes through a device hide what happens once a step. With chunks in
// groups of micro-batches a chunk's gradients are done while the other chunks still work; without, it is one.
[[nodiscard]] double hiding_microbatches(const Plan& plan, const ScheduleShape& shape, double microbatches);

// Lists the rows of data parallelism's state with the lanes that they are on, and finds what a pass and a
// step wait for them.
class StateTraffic {
  public:
    // The rows of `comm` have their times, and `work` those of the layers.
    StateTraffic(const ResolvedPlan& resolved, const Comm& comm, const StepWork& work);

    // Finds what the calls of every micro-batch add to the passes of a chunk.
    void wait_in_passes(const ChunkLayers& layers, ChunkWork& chunk) const;
    // Adds to the rows of `comm` and to `out` what the device that works longest waits in a step: in all of
    // its passes, and for the calls of a step behind its last backward and its first forward.
    void wait_in_step(const TimelineCosts& costs, Comm& comm, Step& out) const;
    // Lists the units of a pass of a chunk in the order of the computation, with the calls of every
    // micro-batch.
    [[nodiscard]] LaneUnits units_of(const ChunkLayers& k, bool forward) const;
    // Lists those of what happens once a step, on that device: its first forward or its last backward.
    [[nodiscard]] LaneUnits units_of_step(const TimelineCosts& costs, bool forward) const;
    [[nodiscard]] LaneRules rules() const;
    // Returns the share of each call that may hide: 0 where nothing overlaps.
    [[nodiscard]] double hidden_share() const;
    // Returns one layer of a type, in a pass.
    [[nodiscard]] LaneUnit layer_unit(int type, bool forward, bool recomputed) const;

  private:
    struct Row {
        LaneCall call = LaneCall::gather;
        TrafficLane lane = TrafficLane::fast;
        bool forward = false, by_layer = false, in_passes = false;
        double rounds = 1;
        double per_number = 0;  // seconds of a round for each number that a device holds
        std::size_t operation = 0;
    };
    using Calls = EnumArray<LaneCall, LaneSeconds>;

    [[nodiscard]] Calls calls_of(const StageNumbers& numbers, bool forward, bool in_passes) const;
    [[nodiscard]] LaneUnit end_unit(const ChunkLayers& k, bool embedding, bool forward) const;
    [[nodiscard]] double bucket_count(double numbers, double layers) const;
    [[nodiscard]] StateWaits waits_of(const LaneUnits& units, bool forward, bool in_passes) const;

    const ResolvedPlan& r_;
    const Comm& comm_;
    const StepWork& work_;
    ShortList<Row, kMostStateRows> rows_;
    PerType<std::array<LaneSeconds, 3>> taken_;  // by a layer's own calls: forward, backward, recomputed
    bool in_passes_ = false, in_step_ = false, by_layer_ = false;
};

// Finds what each layer costs a pipeline stage, and the other work of a stage, for any split of the layers.

// `work` is that of the plan under any split of its layers (a layer's work does not depend on its stage).
// Chunks are as in layers_of_chunks; there are none beyond kMostChunks.
[[nodiscard]] StageLoad stage_load(const Plan& plan, const ScheduleShape& shape, const StepWork& work);

// Finds what recomputation adds to a step: seconds of a layer's backward, and FLOPs.

// Fills the part that recomputation adds to a layer of each type in `work` from its times: the forward of the
// recomputed modules.
void find_recompute(const ResolvedPlan& resolved, StepWork& work);
// Returns the forward FLOPs of one sequence that are recomputed, in the layers that `stages` says.
[[nodiscard]] double recomputed_flops(const ResolvedPlan& resolved, const Stages& stages);

// Each pass of a layer takes at least its launches x launch_s: forward, input gradient and weight gradient
// each those of a forward where the schedule splits the backward, else both gradients together twice those,
// since the host runs ahead inside one pass. In the forward of a MoE layer it may have to wait for the router
// (LayerLaunches): then it does not run ahead of it. The added time counts as compute; the time that a layer
// takes more because its launches are repeated counts as recomputation.
void wait_for_host(const Plan& plan, StepWork& work);

}  // namespace pentamesh
