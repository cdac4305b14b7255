// Reads JSON text into a value, strictly: valid UTF-8, no duplicate keys, no comment, NaN or trailing text,
// bounded in size and depth. Errors name the file, the place in the document and the line.
#pragma once

#include "core/base/files.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh {

inline constexpr int kMostJsonLevels = 64;

// Throws Error (invalid) with the JSON pointer of the place where reading stopped.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& path);
// Reads the same texts, where one that is no JSON is expected.
[[nodiscard]] std::optional<nlohmann::json> try_parse_json(std::string_view text);

// Returns one token of a JSON pointer (RFC 6901): ~ becomes ~0, / becomes ~1.
[[nodiscard]] std::string escape_token(std::string_view token);

// Follows the Unicode Standard 15, table 3-7.
[[nodiscard]] bool is_utf8(std::string_view text);
// Returns the text with U+FFFD for each byte that is no UTF-8; the same text where all of it is.
[[nodiscard]] std::string as_utf8(std::string_view text);

// Returns a value for a message: as JSON, cut to a readable length.
[[nodiscard]] std::string shown_json(const nlohmann::json& value);

}  // namespace pentamesh
