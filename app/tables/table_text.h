// Writes tables as aligned text, as wide as there is room.
#pragma once

#include "app/tables/table.h"

#include <cstddef>
#include <string>

namespace pentamesh {

// Writes aligned text whose words wrap where a line would have more than `limit` letters, as far as that
// goes: neither a number nor a word is cut. 0: no limit.
[[nodiscard]] std::string write_text(const Table& t, std::size_t limit);

}  // namespace pentamesh
