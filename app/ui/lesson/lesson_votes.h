// A room votes by raised hands: the counts are typed, and a bar stands at each option.
#pragma once

#include "app/ui/lesson/lesson_panel.h"

#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Reads "21 6 3" or "21, 6, 3"; empty where it is no list of counts.
[[nodiscard]] std::vector<int> parse_votes(std::string_view text);
// Takes the counts of so many options. Those that come after the answer stand after the first ones. Returns
// false, and says why, if they do not fit.
bool take_votes(StepState& state, std::size_t options);
// Draws the way to count, from the top of `room`, and returns the height used; with `draw` false, it only
// measures.
float draw_counting(Ui& ui, Rect room, StepState& state, std::size_t options, bool draw);
// Draws the count of one option at the right of its row.
void draw_votes(Ui& ui, Rect row, const StepState& state, std::size_t option);
// Returns the width that the counts need; 0: nobody was counted.
[[nodiscard]] float votes_width(const StepState& state);

}  // namespace pentamesh::ui
