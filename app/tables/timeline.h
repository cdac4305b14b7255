// Tables say when each device works: by device, and every operation.
#pragma once

#include "app/tables/table.h"
#include "core/pipeline/timeline.h"

namespace pentamesh {

[[nodiscard]] Table devices_table(const Timeline& timeline);
// Returns at most `most` rows, device by device in the order in which they run.
[[nodiscard]] Table operations_table(const Timeline& timeline, std::size_t most);

}  // namespace pentamesh
