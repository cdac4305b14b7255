// Only this file asks which operating system it runs on.
#pragma once

#include <cstddef>
#include <filesystem>

namespace pentamesh {

// Returns the running program's own file; `argv0` is taken where the system cannot say.
[[nodiscard]] std::filesystem::path executable_path(const char* argv0);
// Returns the folder for settings and unsaved work; empty where the user has no home.
[[nodiscard]] std::filesystem::path config_folder();
// Returns the user's own folder; empty where there is no such folder.
[[nodiscard]] std::filesystem::path home_folder();
// A reader that goes away, or a limit on the size of files, makes a write fail instead of ending the program.
void survive_failed_writes();
enum class StandardStream { output, error };
[[nodiscard]] bool is_terminal(StandardStream stream);
// Returns the letters of a line of the terminal that standard output is; 0 where it is no terminal.
[[nodiscard]] std::size_t terminal_width();
// Returns the CPU seconds of the calling thread.
[[nodiscard]] double thread_cpu_s();

}  // namespace pentamesh
