// The switch over the mesh: which axis' groups are highlighted, or those of all axes; of the dense mesh or
// the experts'.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

namespace pentamesh::ui {

// Draws the switch in `row`. `both`: the dense mesh and the experts' are drawn one above the other.
void axis_switch(Ui& ui, Rect row, Scene& scene, bool& both);
// Returns the width of axis_switch.
[[nodiscard]] float switch_width(Ui& ui, const Scene& scene);
// Chooses the next or the previous axis where the brackets are pressed.
void next_axis(Scene& scene);

}  // namespace pentamesh::ui
