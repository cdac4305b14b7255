// Says which factors an axis may take, and what becomes of the others when one changes. The GPUs stay: ranks
// that an axis gives up or takes go to or come from data parallelism.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <vector>

namespace pentamesh {

// Returns the dp_replicate in force: the layout's own, or the number that the other factors leave of the
// cluster. It is 0 where that is no whole number: such a plan has none.
[[nodiscard]] std::int64_t replicas_in_force(const Plan& plan);
// Returns the same of any axis.
[[nodiscard]] std::int64_t factor_in_force(const Plan& plan, Axis axis);
// Returns the ZeRO stage that makes a difference: 0 where states are shared by one rank.
[[nodiscard]] int zero_in_force(const Plan& plan);

// Returns the degree of data parallelism, dp_shard * dp_replicate, with a left-out dp_replicate resolved from
// the cluster. It is 0 where the other factors leave no whole number.
[[nodiscard]] std::int64_t data_parallel(const Plan& plan);

// Returns tp * cp * pp * data_parallel: the ranks that the layout asks for, 0 where there is no whole number
// of replicas. A product of factors beyond kManyRanks counts as that many.
inline constexpr std::int64_t kManyRanks = std::int64_t{1} << 40;
[[nodiscard]] std::int64_t ranks_laid_out(const Plan& plan);

// Returns micro-batches per step and rank: global_batch over micro_batch and the replicas; 0 where it does
// not divide.
[[nodiscard]] std::int64_t microbatches_of(const Plan& plan);
[[nodiscard]] double microbatches_or_one(const Plan& plan);  // one where it does not divide

[[nodiscard]] inline double tokens_per_step(const Training& t) {
    return static_cast<double>(t.global_batch) * static_cast<double>(t.sequence_length);
}

// Returns ascending factors of `axis` that divide the number that the other axes leave. The model allows
// them: heads for tp, layers for pp, experts for ep, sequence for cp. It always holds 1; the current factor
// may be missing when it is not legal.
[[nodiscard]] std::vector<std::int64_t> legal_factors(const Plan& plan, Axis axis);

// Returns the plan with another factor. With `keep_gpus` the data-parallel axes take or give the difference
// where that divides (dp_shard where the plan shards, else dp_replicate); otherwise only that factor changes.
// etp follows tp where the plan leaves it out. Without a pipeline nothing is interleaved: pp 1 is 1F1B of one
// chunk.
[[nodiscard]] Plan with_factor(const Plan& plan, Axis axis, std::int64_t factor, bool keep_gpus);

// Returns the factor that a switch turns an axis on to: for tp the fast domain, for dp_shard everything left,
// for the others their smallest factor above 1. It is 1 where nothing else is legal.
[[nodiscard]] std::int64_t factor_when_on(const Plan& plan, Axis axis);

}  // namespace pentamesh
