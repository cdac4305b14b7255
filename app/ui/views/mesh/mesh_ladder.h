// Draws a cluster that is too large for one picture as rungs, each enlarging a part of the next: a node, the
// period of the layout, a pod, the cluster. Each says what the axes cost that end there.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/view.h"

#include <cstdint>

namespace pentamesh::ui {

inline constexpr std::int64_t kLadderFrom = 32768;  // GPUs

// Finds where the rungs of the chosen rank stand; none where the room is too small or the layout has no
// period inside a pod.
[[nodiscard]] MeshLadder ladder_in(Ui& ui, Rect room, const Scene& scene);
// Draws all rungs but the cluster.
void draw_ladder(Ui& ui, const Scene& scene, MeshViewState& state);
// A click on a rung picks the GPU or the node under it; the mouse over it highlights its groups.
void press_ladder(Ui& ui, Scene& scene, MeshViewState& state);

}  // namespace pentamesh::ui
