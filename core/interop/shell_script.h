// Reads a launch script as the shell would run it, and runs nothing: it finds which commands, with which
// arguments. Some values only a running shell knows: a command's output, a positional argument, a variable
// that nothing sets. Each stays a named unknown in the argument that it reaches.
#pragma once

#include <functional>
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
    // Variables that launchers read their processes from: NPROC_PER_NODE, NNODES.
    std::map<std::string, std::string, std::less<>> environment{};
};

struct Script {
    std::vector<Invocation>
        invocations;  // in the order of the run; of a branch whose condition is unknown, both sides
    std::vector<Unknown> unknowns;
    std::map<std::string, std::string, std::less<>> sbatch;  // "nodes" -> "256"
    std::vector<int> sources;  // the lines of commands that read another file in
    std::string unread;        // the first such file that is not there: "source a.sh (line 3)"
};

// Holds what a script does not say and its user does: "TP" or "$1" to a value.
struct Given {
    std::map<std::string, std::string, std::less<>> values{};
    std::vector<std::string> arguments{};  // $1 …; empty: none are given
    std::function<std::optional<std::string>(const std::string& name)> file{};  // what `source` reads
};

// Throws Error (invalid) with a line where the text is no shell script. It is bounded in time, depth and
// size.
[[nodiscard]] Script read_script(std::string_view text, const std::string& path, const Given& given = {});

// Returns true for a text whose first line, #!, names a program that is not Python.
[[nodiscard]] bool begins_as_script(std::string_view text);

// Returns the line of the script itself: of a file that it reads in, the one where it does.
[[nodiscard]] int own_line(const Script& script, int line);

// Returns the first unknown in an argument; null where its text is whole.
[[nodiscard]] const Unknown* unknown_in(const Script& script, std::string_view text);
// Returns the unknown that is the whole text, or null.
[[nodiscard]] const Unknown* sole_unknown_in(const Script& script, std::string_view text);
// Returns the text with unknowns as they are written: "${TP}", "$(nproc)".
[[nodiscard]] std::string shown(const Script& script, std::string_view text);

}  // namespace pentamesh::shell
