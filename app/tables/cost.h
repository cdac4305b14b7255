// What the whole training takes, as rows.
#pragma once

#include "app/tables/table.h"
#include "core/step/cost.h"
#include "core/step/step.h"

namespace pentamesh {

// A row for each figure that the plan gives enough for; none: an empty table. `step` null: the plan has none.
[[nodiscard]] Table cost_table(const Plan& plan, const Step* step);

}  // namespace pentamesh
