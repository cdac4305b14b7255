// The verdict on the open plan over the whole window: one sentence, its reason, and five figures.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

namespace pentamesh::ui {

// Returns the height of the band in a window of that size; 0 where the window has no room for it.
[[nodiscard]] float verdict_band_height(Vec2 window);

// `covered`: a lesson asks for what the band would say, so it says nothing.
void draw_verdict_band(Ui& ui, Rect room, const Scene& scene, bool covered);

// The mark of a severity or a verdict: a square is bad, a triangle is a warning, a disc is good or a notice.
void verdict_mark(Canvas& c, Vec2 at, Color color, int corners, float r);

}  // namespace pentamesh::ui
