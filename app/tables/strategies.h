// What does each axis cost alone, on a few GPUs?
#pragma once

#include "app/tables/table.h"
#include "core/teach/single_axis.h"

namespace pentamesh {

// One GPU first, then a row for each strategy; why not, where it is impossible.
[[nodiscard]] Table strategies_table(const StrategyPrices& prices);

}  // namespace pentamesh
