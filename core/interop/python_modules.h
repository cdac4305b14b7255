// Finds the functions of a Python text, of the files that it imports, and of the recipes that are known, and
// keeps what they set.
#pragma once

#include "core/interop/python_text.h"
#include "core/interop/python_values.h"
#include "core/interop/read_python.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pentamesh::interop {

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
    bool quiet_ = false;  // what is read sets nothing
    std::string guard_;   // the condition that it stands under
    int outer_line_ = 0;  // that calls for what is read; 0: it stands in the text itself
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
