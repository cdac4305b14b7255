// The page `fold`: the ranks as a ribbon that each factor folds, where the pieces of a weight lie then, and
// what the wires between them cost.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

namespace pentamesh::ui {

struct KeptPlan;

// `before`, null or a possible plan with as many ranks, stands at the left, and each piece that lay elsewhere
// there says where. Without it the experts' fold stands next to that of the dense layers.
void draw_ribbon(Ui& ui, Rect room, const Scene& scene, const KeptPlan* before);

}  // namespace pentamesh::ui
