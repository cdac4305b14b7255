// Tables say what each GPU holds: by stage, by what each axis saved, and with one strategy by itself.
#pragma once

#include "app/tables/table.h"
#include "core/memory/savings.h"
#include "core/teach/single_axis.h"
#include "core/teach/zero_rungs.h"

namespace pentamesh {

[[nodiscard]] Table memory_table(const Memory& memory);
// Returns what the fullest GPU leaves for the framework's buffers. Precondition: there are stages.
[[nodiscard]] double room_for_buffers(const Memory& memory);
// Returns a cell of a column "fits": "yes", "no" or the words of what may fit.
[[nodiscard]] std::string_view fit_cell(MemoryFit fit);
[[nodiscard]] Table savings_table(const std::vector<SavingStep>& steps);

// Returns a row for each stage of ZeRO; it says why where one is impossible.
[[nodiscard]] Table zero_table(const ZeroRungs& rungs);

// Returns a table with one GPU first, then a row for each strategy; it says why where one is impossible.
[[nodiscard]] Table strategies_table(const StrategyPrices& prices);

}  // namespace pentamesh
