// The page `fold`: the ranks as a ribbon that each factor folds, where the pieces of a weight lie then, and
// what the wires between them cost.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_axes.h"

#include <string>

namespace pentamesh::ui {

struct KeptPlan;

// `before`, null or a possible plan with as many ranks, stands at the left, and each piece that lay elsewhere
// there says where. Without it the experts' fold stands next to that of the dense layers.
void draw_ribbon(Ui& ui, Rect room, const Scene& scene, const KeptPlan* before);

// One fold of the ranks.
struct RibbonSide {
    const Plan& plan;
    const Evaluation& evaluation;
    bool experts = false;              // the experts' mesh
    const KeptPlan* before = nullptr;  // A, where the pieces lay before; null: it is not compared
    std::string title;
    bool open = true;  // it is the open plan: after an edit its pieces move

    [[nodiscard]] const EnumArray<Axis, Factor>& factors(const Mesh& mesh) const {
        return experts ? mesh.expert : mesh.dense;
    }
};

[[nodiscard]] float wire_width(double bytes);
// Draws the pieces of all ranks where these are few, else a group of each axis.
void draw_pieces(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, const MeshAxes& axes);

}  // namespace pentamesh::ui
