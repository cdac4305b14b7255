// Records which widgets and commands the tests have seen, and which they have used.
#pragma once

#include "app/ui/shell/shell.h"

#include <filesystem>
#include <span>
#include <string>

namespace pentamesh::ui {

// From here on the registry knows what this shell draws and runs. The shell must live until the test ends.
void watch_presses(Shell& shell);
// Returns the name of an area that was drawn since; "an unnamed area" where no such area was.
[[nodiscard]] std::string name_of_area(Id id);

// Writes one line each: "seen NAME", "pressed NAME", "command NAME", "ran NAME".
void write_presses(const std::filesystem::path& file);
// Reads NAME.txt of each name in the folder, and prints the names seen in one of them and used nowhere.
// Returns false if there are any.
[[nodiscard]] bool all_were_pressed(const std::filesystem::path& folder, std::span<const char* const> names);

}  // namespace pentamesh::ui
