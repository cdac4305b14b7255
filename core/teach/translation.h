// Lessons and a glossary of one's own, in another language or in other words than those that ship
// (docs/lessons.md, "In another language").
#pragma once

#include "core/teach/glossary.h"

#include <string>
#include <string_view>

namespace pentamesh {

// Returns true for a tag of a language as BCP 47 writes it: "de", "pt-BR", "zh-Hant".
[[nodiscard]] bool is_language(std::string_view tag);
// Says in words that a text is no such tag.
[[nodiscard]] std::string no_language(std::string_view text);
// Returns the tag that the front matter of a lesson or a course has in its line "language:"; empty where it
// has no such line, or no tag in it.
[[nodiscard]] std::string language_of(std::string_view text);

// Returns the glossary with terms, other names and texts of an own file in the place of those of the same id.
// The names of before still find their entries; axes and kinds stay. `origin` names the file in errors.
// Throws Error (invalid) as load_glossary does, and for an id that the glossary has not.
[[nodiscard]] Glossary with_own_texts(Glossary glossary, std::string_view text, const std::string& origin);

}  // namespace pentamesh
