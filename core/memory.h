// What does each GPU hold? Bytes by pipeline stage and category. Formulas: docs/memory.md.
#pragma once

#include "core/explain.h"
#include "core/mesh.h"
#include "core/model.h"
#include "core/plan.h"

#include <vector>

namespace pentamesh {

struct StageMemory {
    int stage = 0;
    std::int64_t layers = 0;           // of all chunks of the device
    std::int64_t parameters_held = 0;  // numbers, after tp, ep, pp; before ZeRO
    // Bytes. Optimizer includes the master copy.
    double parameters = 0, gradients = 0, optimizer = 0, activations = 0;
    double buffers_low = 0, buffers = 0, buffers_high = 0;  // what a framework takes besides: a range
    double in_flight = 0;                                   // micro-batches of a whole stage at the peak
    double activations_per_layer = 0;  // one layer, one micro-batch (a MoE layer where there is one)
    double layer_activations = 0;      // the layers' part of activations
    [[nodiscard]] double total() const { return parameters + gradients + optimizer + activations + buffers; }
};

struct Memory {
    std::vector<StageMemory> stage;
    int peak_stage = 0;
    double hbm = 0;
    [[nodiscard]] double peak() const {
        return stage.empty() ? 0 : stage[static_cast<std::size_t>(peak_stage)].total();
    }
    [[nodiscard]] bool fits() const { return peak() <= hbm; }
};

// Layers of each of pp * virtual_stages chunks in model order: the layout's own, or as even as possible with
// the first and last chunk taking the fewer. Reuses out's capacity.
void layers_of_chunks(const Plan& plan, std::vector<std::int64_t>& out);

// `in_flight`: peak micro-batches per stage (from schedule or timeline), size pp. Reuses out's capacity.
void compute_memory(const Plan& plan, const Mesh& mesh, const std::vector<double>& in_flight, Memory& out);

}  // namespace pentamesh
