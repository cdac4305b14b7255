// A table says what lies inside what: the levels from the cluster to a GPU, and the content of the box that a
// path ends at.
#pragma once

#include "app/tables/table.h"
#include "core/evaluate.h"
#include "core/sharding/nesting.h"

namespace pentamesh {

// Returns a table with a row for each level; where the path ends inside a GPU, one for each thing there and
// each tensor's cut.
[[nodiscard]] Table nest_table(const Plan& plan, const Evaluation& evaluation, Fold fold,
                               const NestPath& path);

}  // namespace pentamesh
