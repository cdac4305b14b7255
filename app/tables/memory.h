// What each GPU holds: stage by stage, and what each axis saved.
#pragma once

#include "app/tables/table.h"
#include "core/memory/memory.h"

namespace pentamesh {

[[nodiscard]] Table memory_table(const Memory& memory);
[[nodiscard]] Table savings_table(const std::vector<SavingStep>& steps);

}  // namespace pentamesh
