// Files at the edge: read whole, written anew and then renamed, every failure an Error of kind io that names
// the file.
#pragma once

#include <string>
#include <string_view>

namespace pentamesh {

[[nodiscard]] std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view text);

}  // namespace pentamesh
