// The verdict on the open plan over the whole window: one sentence, its reason, and five figures.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/explain/published.h"

#include <optional>

namespace pentamesh::ui {

// Returns the height of the band in a window of that size; 0 where the window has no room for it.
[[nodiscard]] float verdict_band_height(Vec2 window);

// `covered`: a lesson asks for what the band would say, so it says nothing. `measured`: what a published run
// that is this very plan measured.
void draw_verdict_band(Ui& ui, Rect room, const Scene& scene, bool covered,
                       const std::optional<MeasuredMfu>& measured);

}  // namespace pentamesh::ui
