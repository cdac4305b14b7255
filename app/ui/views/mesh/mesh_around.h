// Draws what stands around the cells: the enlarged period, the legend.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/view.h"

namespace pentamesh::ui {

// Draws what `room` has place for, and returns the rest of it, which is for the cells.
[[nodiscard]] Rect draw_around(Ui& ui, Rect room, const Scene& scene, MeshViewState& state);

}  // namespace pentamesh::ui
