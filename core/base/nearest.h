// Finds the known word closest to an unknown one, for errors that say what was probably meant.
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

}  // namespace pentamesh
