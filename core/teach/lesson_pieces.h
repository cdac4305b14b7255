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

// Reads the same, where a comma between brackets or quotes belongs to its part: a=["x","y"], b=2.
[[nodiscard]] std::vector<std::string> split_values(std::string_view text);
// Returns a text as it is read on the screen, or on paper: of "[[Click it.|Mark it.]]" one form stays.
[[nodiscard]] std::string on_screen(std::string_view text);
[[nodiscard]] std::string on_paper(std::string_view text);
// Returns true if each "[[" of a text has its "|" and its "]]".
[[nodiscard]] bool has_whole_forms(std::string_view text);
// Reads "POINTER = VALUE" as "POINTER=VALUE": blanks about the sign are the author's. The text is empty where
// the line has another form.
[[nodiscard]] std::string pointer_value(std::string_view text);

// Returns how the plan's panel names a field: "ZeRO" for "layout.zero", "dp_shard" for an axis.
[[nodiscard]] std::string panel_name(std::string_view pointer);

struct KeyValue {
    std::string_view key, value;
};
// Reads "key: value" with a lower-case word before the colon.
[[nodiscard]] std::optional<KeyValue> key_value(std::string_view line);

}  // namespace pentamesh
