// Evaluates a plan over a growing number of GPUs, batch or sequence: how far does it scale, and what sets the
// limit?
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class ScaleOver : std::uint8_t { gpus, batch, sequence };
template <>
inline constexpr std::array<std::string_view, 3> kNames<ScaleOver>{"gpus", "batch", "sequence"};
static_assert(kNames<ScaleOver>.size() == static_cast<std::size_t>(ScaleOver::sequence) + 1);

struct ScaleRequest {
    ScaleOver over = ScaleOver::gpus;
    bool weak = false;  // the batch grows with the GPUs; else it stays (strong scaling)
    std::int64_t least = 0,
                 most = 0;  // 0: 8 and 131,072 GPUs; a sixty-fourth and 64 times of the plan's own else
};

// Holds the figures of the plan at one value. They are 0 where it is impossible.
struct ScalePoint {
    std::int64_t at = 0;
    std::string reason{};  // why it is impossible; empty: it is not
    double step_s = 0, tokens_per_s = 0, mfu = 0, memory_bytes = 0;
    double compute_s = 0, bubble_s = 0;  // compute with recomputation; bubble with the wait for uneven stages
    double of_best = 0;                  // tokens per second and GPU, of the best point's
    MemoryFit fit = MemoryFit::no;
    EnumArray<GroupKind, double> time_s{}, waits_s{};  // on the wire; what the step waits of it
    EnumArray<GroupKind, int> tier{};  // the slowest that it crosses; -1: the axis is not in use
    [[nodiscard]] bool possible() const { return reason.empty(); }
};

// Says where something turns. `at` lies between two points that were evaluated, on a straight line over the
// logarithm of the value, rounded to two digits; a tier and a refusal turn at a point.
enum class ScaleTurn : std::uint8_t { waits, leaves_tier, passes_compute, memory, refused };
template <>
inline constexpr std::array<std::string_view, 5> kNames<ScaleTurn>{"waits", "leaves-tier", "passes-compute",
                                                                   "memory", "refused"};
static_assert(kNames<ScaleTurn>.size() == static_cast<std::size_t>(ScaleTurn::refused) + 1);
struct ScaleCrossing {
    ScaleTurn turn = ScaleTurn::waits;
    GroupKind axis = GroupKind::tp;  // of the first three
    double at = 0;
    std::string words{};  // "dp_shard starts to wait at about 3,100 GPUs"
};

struct Scale {
    ScaleRequest request;
    std::vector<ScalePoint> points;  // ascending; the plan's own value is among them
    std::vector<ScaleCrossing> crossings;
};

// The values are powers of two times the least that the layout can have, the plan's own, and the sizes of the
// cluster's tiers. Of a number of GPUs data parallelism takes what tp, cp and pp leave; a plan that copies
// shards keeps their size and makes more copies. An axis starts to wait where it is above half a per cent of
// the step.
[[nodiscard]] Scale scale_of(const Plan& plan, const ScaleRequest& request = {});

}  // namespace pentamesh
