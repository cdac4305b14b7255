// Holds the syntax of a launch script: words, commands and control flow of the shell language, as far as
// scripts that start a training run use it. POSIX.1-2017, chapter 2, and the Bash reference manual, chapter
// 3.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::shell {

struct Part;

// This is one word of the shell before it is split.
struct Word {
    std::vector<Part> parts;
    int line = 0;
};

enum class PartKind : std::uint8_t { literal, parameter, arithmetic, command };

struct Part {
    PartKind kind = PartKind::literal;
    bool quoted = false;  // inside quotes: not split, no pattern
    std::string text;     // the literal; the parameter's name; the expression; the command's source
    // This is for a parameter: ":-", "=", "+", "%", "##", "/", ":" (a substring), "length" ...; empty for
    // only the value.
    std::string operation;
    std::string index;  // of an array: "@", "*" or a number; empty: none
    std::vector<Word> operands;
};

struct Assignment {
    std::string name;
    bool append = false;            // +=
    bool array = false;             // the value is `elements`
    std::vector<Word> elements{1};  // one word of a scalar
    int line = 0;
};

enum class CommandKind : std::uint8_t {
    simple,
    sequence,    // body in order
    subshell,    // body[0], which leaves variables as they were
    both,        // body[0] && body[1]
    either,      // body[0] || body[1]
    negated,     // ! body[0]
    pipeline,    // every command of body
    choice,      // if: body[0] condition, body[1] then, body[2] else (may be an empty sequence)
    loop,        // for: `words` one after another into `name`, body[0]
    repeat,      // while, until, for ((;;)): body once or never, which is unknown; name: what is in (( ))
    match,       // case: words[0]; cases
    function,    // name, body[0]
    arithmetic,  // (( name ))
    test,        // [[ words ]]
};

// This is a here-document. The shell expands $X and $(…) in it unless a part of its end word is quoted.
struct Document {
    std::string text;
    bool quoted = false;
};

struct Command;
using CommandPtr = std::shared_ptr<const Command>;

// Says what follows a case that was taken: ;; ;& ;;&
enum class CaseEnd : std::uint8_t { stop, next_body, next_match };

struct Case {
    std::vector<Word> patterns;
    CommandPtr body;
    CaseEnd end = CaseEnd::stop;
};

struct Command {
    CommandKind kind = CommandKind::sequence;
    int line = 0;
    std::string name;
    std::vector<Assignment> assignments;  // of a simple command
    std::vector<Word> words;
    std::vector<Document> documents;  // fed to it
    std::vector<Word> strings;        // <<< fed to it
    std::vector<CommandPtr> body;
    std::vector<Case> cases;
};

// Throws Error (invalid) with the line where quotes or blocks do not end, and where text is nested too deep.
[[nodiscard]] CommandPtr parse(std::string_view text, const std::string& path, int first_line = 1);
// Reads a text that a word may hold: $X, ${X:-a} and $((1 + 2)) in it are read, quotes are not removed.
// In a here-document a double quote is a character, and a backslash one too but before $, ` and itself.
[[nodiscard]] Word parse_double_quoted(std::string_view text, int line, bool document = false);

}  // namespace pentamesh::shell
