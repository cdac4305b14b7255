// A question hides its answer on the page next to it.
#pragma once

#include "app/ui/kit/ui.h"
#include "core/teach/veil.h"
#include "render/reworded.h"

namespace pentamesh::ui {

// Returns the rewording that hides the answer in a place; empty where nothing is hidden.
[[nodiscard]] Rewording words_under(const Veil& veil, Veil::Place place);
// Draws over the place of a picture that would be the answer.
void draw_cover(Ui& ui, Rect room);

}  // namespace pentamesh::ui
