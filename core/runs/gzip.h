// Unpacks gzip in a stream, up to a limit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pentamesh::runs {

[[nodiscard]] bool is_gzip(std::string_view bytes);
// Throws Error (invalid) for a damaged or cut-off file, and for one that holds more than `most` bytes.
void unpack_gzip(std::string_view bytes, std::size_t most, std::string& out);

}  // namespace pentamesh::runs
