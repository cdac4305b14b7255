// What differs between operating systems: the only file that asks which one it is.
#pragma once

#include <filesystem>

namespace pentamesh {

// The running program's own file; `argv0` is taken where the system cannot say.
[[nodiscard]] std::filesystem::path executable_path(const char* argv0);
// Where settings and what was not saved are kept; empty where the user has no home.
[[nodiscard]] std::filesystem::path config_folder();
// The user's own folder; empty where there is none.
[[nodiscard]] std::filesystem::path home_folder();
// A reader that goes away, or a limit on the size of files, makes a write fail instead of ending the program.
void survive_failed_writes();
// CPU seconds of the calling thread.
[[nodiscard]] double thread_cpu_s();

}  // namespace pentamesh
