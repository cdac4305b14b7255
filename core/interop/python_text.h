// Walks over the characters of a Python text: blanks, texts, brackets, lines.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

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

}  // namespace pentamesh::interop
