// The whole program runs here: it finds the command, runs it, turns every error into a message and an exit
// status.
#pragma once

#include "app/cli/commands.h"

#include <string>
#include <vector>

namespace pentamesh::cli {

int run(int argc, char** argv);

// Runs one command line and returns its exit status; it does not throw. `window`: no command opens the
// window.
[[nodiscard]] int run_words(Context& context, std::vector<std::string> words, bool window);

// Describes the program, then each of its commands.
[[nodiscard]] std::vector<CommandInfo> describe_commands();

}  // namespace pentamesh::cli
