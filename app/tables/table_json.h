// Writes a table's rows as JSON.
#pragma once

#include "app/tables/table.h"

#include <nlohmann/json.hpp>

namespace pentamesh {

// Returns an array of objects by key. Counts and bytes are integers, seconds and shares floating point.
[[nodiscard]] nlohmann::ordered_json json_rows(const Table& table);

}  // namespace pentamesh
