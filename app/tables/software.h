// A table says what the chosen software keeps, reserves and reaches: the figures of presets/software, with
// their sources.
#pragma once

#include "app/tables/table.h"
#include "core/plan/plan.h"

namespace pentamesh {

// Returns a table with a row for each figure, in the order of its file: its meaning, its value, whether it
// was read or fitted, its source.
[[nodiscard]] Table software_table(Software software);

}  // namespace pentamesh
