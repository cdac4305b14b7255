// Which widgets and commands the tests have seen, and which they have used.
#pragma once

#include "app/ui/shell/shell.h"

#include <filesystem>
#include <span>
#include <string>

namespace pentamesh::ui {

// From here on the registry knows what this shell draws and runs. The shell must outlive no test.
void watch_presses(Shell& shell);
// The name of an area that was drawn since; "an unnamed area" where none was.
[[nodiscard]] std::string name_of_area(Id id);

// One line each: "seen NAME", "pressed NAME", "command NAME", "ran NAME".
void write_presses(const std::filesystem::path& file);
// Reads NAME.txt of each name in the folder, and prints what was seen in one of them and used in none. False:
// there is such.
[[nodiscard]] bool all_were_pressed(const std::filesystem::path& folder, std::span<const char* const> names);

}  // namespace pentamesh::ui
