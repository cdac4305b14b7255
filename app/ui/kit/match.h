// How well does a line of a list answer what was typed?
#pragma once

#include <string_view>

namespace pentamesh::ui {

// Best first: the typed text as it stands at the start of a word, then anywhere; its words, each at the start
// of one, then anywhere; pieces of it, each the start of a word ("thli": theme light); letters that merely
// come in that order. Higher is better, -1: no match. Capitals count as small letters.
[[nodiscard]] int match_score(std::string_view typed, std::string_view text);
// From here on what was typed stands together somewhere; below are scattered letters.
inline constexpr int kTogether = 40000;

}  // namespace pentamesh::ui
