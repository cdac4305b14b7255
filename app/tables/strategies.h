// A table says what each axis costs by itself, on a few GPUs.
#pragma once

#include "app/tables/table.h"
#include "core/teach/single_axis.h"

namespace pentamesh {

// Returns a table with one GPU first, then a row for each strategy; it says why where one is impossible.
[[nodiscard]] Table strategies_table(const StrategyPrices& prices);

}  // namespace pentamesh
