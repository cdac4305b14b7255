// Draws over and into the mesh's cells: colours by group, links to peers, the sentence above.
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

// Sets palette and digits of the chosen axis' groups; the group of the hovered or selected rank is
// highlighted. `grid.count` becomes the mesh's.
void color_by_groups(const Theme& theme, const Scene& scene, CellGrid& grid);
// Returns true for a large mesh if groups of the chosen axis have several members: then one group is
// highlighted and all other cells are quiet.
[[nodiscard]] bool lights_one_group(const Scene& scene);
// Draws all cells quiet, and over them the group of the GPU under the mouse, else of the selected one, else
// of rank 0.
void draw_lit_group(Canvas& canvas, const Theme& theme, const Scene& scene, CellGrid grid);
void draw_failure(Ui& ui, const Scene& scene, std::int64_t node, std::int64_t node_size,
                  const CellGrid& grid);
// Says how many groups of each axis lose a member with the node, and how many GPUs wait.
[[nodiscard]] MeshCaption failure_caption(const Scene& scene, std::int64_t node);
// If cells are smaller than kLeastMeshCell, one cell stands for a node.
void merge_small_cells(const MeshLayout& layout, CellGrid& grid);

// Draws the selected rank, its peers on every axis as links by tier, the hovered group outlined.
void draw_marks(Ui& ui, Rect area, const Scene& scene, const CellGrid& grid, bool links);
// Frames the ranks of a list that was typed.
void draw_ranks(Canvas& c, const Theme& theme, const Selection& selection, const CellGrid& grid);
[[nodiscard]] std::string rank_tooltip(const Scene& scene, std::int64_t rank);

}  // namespace pentamesh::ui
