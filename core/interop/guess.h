// Tells by its content what a text of settings is.
#pragma once

#include "core/interop/import.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pentamesh::interop {

[[nodiscard]] bool has(std::string_view text, std::string_view what);
// Returns true if a line of the text begins with `what`, after blanks only.
[[nodiscard]] bool has_line(std::string_view text, std::string_view what);
// Returns the text without blanks and byte order mark at its beginning.
[[nodiscard]] std::string_view without_blanks(std::string_view text);
// Returns true for the arguments that Megatron prints into its log.
[[nodiscard]] bool is_argument_log(std::string_view text);
// Says how a text of Megatron's, Megatron-Bridge's or torchtitan's settings is written.
enum class TextForm : std::uint8_t { argument_log, toml, python, yaml, script };
[[nodiscard]] bool is_script(std::string_view text);
[[nodiscard]] TextForm form_of(std::string_view text, Framework framework);

}  // namespace pentamesh::interop
