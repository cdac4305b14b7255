// Places a view's own controls and words: in the row of its head, or in a row of their own.
#pragma once

#include "app/ui/kit/player.h"
#include "app/ui/kit/ui.h"

#include <span>
#include <string_view>

namespace pentamesh::ui {

struct Scene;

// Returns the place for a view's own control of this width: in the head's row, or, where that is short, in a
// row of its own cut off `room`, which is the head's row then. It is squeezed only where `room` is too low
// for that.
[[nodiscard]] Rect head_place(Rect& head_row, Rect& room, float width);
// Returns the width at which segments show all of their labels, at least `least`; in a picture, which has no
// switches, that of the selected label, of the longest where none is named.
[[nodiscard]] float segments_width(Ui& ui, std::span<const std::string_view> labels, float least = 0,
                                   int selected = -1);
// Returns a row for words of this width: the rest of the head's row, or a row of its own where that is short.
[[nodiscard]] Rect head_words(Rect head_row, Rect& room, float width);
// Writes the sentence of a view: in the head's row, or as a paragraph cut off `room` where the row is too
// short and the room higher than `least_height`; else cut, with a tooltip.
void head_sentence(Ui& ui, Rect head_row, Rect& room, std::string_view words, float least_height = 150);

// Returns true if Space was pressed for what plays in `room`: the keyboard has not gone to a control that it
// presses. The mouse leaves the focus on the control it clicked last: in the room that does not choose one.
[[nodiscard]] bool takes_space(Ui& ui, Rect room, const Scene& scene);
// Lets Space play and Left and Right step, and goes on; `space`: it was taken.
void answer_player_keys(Ui& ui, const Scene& scene, Playback& played, const Film& film, bool space);

// Hatches the place of figures that a plan with errors does not have, and says which rule fails and what
// mends it.
void draw_void(Ui& ui, Rect room, const Scene& scene);

}  // namespace pentamesh::ui
