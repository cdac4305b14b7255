// A text as part of a file's name that every system takes.
#pragma once

#include <string>
#include <string_view>

namespace pentamesh::ui {

// "Ada / Lovelace": "Ada-Lovelace". Letters, digits, '.', '_' and what is not ASCII stay, all else becomes
// one
// '-', none at either end; so long as a name may be. Empty where nothing stays.
[[nodiscard]] std::string file_stem(std::string_view text);

}  // namespace pentamesh::ui
