// How many operations does the scan of a linear or Mamba layer take? Formulas and where they are blind:
// docs/step.md, "Layers without attention".
#pragma once

#include "core/plan/plan.h"

namespace pentamesh {

// Forward, for one token and all heads of the layer, projections left out.
struct ScanFlops {
    double model = 0;        // counted as the model's: the recurrence
    double kernel = 0;       // what a chunked kernel computes with matrix units
    double state_bytes = 0;  // states written and read between chunks, fp32
};

// Mamba: 7 numbers of work for each number of state (Megatron-LM training.py, mamba_layer_flops). Chunks of
// Dao, Gu 2024 (Mamba-2), section 6: C B^T in a chunk, its product with x, chunk states in and out.
[[nodiscard]] ScanFlops scan_flops(const Mamba& mamba);
// Delta nets: 4 products of a head's state (Megatron-LM training.py, "gated delta rule"). Chunks of 64
// tokens, Yang et al. 2024 (Gated DeltaNet), section 3.3. Lightning: Qin et al. 2024, section 3.2, blocks of
// 256.
[[nodiscard]] ScanFlops scan_flops(const Linear& linear, std::int64_t hidden);

}  // namespace pentamesh
