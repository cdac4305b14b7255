// Tables say what each GPU holds: stage by stage, and what each axis saved.
#pragma once

#include "app/tables/table.h"
#include "core/memory/savings.h"

namespace pentamesh {

// Returns parameters, gradients, optimizer, activations and buffers of a stage, and their cells.
[[nodiscard]] std::vector<Table::Column> category_columns(Shown shown);
[[nodiscard]] std::vector<std::string> category_cells(const StageMemory& stage);
[[nodiscard]] Table memory_table(const Memory& memory);
// Returns a cell of a column "fits": "yes", "no" or the words of what may fit.
[[nodiscard]] std::string_view fit_cell(MemoryFit fit);
[[nodiscard]] Table savings_table(const std::vector<SavingStep>& steps);

}  // namespace pentamesh
