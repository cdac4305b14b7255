// The verdict on the open plan over the whole window: one sentence, its reason, and five figures.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

namespace pentamesh::ui {

// Returns the height of the band in a window of that size; 0 where the window has no room for it.
[[nodiscard]] float verdict_band_height(Vec2 window);

// `covered`: a lesson asks for what the band would say, so it says nothing.
void draw_verdict_band(Ui& ui, Rect room, const Scene& scene, bool covered);

}  // namespace pentamesh::ui
