// Says how well a line of a list answers a typed text.
#pragma once

#include <string_view>

namespace pentamesh::ui {

// The best match is the typed text as it is at the start of a word, then anywhere; then its words, each at
// the start of one, then anywhere; then pieces of it, each the start of a word ("thli": theme light); then
// letters that merely come in that order. Returns a higher number for a better match, -1 for no match.
// Capitals count as small letters.
[[nodiscard]] int match_score(std::string_view typed, std::string_view text);
// From this score on the typed text stands together somewhere; lower scores are scattered letters.
inline constexpr int kTogether = 40000;

}  // namespace pentamesh::ui
