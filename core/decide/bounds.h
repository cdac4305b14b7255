// Bounds the time and memory of a layout from below, by other layouts of its node. Proofs are in bounds.cpp.
#pragma once

#include "core/decide/nodes.h"
#include "core/evaluate.h"

namespace pentamesh {

// Returns seconds: no replay of these costs ends before this.
[[nodiscard]] double least_makespan(const ScheduleShape& shape, const TimelineCosts& costs);

// Holds bytes of one stage that ZeRO may cut, dense and experts apart, and those that it does not cut.
struct StageBytes {
    double parameters[2] = {0, 0}, gradients[2] = {0, 0}, optimizer[2] = {0, 0}, rest = 0;
};
// Bounds one run of a node, for any sharding.
struct RunBound {
    double makespan = 0;                   // at least
    double forward_s = 0, backward_s = 0;  // room of one micro-batch on a device for transfers, at most
    double microbatches = 1;
    double copies = 1;              // of the model, which share one optimizer state
    double dense = 0, experts = 0;  // numbers whose gradients are reduced
    double fewest_layers = 0;       // of a stage
    StageBytes stage[2];            // the first and the fullest
};
struct BoundOf;
// Bounds one sharding of a node, for any run.
struct ShardBound {
    double parameters[2] = {1, 1}, gradients[2] = {1, 1}, optimizer[2] = {1, 1};  // one over the shards
    double summed[2] = {1, 1};  // of the gradients, in a step of more than one micro-batch: at least
    double communicators = 0;   // bytes that its process groups take
    // Gathers and reductions take at least these seconds: once per step, and with every micro-batch.
    double gather = 0, reduce = 0, gather_each = 0, reduce_each = 0;
    // Some of them hide in the room of every micro-batch.
    bool gathers_each = false, reduces_each = false;
    double update = 0;  // seconds of the optimizer, of one copy
};

// `e` is of the run's layout with zero = 0, without the timeline, valid. `group_bytes` is that of a process
// group.
[[nodiscard]] RunBound bound_of_run(const Plan& plan, const Evaluation& e, double group_bytes);
// `e` is of the sharding with some run of the node, without the timeline, valid; `own` is the bound of that
// run, one of more than one micro-batch where the node has such a run; `least` has by each of dense, experts
// and layers the least of all runs of the node.
[[nodiscard]] ShardBound bound_of_shards(const Plan& plan, const Evaluation& e, const RunBound& own,
                                         const RunBound& least, const BoundOf& of);

// All layouts of a search share this.
struct BoundOf {
    double straggle = 1;  // factor on everything
    double fixed = 0;     // seconds of a step that nothing changes
    double group_bytes = 0;
    bool reduces_runs =
        false;  // the plan asks for it: then schedules differ in how often gradients are reduced
    explicit BoundOf(const Plan& plan);
    [[nodiscard]] double time(const RunBound& run, const ShardBound& shard) const;
    [[nodiscard]] double memory(const RunBound& run, const ShardBound& shard) const;
};

}  // namespace pentamesh
