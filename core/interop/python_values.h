// Works out the plain values of a Python text: numbers, texts, True and None, and what is made of them by
// + - * // %, comparisons, `and`, `or`, `not`, `X if C else Y`. Everything else is unknown. Nothing is run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

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

// `look_up` is asked for the value of a name, dotted or not.
[[nodiscard]] PythonValue python_value(std::string_view text,
                                       const std::function<PythonValue(const std::string&)>& look_up);

}  // namespace pentamesh::interop
