// Walks over the characters of a Python text: blanks, texts, brackets, lines.
#pragma once

#include "core/interop/script/settings.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pentamesh::interop {

// Drops blanks and newlines at both ends.
[[nodiscard]] std::string python_trimmed(std::string_view text);
// Returns true if one of the parts stands in the text.
[[nodiscard]] bool any_in(std::string_view text, std::initializer_list<std::string_view> parts);
// Return what stands behind the first dot of a name (nothing where it has none), and behind the last (all of
// it then).
[[nodiscard]] std::string_view after_first(std::string_view name);
[[nodiscard]] std::string_view leaf_of(std::string_view name);

class PythonText {
  protected:
    explicit PythonText(std::string_view text) : s_(text) {}
    ~PythonText() = default;

    // Moves past one character, and counts lines.
    void newline();
    // Skips blanks; inside brackets newlines and comments too.
    void blanks(bool inside);
    void rest_of_line();
    // Returns the name that comes next: "a.b"; empty: none does.
    std::string dotted();
    // Returns the quoted text that begins here, and moves past it.
    std::string quoted();
    // Moves past a bracket and its partner.
    void brackets();
    // Moves past a quoted text or a pair of brackets that begins here. Returns true if there was one.
    bool skip_whole();
    // Returns the text up to the character outside brackets and texts, which is passed; or to the line's end.
    std::string until(char stop);
    // Moves past the rest of the line, and past the lines that stand further right than `outside`.
    void skip_suite(int outside);
    [[nodiscard]] int column() const;

    std::string_view s_;
    std::size_t at_ = 0;
    int line_ = 1;
};

// Reads the settings of a Python configuration, which is never run: `cfg.model.tp = 8` is "cfg.model.tp"; of
// `ParallelismConfig(tp=8)` the keyword is "ParallelismConfig.tp", and "ParallelismConfig()" says that it is
// called. A function that the text has is read where it is called; settings under a condition that the text
// does not decide carry it in their name: "cfg.model.tp (if nodes > 4)".

// Returns the text of a file that another one names, "../common.sh", "a/b/c.py"; nullopt where no such file
// stands.
using OtherFile = std::function<std::optional<std::string>(const std::string& name)>;

struct PythonSettings {
    std::vector<Setting> settings;
    std::vector<std::string> recipes;  // functions of the text that return a configuration, in order
    std::string recipe;                // the one that was read; empty: none, or it has to be named
    std::string unread;  // a function that sets more, and that no text has: "set_layout (line 12)"
};

// `known`: a text of functions that are read where no other text has them.
// With several recipes and none named there are no settings. Throws Error (usage) where the text has no
// recipe of that name.
[[nodiscard]] PythonSettings read_python(std::string_view text, const std::string& path,
                                         const std::string& recipe = {}, const OtherFile& other = {},
                                         std::string_view known = {});

// Returns the text with the call of a recipe in the place of `functools.partial` of it: `partial(f,
// a=1)(b=2)`, and `make = partial(f, a=1)` where `make(b=2)` calls it, are `f(a=1, b=2)`. Lines keep their
// numbers.
[[nodiscard]] std::string without_partials(std::string_view text);

// Works out the plain values of a Python text: numbers, texts, True and None, and what is made of them by
// + - * // %, comparisons, `and`, `or`, `not`, `X if C else Y`. Everything else is unknown. Nothing is run.

struct PythonValue {
    enum class Kind : std::uint8_t { unknown, none, flag, number, text, list };
    Kind kind = Kind::unknown;
    std::int64_t number = 0;  // of a flag: 1 or 0
    std::string text;
    std::vector<PythonValue> items;
    bool operator==(const PythonValue&) const = default;
    [[nodiscard]] bool known() const { return kind != Kind::unknown; }
    [[nodiscard]] bool is_whole() const;        // known with all items, and no {a: b}
    [[nodiscard]] std::string written() const;  // "8", "True", "None", the text, "[a, b]"
};

enum class PythonTruth : std::uint8_t { no, yes, unknown };
[[nodiscard]] PythonTruth truth_of(const PythonValue& value);

// `look_up` is asked for the value of a name, dotted or not; without it every name is unknown. A list of more
// than `most_items`, with those of the lists in it, is unknown.
[[nodiscard]] PythonValue python_value(std::string_view text,
                                       const std::function<PythonValue(const std::string&)>& look_up = {},
                                       std::size_t most_items = 5'000);

// Finds the functions of a Python text, of the files that it imports, and of the recipes that are known, and
// keeps what they set.

inline constexpr int kMostPythonLevels = 60;
inline constexpr const char* kKnown = "(known)";  // the module of the recipes that are known

struct PythonParameter {
    std::string name, value;  // its default; empty: it has to be given
};
struct PythonFunction {
    std::string_view text;  // of the module
    std::string module;     // "a.b"; empty: the text itself
    std::size_t begin = 0, end = 0;
    int line = 0;
    std::vector<PythonParameter> parameters;
    std::string returns;
    [[nodiscard]] bool takes(std::string_view name) const;
};
// Returns true if the function makes a whole configuration, and needs nothing for it.
[[nodiscard]] bool is_recipe(const std::string& name, const PythonFunction& f);

// Returns the name at the end of a text, "a.b" of "1 + a.b".
[[nodiscard]] std::string callee_of(const std::string& text);
// Returns true if a call that no text has may set more of what it is handed.
[[nodiscard]] bool may_set(const std::string& callee);
// Returns what torch says of the GPU in a recipe's name: compute capability and name; empty where it is not
// known.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> device_of(const std::string& recipe);

class PythonModules : protected PythonText {
  protected:
    PythonModules(std::string_view text, const OtherFile& other) : PythonText(text), other_(other) {}
    ~PythonModules() = default;

    // Returns the value that a name has so far, a setting's too.
    [[nodiscard]] PythonValue look_up(const std::string& name) const;
    [[nodiscard]] PythonValue worked_out(std::string_view text) const;
    void put(const std::string& name, std::string text, bool quoted, int line);
    // Returns where a line of what is read stands; of a known recipe, where it is called.
    [[nodiscard]] TextPlace place_at(int line) const;
    // A second `x = Call(...)` stands in the place of the first.
    void forget_earlier(const std::string& callee_name, const std::string& target);
    // Collects the functions of a module, and which names it imports from where.
    void scan(std::string_view text, const std::string& module);
    // Reads `from a.b import (c, d as e)`: a function of that name may be read from there.
    void imports();
    // Looks for a function in the module that it is imported from; a name there may come from a third one. If
    // no module has it, it may be one of the recipes that are known.
    const PythonFunction* function_called(const std::string& name);

    PythonSettings out_;
    bool quiet_ = false;               // what is read sets nothing
    std::string guard_;                // the condition that it stands under
    std::optional<TextPlace> caller_;  // of what is read, where it is of recipes that are known
    std::map<std::string, PythonValue> locals_, globals_;
    const OtherFile& other_;
    std::deque<std::string> texts_;                            // of modules
    std::string module_;                                       // that is read
    std::map<std::string, PythonFunction> functions_, known_;  // "a.b:name"; "name"
    std::vector<std::string> in_order_;                        // functions of the text itself
    std::map<std::string, std::pair<std::string, std::string>> imported_;
    std::map<std::string, PythonValue> constants_;  // "a.b:NAME"
    std::string maker_;  // a class: what a variable of the text itself is made by it is a recipe

  private:
    void header();
    void other_name(const std::string& name, const std::string& of, int line);
    std::set<std::string> modules_;                                // that were looked for
    std::unordered_map<std::string, std::size_t> latest_, began_;  // of settings, by name
};

}  // namespace pentamesh::interop
