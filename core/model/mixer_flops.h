// Counts the operations of the scan of a linear or Mamba layer, and the keys that a query meets.
// docs/step.md, "Layers without attention", has the formulas and their limits.
#pragma once

#include "core/model/layer_types.h"

namespace pentamesh {

// Counts the forward, for one token and all heads of the layer, without projections.
struct ScanFlops {
    double model = 0;        // counted as the model's: the recurrence
    double kernel = 0;       // computed by a chunked kernel with matrix units
    double state_bytes = 0;  // states written and read between chunks, fp32
};

// For Mamba it is 7 numbers of work for each number of state (Megatron-LM training.py, mamba_layer_flops).
// Chunks of Dao, Gu 2024 (Mamba-2), section 6: C B^T in a chunk, its product with x, chunk states in and out.
[[nodiscard]] ScanFlops scan_flops(const Mamba& mamba);
// For delta nets it is 4 products of a head's state (Megatron-LM training.py, "gated delta rule"). Chunks of
// 64 tokens, Yang et al. 2024 (Gated DeltaNet), section 3.3. Lightning: Qin et al. 2024, section 3.2, blocks
// of 256.
[[nodiscard]] ScanFlops scan_flops(const Linear& linear, std::int64_t hidden);

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
