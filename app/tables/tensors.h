// Tables say where tensors are: the placement of each, and the boxes in boxes from the cluster to a tensor.
#pragma once

#include "app/tables/table.h"
#include "core/evaluate.h"
#include "core/sharding/nesting.h"
#include "core/sharding/sharding.h"

#include <cstdint>
#include <span>

namespace pentamesh {

// Returns "8,192 × 1,024"; dimensions that a tensor lacks are left out.
[[nodiscard]] std::string shape_text(const Placement& placement, const std::array<std::int64_t, 3>& sizes);
[[nodiscard]] Table tensors_table(std::span<const Placement> placements);

// One rank holds this of each tensor: its placement on every axis that the mesh uses, its range and its
// bytes.
struct HeldTensor {
    const Placement& placement;
    const Part& part;
};
[[nodiscard]] Table held_table(const Mesh& mesh, std::int64_t rank, std::span<const HeldTensor> tensors);

// Returns a table with a row for each level; where the path ends inside a GPU, one for each thing there and
// each tensor's cut.
[[nodiscard]] Table nest_table(const Plan& plan, const Evaluation& evaluation, Fold fold,
                               const NestPath& path);

}  // namespace pentamesh
