// Shows a step of training as a loaf. Its crust is the model's state, its bread the activations of one round
// of micro-batches. Across lies the width of the model, upright its layers, lengthwise the tokens. Each GPU
// has a slice; the volume of a block is its bytes.
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// From the front of the loaf to its end.
enum class LoafPart : std::uint8_t { optimizer, gradients, parameters, bread };
template <>
inline constexpr std::size_t kEnumCount<LoafPart> = 4;
template <>
inline constexpr std::array<std::string_view, 4> kNames<LoafPart>{"optimizer", "gradients", "parameters",
                                                                  "activations"};

// One block of a slice. Its edges are shares: across, of the width of the model (the experts' tensors stand
// right of the others); upright, of its layers, the first on top.
struct LoafBlock {
    LoafPart part = LoafPart::bread;
    bool experts = false;  // a drawer: tensors of experts
    double left = 0, right = 1, top = 0, bottom = 1;
    double bytes = 0;
    // GPUs that hold the same numbers. Activations count as copied where tp ranks hold the same ones.
    std::int64_t copies = 1;
};

struct LoafSlice {
    std::int64_t rank = 0;
    int stage = 0;
    double total = 0;               // bytes of the GPU: its blocks and the buffers
    std::vector<LoafBlock> blocks;  // from the front, upper ones first
    [[nodiscard]] double bytes_of(LoafPart part) const;
    [[nodiscard]] double crust() const;  // bytes of all parts but the bread
};

struct Loaf {
    LoafSlice whole;           // what one GPU would hold that does all of it
    bool whole_known = true;   // false: the plan on one GPU breaks a rule, `whole` has no blocks
    std::int64_t samples = 1;  // of one round over all replicas
    std::int64_t layers = 1;
    double drawers_from = 1;  // the place across at which the experts' tensors begin; 1: there are none
    // The slices that are drawn: those of all ranks where these are `most` at the most, else of a group.
    GroupKind group = GroupKind::tp;
    bool all_ranks = true;
    std::int64_t left_out = 0;  // ranks of the group that stand in the gap before the last slice
    std::vector<LoafSlice> slices;
};

// `evaluation` is that of the plan and valid. Where the ranks are more than `most`, the group of `kind` that
// holds `rank` is shown; of more ranks than `most` its first three and its last.
[[nodiscard]] Loaf loaf_of(const Plan& plan, const Evaluation& evaluation, GroupKind kind, std::int64_t rank,
                           std::size_t most);

// Returns the axis whose cuts a loaf shows first: `kind` where it is in use, else the first in use.
[[nodiscard]] GroupKind kind_of_loaf(const GroupSummaries& groups, GroupKind kind);

// Says which piece of a buffer is where while a collective goes round a ring of `n` members, each of which
// has the next one for its neighbour; pieces are numbered as members are.

enum class RingPart : std::uint8_t {
    reduce,        // reduce-scatter: sums travel, each member ends with the whole sum of one piece
    gather,        // all-gather: each member begins with its own piece
    after_reduce,  // the second half of an all-reduce: each begins with the piece that it summed
    exchange       // all-to-all: a piece is what one member has for another; here, by who sent it
};
// Returns the piece that a member sends in a step, from 0 on; for an exchange the member that it is for.
[[nodiscard]] std::int64_t piece_sent(RingPart part, std::int64_t n, std::int64_t member, std::int64_t step);
// Returns how much of a piece a member has after so many whole steps: 1 for all of it, 0 for nothing; for a
// sum the share of members that are in it, 0 once it was passed on.
[[nodiscard]] double piece_held(RingPart part, std::int64_t n, std::int64_t member, std::int64_t piece,
                                std::int64_t steps);

// Shows one strategy by itself: a few layers of the plan's model on a few GPUs, laid out by one axis or one
// modifier, and its savings and costs against the same on a single GPU.

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
// in micro-batches of one, on the first `gpus` GPUs of its cluster, laid out only by this strategy. Experts
// are dealt out of a model that has none too: it is with_example_experts.
[[nodiscard]] Plan plan_of_strategy(const Plan& plan, Strategy strategy, std::int64_t gpus);
// Returns a model without experts as one that has 8 in the place of each MLP, half as wide, of which a token
// uses 2: it works as much for a token as before. Any other model is returned as it is.
[[nodiscard]] Model with_example_experts(Model model);

struct StrategyTraffic {
    Collective collective = Collective::all_reduce;
    GroupKind group = GroupKind::tp;
    std::string_view carried;  // "parameters", "activations"
    double count = 0;          // calls per step on a rank
    double sent_bytes = 0;     // bytes that leave a rank per step
};
struct StrategyPrice {
    Strategy strategy = Strategy::ddp;
    bool possible = false;
    std::string why_not;   // the first thing that is wrong with it, a sentence
    bool example = false;  // the plan's model has no experts: it has those of with_example_experts here
    Plan plan;
    Mesh mesh;
    StageMemory single;                    // the same model on a single GPU
    StageMemory fullest;                   // of its GPUs, at its peak
    std::vector<StrategyTraffic> traffic;  // by name and axis, in the order of a step
    double count = 0, sent_bytes = 0;      // of all of it
};
struct StrategyPrices {
    std::int64_t gpus = 0;
    Plan single;
    StageMemory single_gpu;
    std::vector<StrategyPrice> price;  // by Strategy
};
// Evaluates kStrategyCount + 1 small plans, one more without experts: about a tenth of a millisecond each.
void price_strategies(const Plan& plan, std::int64_t gpus, StrategyPrices& out);

// Returns "Every GPU holds 3.2 GiB instead of 12.1 GiB; per step it sends 4.5 GB in 12 calls: 8 all-gathers
// over dp_shard, 4 reduce-scatters over dp_shard."
[[nodiscard]] std::string price_sentence(const StrategyPrice& price);
// Says how the strategies differ: "Cut over the GPUs: optimizer states, gradients; whole on every GPU:
// parameters." It follows from the bytes: a state is cut if the fullest GPU holds less of it than one GPU by
// itself. It is empty where the strategy is impossible.
[[nodiscard]] std::string state_sentence(const StrategyPrice& price);

// Says what a GPU keeps of one layer's parameters, and what ZeRO-3 gathers for it.
struct LayerShed {
    double kept = 0;      // bytes between steps, on the first GPU
    double gathered = 0;  // bytes of the whole layer while it runs, in the type of its products: a buffer
    bool dropped = true;  // after it; false: the software lets nothing go
};
[[nodiscard]] LayerShed shed_of(const StrategyPrice& price);

}  // namespace pentamesh
