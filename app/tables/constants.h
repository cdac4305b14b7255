// On which constants does the time model stand?
#pragma once

#include "app/tables/table.h"
#include "core/step/constants.h"

#include <vector>

namespace pentamesh {

[[nodiscard]] Table constants_table(const std::vector<Constant>& constants);

}  // namespace pentamesh
