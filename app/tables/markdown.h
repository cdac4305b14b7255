// Writes words of a plan or a file into Markdown.
#pragma once

#include <string>
#include <string_view>

namespace pentamesh {

// Returns a sentence in which no letter is a mark of Markdown.
[[nodiscard]] std::string markdown_text(std::string_view words);

}  // namespace pentamesh
