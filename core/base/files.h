// Files at the edge: read whole up to a limit, written beside and then renamed. Every failure is an Error of
// kind io that names the file.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>

namespace pentamesh {

// More than this is no plan, model or settings file: it is refused before it fills the memory.
inline constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{64} << 20;

[[nodiscard]] std::string read_file(const std::filesystem::path& path);
// The same of an open stream; `name` stands in errors.
[[nodiscard]] std::string read_stream(std::istream& in, const std::string& name);

// Whoever reads `path` meanwhile sees the old text or the new one, never a part; so does who reads it after a
// power cut. Follows links; keeps the file's mode, and its owner where the system allows it. After an Error
// the old file is whole, and nothing lies beside it. What is no plain file (a pipe, /dev/stdout) is written
// in place.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace pentamesh
