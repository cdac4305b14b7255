// What lies inside what? The levels from the cluster to a GPU, and what is inside the box that a path ends
// at.
#pragma once

#include "app/tables/table.h"
#include "core/evaluate.h"
#include "core/sharding/nesting.h"

namespace pentamesh {

// A row for each level; where the path ends inside a GPU, one for each thing there and each tensor's cut.
[[nodiscard]] Table nest_table(const Plan& plan, const Evaluation& evaluation, Fold fold,
                               const NestPath& path);

}  // namespace pentamesh
