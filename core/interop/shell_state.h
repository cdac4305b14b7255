// Holds variables, functions and unknown values while a script is read; expansion, tests and arithmetic share
// them.
#pragma once

#include "core/interop/shell_script.h"
#include "core/interop/shell_syntax.h"

#include <cstdint>
#include <set>
#include <string>

namespace pentamesh::shell {

// Inside a value an unknown is written as kUnknownBegin, its index, kUnknownEnd.
inline constexpr char kUnknownBegin = '\x02', kUnknownEnd = '\x03';
inline constexpr std::size_t kMostValueBytes = std::size_t{1} << 18;
inline constexpr std::size_t kMostElements = 20'000;

struct Variable {
    std::vector<std::string> elements;
    bool array = false;
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
    [[nodiscard]] Truth test(std::vector<std::string> words);

  private:
    // Holds the texts of a parameter, and whether they are fields of their own ("${A[@]}").
    struct Looked {
        std::vector<std::string> texts;
        bool separate = false;
        bool set = false;
    };
    [[nodiscard]] Looked look_up(const Part& p, int line);
    [[nodiscard]] Looked parameter(const Part& p, int line);
    [[nodiscard]] std::string changed(const Part& p, const std::string& value, int line);
    // Returns the number that an operand comes to; an empty one is 0.
    [[nodiscard]] std::optional<std::int64_t> number_of(const Part& p, std::size_t operand, int line);
    // Returns ${A[@]:1:2} of the texts.
    [[nodiscard]] Looked slice(const Part& p, Looked looked, int line);
    // Returns what $(A=1; echo …) prints; nullopt for other commands.
    [[nodiscard]] std::optional<std::string> echoed(const std::string& source, int line);
    [[nodiscard]] std::string between() const;  // fields of "${A[*]}": the first of IFS
    class Fields;
    void put_parts(const Word& word, Fields& fields);

    int depth_ = 0;
};

// Lines of the n-th file that a script reads in begin at n times this (own_line).
inline constexpr int kLinesOfFile = 10'000'000;

// Sets the names of a `read`: to the fields of <<< "text", else to unknowns.
void read_into(Expander& x, const std::vector<Argument>& words, const Command& c);
// Sets the name of `printf -v NAME FORMAT …`, of %s and %d.
void print_into(Expander& x, const std::vector<Argument>& words);
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
