// Counts the operations of the scan of a linear or Mamba layer, and the keys that a query meets.
// docs/step.md, "Layers without attention", has the formulas and their limits.
#pragma once

#include "core/model/scan_visitor.h"

#include <cstdint>

namespace pentamesh {

// Returns the operations of a layer's scan; none where it has no scan.
[[nodiscard]] ScanFlops scan_flops(const Model& model, const LayerType& type);

// Returns the keys that a query meets: all of the context (`causal` false) or those before it, at most the
// window's (0 for no window).
[[nodiscard]] double keys_met(std::int64_t window, double context, bool causal);

// Counts operations of attention cores, indexers and scans in one sequence, forward, for layers of one type.
struct MixerFlops {
    double attention = 0;  // cores and indexers
    double masked = 0;     // their part that a causal mask leaves out
    double scan = 0;
};
[[nodiscard]] MixerFlops mixer_flops(const Model& model, const LayerType& type, double sequence_length,
                                     double layers);

}  // namespace pentamesh
