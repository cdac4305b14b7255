// Finds the known word closest to an unknown one, for errors that say what was probably meant, and shows text
// out of files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Returns the number of insertions, deletions and replacements of one character that turn a into b; a swap of
// neighbours counts one (optimal string alignment). Letters' case costs nothing.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the known word of least distance, the first of several; empty where `known` is.
[[nodiscard]] std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

// Returns a value out of a file for a message: cut to a readable length, control characters replaced.
[[nodiscard]] std::string shown_text(std::string_view text);

// Returns a text out of a file as it is shown: a character of control, which a terminal would obey, and one
// that turns the direction of writing is named ("<U+001B>"), a byte that is no UTF-8 is U+FFFD. Line breaks
// and tabs stay.
[[nodiscard]] std::string printable(std::string_view text);
// Does the same for a JSON text, by its own escapes: the values stay.
[[nodiscard]] std::string printable_json(std::string_view json);

}  // namespace pentamesh
