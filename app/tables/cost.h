// A table says what the whole training takes.
#pragma once

#include "app/tables/table.h"
#include "core/step/cost.h"
#include "core/step/step.h"

namespace pentamesh {

// Returns a table with a row for each figure that the plan gives enough for; without any, the table is empty.
// `step` is null where the plan has no step.
[[nodiscard]] Table cost_table(const Plan& plan, const Step* step);

}  // namespace pentamesh
