// Reads a launch script as the shell would run it, and runs nothing: it finds which commands, with which
// arguments. Some values only a running shell knows: a command's output, a positional argument, a variable
// that nothing sets. Each stays a named unknown in the argument that it reaches.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::shell {

// This is a value that the script does not give.
struct Unknown {
    std::string what;    // "TP", "$1", "$(nproc)"
    int line = 0;        // the line that uses it first
    bool unset = false;  // nothing sets it: an empty text in a condition, as in a clean environment
};

struct Argument {
    std::string text;  // unknowns stand in it as marks: see unknown_in
    int line = 0;
};

struct Invocation {
    std::vector<Argument> words;  // the program first
    int line = 0;
};

struct Script {
    std::vector<Invocation>
        invocations;  // in the order of the run; of a branch whose condition is unknown, both sides
    std::vector<Unknown> unknowns;
    std::map<std::string, std::string, std::less<>> sbatch;  // "nodes" -> "256"
};

// Throws Error (invalid) with a line where the text is no shell script. It is bounded in time, depth and
// size.
[[nodiscard]] Script read_script(std::string_view text, const std::string& path);

// Returns the first unknown in an argument; null where its text is whole.
[[nodiscard]] const Unknown* unknown_in(const Script& script, std::string_view text);
// Returns the text with unknowns as they are written: "${TP}", "$(nproc)".
[[nodiscard]] std::string shown(const Script& script, std::string_view text);

}  // namespace pentamesh::shell
