// A table of the constants on which the time model rests.
#pragma once

#include "app/tables/table.h"
#include "core/step/constants.h"

#include <vector>

namespace pentamesh {

[[nodiscard]] Table constants_table(const std::vector<Constant>& constants);

}  // namespace pentamesh
