// Classifies characters of the formats that are read here, for any locale.
#pragma once

#include <string_view>

namespace pentamesh {

[[nodiscard]] constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Returns true if the character may stand in a name of a shell or of Python, and begin one.
[[nodiscard]] constexpr bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
[[nodiscard]] constexpr bool is_name_char(char c) {
    return is_name_start(c) || is_digit(c);
}

// Drops blanks at both ends: spaces, tabs and carriage returns where no others are named.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view s, std::string_view blank = " \t\r") {
    const std::size_t first = s.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return s.substr(first, s.find_last_not_of(blank) - first + 1);
}

}  // namespace pentamesh
