// Sums up which tensors a GPU of a pipeline stage keeps, all layers of the stage together.
#pragma once

#include "core/pipeline/stages.h"
#include "core/sharding/sharding.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pentamesh {

struct StageTensor {
    std::size_t placement = 0;  // its place in the list that was asked
    std::int64_t layers = 0;    // of the stage that have it; the embedding's and the head's count as one
    double bytes = 0;           // of all of them, on the rank that holds most
};

// Lists what a stage keeps of these placements, the largest first. What the stage has nothing of is left out.
[[nodiscard]] std::vector<StageTensor> tensors_of_stage(const Plan& plan, const Stages& stages, int stage,
                                                        std::span<const Placement> placements);

}  // namespace pentamesh
