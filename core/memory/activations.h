// Sums what layers keep for their backward (core/layer/parts.h), and lists what the ends of the model keep.
// docs/memory.md has the formulas and their sources.
#pragma once

#include "core/layer/parts.h"
#include "core/memory/memory.h"

#include <cstdint>

namespace pentamesh {

// The ends of a model: its embedding, its head with the loss, and what a prediction layer has in addition to
// a whole layer.
enum class ModelEnd : std::uint8_t { embedding, head, mtp };
// Lists what an end keeps.
void list_kept(const Plan& plan, const Degrees& degrees, ModelEnd end, KeptList& out);

// Sums one layer's activations.
struct LayerSums {
    double all = 0;         // from forward to backward, where nothing is recomputed
    double kept = 0;        // the same of a layer that is recomputed
    double recomputed = 0;  // in addition, while that layer's backward runs
    double input = 0;       // of `all`: the layer's input
};
[[nodiscard]] LayerSums layer_sums(const Plan& plan, const Degrees& degrees, const KeptList& kept);
// Sums an end of the model.
[[nodiscard]] LayerSums layer_sums(const Plan& plan, const Degrees& degrees, ModelEnd end);

}  // namespace pentamesh
