// Shows one strategy by itself: a few layers of the plan's model on a few GPUs, laid out by one axis or one
// modifier, and its savings and costs against the same on a single GPU.
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class Strategy : std::uint8_t { ddp, zero1, zero2, fsdp, tp, tp_sp, cp, pp, ep };
inline constexpr int kStrategyCount = 9;

struct StrategyFacts {
    std::string_view name;      // "ZeRO-3 / FSDP"
    Axis axis = Axis::tp;       // the axis whose colour it has
    std::string_view splits;    // the parts that it cuts: "batch; optimizer state"
    std::string_view composes;  // a sentence: its place among the others
};
[[nodiscard]] const StrategyFacts& facts_of(Strategy strategy);

// Returns the plan on the first GPU of its cluster: no axis cuts it.
[[nodiscard]] Plan uncut(const Plan& plan);
// Returns the plan's model with `gpus` layers, all MoE where it has MoE layers, with `gpus` sequences a step
// in micro-batches of one, on the first `gpus` GPUs of its cluster, laid out only by this strategy.
[[nodiscard]] Plan plan_of_strategy(const Plan& plan, Strategy strategy, std::int64_t gpus);

struct StrategyTraffic {
    Collective collective = Collective::all_reduce;
    GroupKind group = GroupKind::tp;
    double count = 0;       // calls per step on a rank
    double sent_bytes = 0;  // bytes that leave a rank per step
};
struct StrategyPrice {
    Strategy strategy = Strategy::ddp;
    bool possible = false;
    std::string why_not;  // the first thing that is wrong with it, a sentence
    Plan plan;
    Mesh mesh;
    StageMemory fullest;                   // of its GPUs, at its peak
    std::vector<StrategyTraffic> traffic;  // by collective and axis, in the order of a step
    double count = 0, sent_bytes = 0;      // of all of it
};
struct StrategyPrices {
    std::int64_t gpus = 0;
    Plan single;
    StageMemory single_gpu;
    std::vector<StrategyPrice> price;  // by Strategy
};
// Evaluates kStrategyCount + 1 small plans: about a tenth of a millisecond each.
void price_strategies(const Plan& plan, std::int64_t gpus, StrategyPrices& out);

// Returns "Every GPU holds 3.2 GiB instead of 12.1 GiB; per step it sends 4.5 GB in 12 calls: 8 all-gathers
// over dp_shard, 4 reduce-scatters over dp_shard."
[[nodiscard]] std::string price_sentence(const StrategyPrices& prices, const StrategyPrice& price);
// Says how the strategies differ: "Cut over the GPUs: optimizer states, gradients; whole on every GPU:
// parameters." It follows from the bytes: a state is cut if the fullest GPU holds less of it than one GPU by
// itself. It is empty where the strategy is impossible.
[[nodiscard]] std::string state_sentence(const StrategyPrices& prices, const StrategyPrice& price);

}  // namespace pentamesh
