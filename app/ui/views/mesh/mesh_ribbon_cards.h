// Draws the ranks of a fold in their nodes: which piece of a weight each has, and the wires between them.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_axes.h"

#include <string>

namespace pentamesh::ui {

// One fold of the ranks.
struct RibbonSide {
    const Plan& plan;
    const Evaluation& evaluation;
    bool experts = false;          // the experts' mesh
    const Mesh* before = nullptr;  // where the pieces lay before; null: nowhere else
    std::string title;
};

[[nodiscard]] float wire_width(double bytes);
// Draws the pieces of all ranks where these are few, else a group of each axis.
void draw_pieces(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, const MeshAxes& axes);

}  // namespace pentamesh::ui
