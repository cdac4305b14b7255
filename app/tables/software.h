// What does the chosen software keep, reserve and reach? The figures of presets/software, with their sources.
#pragma once

#include "app/tables/table.h"
#include "core/plan/plan.h"

namespace pentamesh {

// A row for each figure, in the order of its file: what it is, its value, whether it was read or fitted, its
// source.
[[nodiscard]] Table software_table(Software software);

}  // namespace pentamesh
