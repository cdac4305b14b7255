// Finds what of the experts' way hides where the forward of one micro-batch runs together with the backward
// of another: each one's calls stand next to the other's compute.
//
//   calls    | gradients to experts | tokens to experts, gradients from experts       | tokens from experts
//   compute  | forward, the rest    | backward of experts, then forward of experts    | backward, the rest
//
// A window ends when its compute and its calls have ended. A call is slowed as the compute next to it is, so
// that no more of it hides than the compute takes without it. Sources of the order: DeepSeek-AI 2024,
// DeepSeek-V3, figure 4; Megatron-LM model_chunk_schedule_plan.py, TransformerLayerSchedulePlan.run.
#pragma once

#include "core/base/containers.h"
#include "core/step/compute.h"

#include <cstdint>

namespace pentamesh {

// Lists the calls of a pair in the order in which they go out.
enum class PairCall : std::uint8_t {
    gradients_to_experts,
    tokens_to_experts,
    gradients_from_experts,
    tokens_from_experts
};
template <>
inline constexpr std::size_t kEnumCount<PairCall> = 4;

// Holds seconds of one layer's pair. `rate` is how fast the GPU computes next to a call, over its speed
// without one (0 to 1).
struct LayerPair {
    PassTime experts, rest;  // the experts' own kernels, and all others that may hide something
    EnumArray<PairCall, double> call{};
    bool splits_backward = false;  // the experts' weight gradients are made after their input gradients left
    double rate = 1;
};
struct PairTimes {
    EnumArray<PairCall, double> hidden{};
    double slowed_forward = 0, slowed_backward = 0;  // that compute takes longer next to calls
    [[nodiscard]] double slowed() const { return slowed_forward + slowed_backward; }
};
// All compute of a pair, what it is slowed, and what of its calls is not hidden sum to the pair's time.
[[nodiscard]] PairTimes time_pair(const LayerPair& pair);

}  // namespace pentamesh
