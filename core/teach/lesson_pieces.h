// Reads pieces of a lesson's lines: numbers, lists, "key: value".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Returns false if the text is not exactly one integer.
[[nodiscard]] bool parse_integer(std::string_view text, std::int64_t& out);
// Reads "10 %" or "0.1" of the answer.
[[nodiscard]] bool parse_tolerance(std::string_view text, double& out);
// Reads "a, b": the parts between commas, without empty ones.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

struct KeyValue {
    std::string_view key, value;
};
// Reads "key: value" with a lower-case word before the colon.
[[nodiscard]] std::optional<KeyValue> key_value(std::string_view line);

}  // namespace pentamesh
