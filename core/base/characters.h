// Classifies characters of the formats that are read here, for any locale.
#pragma once

#include <string_view>

namespace pentamesh {

[[nodiscard]] constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Drops spaces, tabs and carriage returns at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view s) {
    constexpr std::string_view kBlank = " \t\r";
    const std::size_t first = s.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return s.substr(first, s.find_last_not_of(kBlank) - first + 1);
}

}  // namespace pentamesh
