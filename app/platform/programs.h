// What surrounds this program: its environment, and other programs of the desktop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// A variable of the environment; "": not set.
[[nodiscard]] std::string environment(const char* variable);

// The program's file in `path` (as PATH is written); "": it is in none of those folders.
[[nodiscard]] std::string find_program(const std::string& name, std::string_view path);

// What a started program reads and writes: ends of pipes that its caller closes, -1 for /dev/null.
struct ProgramStreams {
    int in = -1, out = -1, error = -1;
};
struct StartedProgram {
    int process = -1;  // -1: it was not started
    int error = 0;     // errno's value then
};
// Starts it and does not wait: its caller does. Signals that this program ignores, it does not.
[[nodiscard]] StartedProgram start_program(const std::vector<std::string>& command, ProgramStreams streams);

// Runs it with `input` on its standard input until it ends, at most some seconds; what it says goes nowhere.
// "", or why it failed. A program that stays (a viewer) is left running where `stays`.
[[nodiscard]] std::string run_program(const std::vector<std::string>& command, const std::string& input,
                                      bool stays = false);

}  // namespace pentamesh
