// Lists all ops of a schedule so that each comes after those it needs. The list follows only from the order,
// for any costs, and is kept while the shape is the same: a replay then only adds up times.
#pragma once

#include "core/mesh/mesh.h"
#include "core/model/model.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/plan.h"
#include "core/plan/software.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pentamesh {

// Says where the inputs of a chunk come from and its outputs go: indices device * chunks + c, -1 for nowhere.
struct ChunkLink {
    std::int32_t before = -1, after = -1;
    std::int32_t before_device = -1, after_device = -1;
    bool operator==(const ChunkLink&) const = default;
};

// Groups ops of one device that take the same time and get their inputs from the same places.
struct Lane {
    OpKind kind = OpKind::F;
    std::uint32_t device = 0;
    std::uint32_t chunk = 0;       // device * chunks + c; of an FB that of its forward
    std::uint32_t back_chunk = 0;  // the same, but of an FB that of its backward
    std::int64_t ops = 0;
};

// A replay writes when ops end into slots: a device's own are side by side in the order of its ops, after a
// gap. The last slot of the gap stands for the time 0, so that a first op too has one before it. Without gaps
// devices of 2^k ops each would all fall into the same few lines of a processor's cache.
inline constexpr std::int32_t kSlotGap = 9;  // a cache line, and the slot of the time 0

// The slots of a device's ops lie this far after the ops' own places in the order of all devices.
[[nodiscard]] inline std::int32_t slot_shift(std::size_t device) {
    return static_cast<std::int32_t>(device + 1) * kSlotGap;
}

// An op waits for the slot before its own and for its input; where it needs no input it has the same slot
// twice.
struct Turn {
    std::int32_t slot = 0, input = 0;
    std::uint32_t lane = 0;
};

struct Sequence {
    ScheduleShape shape;
    int iterations = 0;           // steps that it holds; 0: it is of nothing yet
    std::vector<ChunkLink> link;  // [device * chunks + c]
    // Holds the op that runs the forward (backward: B, I or an FB) of micro-batch k on chunk c of device d:
    // [(d * chunks + c) * microbatches * iterations + k], -1 where no op does.
    std::vector<std::int32_t> forward_op, backward_op;
    std::vector<Lane> lane;                // as many for each device, in turn
    std::vector<Turn> turn;                // all ops, or those before the order dead-locks
    std::vector<std::int32_t> back_input;  // parallel to turn: the slot that an FB's backward waits for;
                                           // empty where the schedule has no FB
    struct Device {
        std::size_t ops = 0;  // in the list
        int most_held = 0;    // forwards without their backward at most
    };
    std::vector<Device> device;

    // Used while the list is made; kept for its capacity.
    struct Rows {  // of forward_op and backward_op, what the ops of a chunk make and need
        std::int32_t *forward = nullptr, *backward = nullptr;
        const std::int32_t *before = nullptr, *after = nullptr;  // null: nothing
        std::int32_t before_shift = 0, after_shift = 0;          // from those ops to their slots
        std::uint32_t lane = 0;                                  // the first of its own
    };
    struct Progress {
        const std::int32_t* waits_for = nullptr;  // below 0: the op that makes it is not in the list yet
        int held = 0;
    };
    std::vector<Rows> rows;          // by chunk
    std::vector<Progress> progress;  // by device

    [[nodiscard]] bool is_of(const ScheduleShape& s, int steps) const {
        return iterations == steps && !link.empty() && shape == s;
    }
    void clear();  // keeps capacity
};

// Makes the sequence of an order of so many steps of a shape. It allocates nothing once warm.
void find_sequence(const ScheduleShape& shape, int iterations, const Order& order, Sequence& out);

// Says when gradients are reduced over the data-parallel ranks, and how often parameters are gathered. A rank
// that keeps shards of the gradients reduces after every backward; one that reduces once a step keeps them
// whole (docs/communication.md).

// Returns the plan's own choice or, where it makes no choice, that of its software (never by_software). With
// one micro-batch a step, ZeRO-2 and 3 are `micro_batch`; a run of a GPU's single chunk is the whole step.
[[nodiscard]] GradientReduction gradient_reduction_of(const Plan& plan);

// Returns the plan's own choice or its software's: PyTorch's pipelines keep weights gathered for the whole
// step.
[[nodiscard]] Reshard reshard_of(const Plan& plan);

// Returns true if the weights that ZeRO-3 gathers lie whole on a GPU at its peak. A plan that never lets go
// holds them; so do PyTorch's pipelines where gradients are summed, since they let nothing go after a
// backward.
[[nodiscard]] bool holds_gathered(const Plan& plan);

// Returns true if such a reduction is possible: ZeRO-1 reduces once a step; only gradients that are cut are
// reduced after runs of micro-batches, and a V-shaped placement has no runs.
[[nodiscard]] bool can_reduce(GradientReduction when, const Layout& layout);

// Says whether the plan's software runs its ZeRO stage, pipeline and reduction. `refuses` and `lacks` cannot
// be run with it.
enum class ReductionSupport : std::uint8_t { runs, refuses, lacks };
[[nodiscard]] ReductionSupport reduction_support(const Plan& plan);

// Says whether the software runs a ZeRO stage in a pipeline of so many stages.
[[nodiscard]] ReductionSupport zero_support(Software software, int zero, std::int64_t pp);
// Follows a change of a plan's layout: a reduction that is now impossible, or that its software lacks
// although it ran the plan's own, becomes the software's.
void follow_software(const Plan& own, Plan& changed);

// Each number moves `times` times in a step, at the same time as these backwards or forwards.
struct Rounds {
    GradientReduction each = GradientReduction::step;
    double times = 1;
};
struct StateRounds {
    Rounds reductions;         // over the ranks that shard; without ZeRO over all
    Rounds replicas;           // of a shard across replicas
    Rounds forward, backward;  // gathers of ZeRO-3
};
[[nodiscard]] StateRounds state_rounds(const Plan& plan);

// Returns true if sends between stages go on next to compute: where the plan lets them and the schedule can.
// Megatron's schedule without chunks cannot: sender and receiver both wait (Megatron-LM,
// training/arguments.py: "non-interleaved schedule does not support overlapping p2p communication").
[[nodiscard]] bool hides_sends(const Plan& plan);

// Holds what follows from a plan and its mesh and is asked for in several places: it is found once in an
// evaluation, and handed on.

// Refers to the plan, its mesh and the summaries of its groups, which must outlive it. The summaries may be
// made later than this. The plan may be impossible.
struct ResolvedPlan {
    ResolvedPlan(const Plan& of, const Mesh& its_mesh, const GroupSummaries& its_groups);

    const Plan& plan;
    const Mesh& mesh;
    const GroupSummaries& groups;
    const SoftwareFacts& software;
    LayerTypes types;
    LayerCounts counts;             // the model's layers by type, without the prediction layers
    std::int64_t microbatches = 0;  // per step and replica; 0: the batch does not divide
    ScheduleShape shape;
    double runs = 1;  // micro-batches that each chunk of a device runs in a step
    Degrees degrees;
};

}  // namespace pentamesh
