// Draws the line at the bottom of the window: its figures, or what mouse and keys do.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/scene.h"
#include "core/explain/published.h"

#include <optional>

namespace pentamesh::ui {

// Draws a count of errors and warnings that opens their layer; a picture has no `state`, and nothing opens.
// `figures` is false where the verdict band has them: the line then says what mouse and keys do.
void draw_status(Ui& ui, Rect room, const Scene& scene, double evaluate_s, InspectorState* state,
                 bool covered = false, bool figures = true);

// Draws the verdict on the open plan over the whole window: one sentence, its reason, and five figures.
// Returns the height of the band in a window of that size; 0 where the window has no room for it.
[[nodiscard]] float verdict_band_height(Vec2 window);

// `covered`: a lesson asks for what the band would say, so it says nothing. `measured`: what a published run
// that is this very plan measured.
void draw_verdict_band(Ui& ui, Rect room, const Scene& scene, bool covered,
                       const std::optional<MeasuredMfu>& measured);

}  // namespace pentamesh::ui
