// The pages that decide are made of these parts.
#pragma once

#include "app/ui/review/pages.h"

#include <string>

namespace pentamesh::ui {

inline constexpr float kBetweenParts = 0.9f;  // in lines

// Draws the reason below a title, with the sign of a plan's verdict in front of it; null: of no plan.
void draw_verdict(ReviewSheet& sheet, const Evaluation* of, const std::string& reason);
// Returns what a part of the step is called where norms and attention are joined.
[[nodiscard]] std::string part_name(const StepSlice& slice);
// Draws the strip of the mesh, and what each axis costs, so many lines below what stands above.
void draw_where(ReviewSheet& sheet, const Reviewed& of, float above = 0);
// Draws what was tried, one change each: by how much it makes the step shorter or longer, and what the
// fullest GPU then holds. Precondition: the first plan has a step.
[[nodiscard]] float tried_height(ReviewSheet& sheet, float width, const ReviewContent& content);
void draw_tried(ReviewSheet& sheet, Rect room, const ReviewContent& content);
// Draws what is open with the plan that is taken, and room for a decision, where the page has room for it.
void draw_open(ReviewSheet& sheet, const ReviewContent& content);
// Draws where the step goes, what else was tried and what is open in all that is left of the page. Returns
// false if some of the author's words had no room.
bool draw_columns(ReviewSheet& sheet, const ReviewContent& content, const SearchResult* proposed);

}  // namespace pentamesh::ui
