// Reads and writes files at the edge: read whole up to a limit, written under another name and then renamed.
// Every failure is an Error of kind io that names the file.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh {

// A larger file is no plan, model or settings file: it is refused before it fills the memory.
inline constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{64} << 20;

[[nodiscard]] std::string read_file(const std::filesystem::path& path);
// Reads into `text`, whose memory it keeps. Returns what is wrong, in words; empty: all of it is there.
[[nodiscard]] std::string try_read_file(const std::filesystem::path& path, std::uintmax_t most_bytes,
                                        std::string& text);
// Returns nullopt where it cannot be read, and nobody asks why.
[[nodiscard]] std::optional<std::string> try_read_file(const std::filesystem::path& path);
// Reads an open stream in the same way; `name` is used in errors.
[[nodiscard]] std::string read_stream(std::istream& in, const std::string& name);

// A reader of `path` sees the old text or the new one, never a part, also after a power cut. Follows links;
// keeps the file's mode, and its owner where the system allows it. After an Error the old file is whole, and
// no new file is left. A path that is no plain file (a pipe, /dev/stdout) is written in place.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace pentamesh
