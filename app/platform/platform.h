// This program sees its surroundings here: the operating system, the environment, other programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

// Returns a variable of the environment; "" where it is not set.
[[nodiscard]] std::string environment(const char* variable);

// Returns the program's file in `path` (as PATH is written); "" where none of those folders has it.
[[nodiscard]] std::string find_program(const std::string& name, std::string_view path);

// A started program reads and writes these: ends of pipes that its caller closes, -1 for /dev/null.
struct ProgramStreams {
    int in = -1, out = -1, error = -1;
};
struct StartedProgram {
    int process = -1;  // -1: it was not started
    int error = 0;     // errno's value then
};
// Starts it and does not wait: its caller does. The program receives signals that this one ignores.
[[nodiscard]] StartedProgram start_program(const std::vector<std::string>& command, ProgramStreams streams);

// Runs it with `input` on its standard input until it ends, at most some seconds; its output is dropped.
// Returns "", or why it failed. With `stays`, a program that does not end (a viewer) is left running.
[[nodiscard]] std::string run_program(const std::vector<std::string>& command, const std::string& input,
                                      bool stays = false);

}  // namespace pentamesh
