// Turns a text into a part of a file's name that every system takes.
#pragma once

#include <string>
#include <string_view>

namespace pentamesh::ui {

// Returns "Ada-Lovelace" for "Ada / Lovelace". Letters, digits, '.', '_' and characters that are not ASCII
// stay, all else becomes one '-', with none at either end; the length is limited to that of a name. It is
// empty where no character stays.
[[nodiscard]] std::string file_stem(std::string_view text);

}  // namespace pentamesh::ui
