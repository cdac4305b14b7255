// A line of text may not end at every blank.
#pragma once

#include <cstddef>
#include <string_view>

namespace pentamesh {

// Returns true if the blank at this place of a text stands between a number and its unit: "7.25 s", "38 %".
[[nodiscard]] bool before_unit(std::string_view text, std::size_t blank);

}  // namespace pentamesh
