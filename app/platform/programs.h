// Other programs of the desktop: where they are, and running one to its end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// The program's file in `path` (as PATH is written); "": it is in none of those folders.
[[nodiscard]] std::string find_program(const std::string& name, std::string_view path);

// Runs it with `input` on its standard input until it ends, at most some seconds; what it says goes nowhere.
// "", or why it failed. A program that stays (a viewer) is left running where `stays`.
[[nodiscard]] std::string run_program(const std::vector<std::string>& command, const std::string& input,
                                      bool stays = false);

}  // namespace pentamesh
