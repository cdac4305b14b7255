// Holds the syntax of a launch script: words, commands and control flow of the shell language, as far as
// scripts that start a training run use it. POSIX.1-2017, chapter 2, and the Bash reference manual, chapter
// 3.
#pragma once

#include "core/interop/script/shell_script.h"

#include <cstdint>
#include <memory>
#include <set>
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
    std::string index{};            // of A[INDEX]=…; empty: the whole variable
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
    bool until = false;  // of repeat: the body runs while body[0] fails
    std::string name;
    std::vector<Assignment> assignments;  // of a simple command
    std::vector<Word> words;
    std::vector<Document> documents;  // fed to it
    std::vector<Word> strings;        // <<< fed to it
    std::vector<Word> outputs{};      // files that it writes or adds to: > NAME
    std::vector<CommandPtr> body;
    std::vector<Case> cases;
};

// Throws Error (invalid) with the line where quotes or blocks do not end, and where text is nested too deep.
[[nodiscard]] CommandPtr parse(std::string_view text, const std::string& path, int first_line = 1);
// Reads a text that a word may hold: $X, ${X:-a} and $((1 + 2)) in it are read, quotes are not removed.
// In a here-document a double quote is a character, and a backslash one too but before $, ` and itself.
[[nodiscard]] Word parse_double_quoted(std::string_view text, int line, bool document = false);

// Holds variables, functions and unknown values while a script is read; expansion, tests and arithmetic share
// them.

// Inside a value an unknown is written as kUnknownBegin, its index, kUnknownEnd.
inline constexpr char kUnknownBegin = '\x02', kUnknownEnd = '\x03';
inline constexpr std::size_t kMostValueBytes = std::size_t{1} << 18;
inline constexpr std::size_t kMostElements = 20'000;

struct Variable {
    std::vector<std::string> elements;
    bool array = false;
    std::vector<std::string> keys{};  // of the elements; empty: they are 0, 1, 2 …
    bool map = false;                 // declare -A: keys are words
    bool operator==(const Variable&) const = default;
};

struct State {
    std::map<std::string, Variable, std::less<>> variables;
    std::map<std::string, CommandPtr, std::less<>> functions;
    std::vector<std::string> arguments;  // $1 …, of a function
    bool in_function = false;
};

enum class Truth : std::uint8_t { no, yes, unknown };
[[nodiscard]] constexpr Truth negated(Truth t) {
    return t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes;
}

class Expander {
  public:
    State state;
    Script script;
    std::map<std::string, std::string, std::less<>> given;  // values of unknowns
    int writes = 0;                                         // of files (keep_written)

    // Returns a mark that stands for an unknown value.
    [[nodiscard]] std::string unknown(std::string what, int line, bool unset);
    // Appends the fields that a command gets of a word: expanded, split where it is not quoted.
    void expand(const Word& word, std::vector<Argument>& out);
    // Returns the word as one text, line marks inside: an assignment stores this.
    [[nodiscard]] std::string expand_joined(const Word& word);
    // Returns the text without line marks; unknowns that are unset are empty. It is nullopt if the text holds
    // another unknown.
    [[nodiscard]] std::optional<std::string> known(std::string_view text) const;
    // Returns a here-document as its reader gets it.
    [[nodiscard]] std::string written(const Document& document, int line);
    [[nodiscard]] std::string calculate(std::string_view expression, int line);
    void assign(const Assignment& a);
    // Removes a variable, or an element of an array: "A[1]".
    void unset(const std::string& name, int line);
    [[nodiscard]] Truth test(std::vector<std::string> words);

  private:
    // Holds the texts of a parameter, and whether they are fields of their own ("${A[@]}").
    struct Looked {
        std::vector<std::string> texts;
        bool separate = false;
        bool set = false;
    };
    [[nodiscard]] Looked look_up(const Part& p, int line);
    // Returns the key that an index means; nullopt: it is not known. It is empty for a place before the
    // first.
    [[nodiscard]] std::optional<std::string> key_of(const Variable& v, const std::string& index, int line);
    [[nodiscard]] Variable list_of(const Assignment& a);
    void assign_element(const Assignment& a);
    [[nodiscard]] Looked parameter(const Part& p, int line);
    [[nodiscard]] std::string changed(const Part& p, const std::string& value, int line);
    // Returns the number that an operand comes to; an empty one is 0.
    [[nodiscard]] std::optional<std::int64_t> number_of(const Part& p, std::size_t operand, int line);
    // Returns ${A[@]:1:2} of the texts.
    [[nodiscard]] Looked slice(const Part& p, Looked looked, int line);
    // Returns what $(A=1; echo …) prints; nullopt for other commands.
    [[nodiscard]] std::optional<std::string> echoed(const std::string& source, int line);
    // Returns what a parsed text prints; `assigns`: it may set variables, which are gone behind it.
    [[nodiscard]] std::optional<std::string> printed(const Command& parsed, bool assigns);
    [[nodiscard]] std::string apart() const;    // what separates words: IFS
    [[nodiscard]] std::string between() const;  // fields of "${A[*]}": the first of IFS
    class Fields;
    void put_parts(const Word& word, Fields& fields);

    int depth_ = 0;
    int printing_calls_ = 0;  // of functions in $(…)
};

// Lines of the n-th file that a script reads in begin at n times this (place_in).
inline constexpr int kLinesOfFile = 10'000'000;

// Sets the names of a `read`: to the fields of <<< "text" or of a document behind <<EOF (its first line, with
// -d '' all of it), else to unknowns.
void read_into(Expander& x, const std::vector<Argument>& words, const Command& c);
// Sets the name of `printf -v NAME FORMAT …`, of %s and %d.
void print_into(Expander& x, const std::vector<Argument>& words);
// Keeps what `cat > ds.json <<EOF`, `tee ds.json <<EOF` and `echo '{…}' > ds.json` write.
void keep_written(Expander& x, const std::vector<Argument>& words, const Command& c);
// Reads #SBATCH --nodes=4, -N 4: a batch system sets these in the script's environment.
void read_sbatch(std::string_view text, Expander& x);
[[nodiscard]] std::string line_mark(int line);
[[nodiscard]] std::string without_line_marks(std::string_view text);
// Matches Bash patterns: * ? [a-z]. The time is bounded.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);
// Takes away the shortest or longest part of `text` that the pattern matches at its beginning or end.
[[nodiscard]] std::string trimmed(const std::string& text, const std::string& pattern, bool front,
                                  bool longest);
// Returns nullopt where it would take too long, or where Bash's versions differ.
[[nodiscard]] std::optional<std::string> replaced(const std::string& text, std::string what,
                                                  const std::string& with, bool all);

// Returns a variable after two branches of which either may be taken: a list of flags keeps the common
// beginning of both, and the names of the others; any other value is unknown.
[[nodiscard]] Variable either_of(Expander& x, const std::string& name, int line, const Variable& a,
                                 const Variable& b);
// Returns true where a command's only argument is a variable: `echo "$A"`.
[[nodiscard]] bool writes_variable(const Command& c);
// Adds the names of the variables that a command may set.
void collect_assigned(const Command& c, std::set<std::string>& names);

}  // namespace pentamesh::shell
