// The way of one token through a layer of experts, as rows: a GPU of its ep group each.
#pragma once

#include "app/tables/table.h"
#include "core/teach/token_way.h"

namespace pentamesh {

[[nodiscard]] Table token_table(const TokenWay& way);

}  // namespace pentamesh
