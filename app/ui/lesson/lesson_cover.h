// What a question hides of the page that it stands beside.
#pragma once

#include "app/ui/kit/ui.h"
#include "core/teach/veil.h"
#include "render/reworded.h"

namespace pentamesh::ui {

// The veil as the words of a place; empty where it hides nothing.
[[nodiscard]] Rewording words_under(const Veil& veil, Veil::Place place);
// In the place of a picture that would be the answer.
void draw_cover(Ui& ui, Rect room);

}  // namespace pentamesh::ui
