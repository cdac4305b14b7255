// Says of the mesh and its ranks what its pictures show: the sentence above, a rank's tooltip, frames of
// ranks.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_layout.h"

#include <string>

namespace pentamesh::ui {

// Holds "2,048 groups of 8, all inside NVLink." and "reduce-scatter + all-gather, 4 per layer, 235 MB a step
// per GPU of stage 3".
struct MeshCaption {
    std::string bold, plain;
};
[[nodiscard]] MeshCaption mesh_caption(const Scene& scene);

// Says how many groups of each axis lose a member with the node, and how many GPUs wait.
[[nodiscard]] MeshCaption failure_caption(const Scene& scene, std::int64_t node);
// Frames the selected rank.
void draw_selected(Canvas& canvas, const Theme& theme, const Scene& scene, const CellGrid& grid);
// Frames the ranks of a list that was typed.
void draw_ranks(Canvas& c, const Theme& theme, const Selection& selection, const CellGrid& grid);
[[nodiscard]] std::string rank_tooltip(const Scene& scene, std::int64_t rank);

}  // namespace pentamesh::ui
