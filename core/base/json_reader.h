// JSON text into a value, strictly: valid UTF-8, no duplicate keys, no comment, NaN or trailing text, bounded
// in size and depth. Errors name the file, the place in the document and the line.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pentamesh {

inline constexpr int kMostJsonLevels = 64;

// Error (invalid) with the JSON pointer of the place where reading stopped.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& path);

// One token of a JSON pointer (RFC 6901): ~ becomes ~0, / becomes ~1.
[[nodiscard]] std::string escape_token(std::string_view token);

// A value for a message: as JSON, cut to a readable length.
[[nodiscard]] std::string shown_json(const nlohmann::json& value);

}  // namespace pentamesh
