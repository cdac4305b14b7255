// Computes SHA-256 (FIPS 180-4): a printed page names its plan by this checksum.
#pragma once

#include <string>
#include <string_view>

namespace pentamesh {

// Returns 64 hexadecimal digits, as sha256sum prints them.
[[nodiscard]] std::string sha256_of(std::string_view bytes);

}  // namespace pentamesh
