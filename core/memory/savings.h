// Says what each axis and modifier saved: the fullest GPU's bytes, from a single GPU to the plan.
#pragma once

#include "core/memory/memory.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// `axis` is one of the mesh, cut or copied; the others change how it is used.
enum class Saving : std::uint8_t { none, axis, sequence_parallel, zero, recompute, offload };

struct SavingStep {
    Saving what = Saving::none;  // none: the whole model on one GPU
    Axis axis = Axis::tp;
    std::int64_t ranks = 1;       // of the axis, or those that ZeRO cuts over
    int stage = 0;                // of ZeRO
    RecomputeChoice recompute{};  // the recomputed parts
    StageMemory fullest{};
    double saved = 0;  // against the step before; negative where it costs
};
// One axis or modifier is added at a time, in the order of layout.order, recompute last. With the
// `in_flight` that the plan's Memory was computed with, the last step is its peak, to the byte.
[[nodiscard]] std::vector<SavingStep> savings(const Plan& plan, const std::vector<double>& in_flight);

[[nodiscard]] std::string label_of(const SavingStep& step);        // "tp 8", "ZeRO-1 over 128"
[[nodiscard]] std::string_view reason_of(const SavingStep& step);  // its cut, a sentence without its end

}  // namespace pentamesh
