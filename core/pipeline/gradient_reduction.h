// Says when gradients are reduced over the data-parallel ranks, and how often parameters are gathered. A rank
// that keeps shards of the gradients reduces after every backward; one that reduces once a step keeps them
// whole (docs/communication.md).
#pragma once

#include "core/plan/plan.h"

#include <cstdint>

namespace pentamesh {

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

}  // namespace pentamesh
