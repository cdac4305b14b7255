// Where a view puts its own controls and words: in the row of its head, or in a row of their own.
#pragma once

#include "app/ui/kit/ui.h"

#include <span>
#include <string_view>

namespace pentamesh::ui {

// Where a view's own control of this width goes: into the head's row, or, where that is short, into a row of
// its own cut off `room`, which is the head's row then. Squeezed only where `room` is too low for that.
[[nodiscard]] Rect head_place(Rect& head_row, Rect& room, float width);
// What segments need to show all of their labels.
[[nodiscard]] float segments_width(Ui& ui, std::span<const std::string_view> labels);
// A row for words of this width: what is left of the head's row, or one of its own where that is short.
[[nodiscard]] Rect head_words(Rect head_row, Rect& room, float width);
// What a view says in a sentence: in the head's row, or as a paragraph cut off `room` where the row is too
// short and the room higher than `least_height`; else cut, with a tooltip.
void head_sentence(Ui& ui, Rect head_row, Rect& room, std::string_view words, float least_height = 150);

}  // namespace pentamesh::ui
