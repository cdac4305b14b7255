// Colours the mesh's cells: by group, quiet with one rank's groups highlighted, or by what a lost node takes
// along.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_layout.h"

#include <cstdint>

namespace pentamesh::ui {

// The groups of one rank that stand out of quiet cells: of every axis, or of the chosen one.
struct LitGroups {
    bool shown = false;  // false in a small cluster, where every group is seen
    std::int64_t rank = 0;
    MeshAxes axes;
    Color quiet, own;  // of the cells that are not highlighted, of the rank's
    bool own_lit = false;
    [[nodiscard]] Color color_of(std::int64_t other) const;
};
[[nodiscard]] LitGroups lit_groups(const Theme& theme, const Scene& scene);
// The ranks that a grid shows, from its first cell on.
struct RankRange {
    std::int64_t begin = 0, end = std::int64_t{1} << 40U;
};
void draw_lit_cells(Canvas& canvas, const Mesh& mesh, const LitGroups& lit, const CellGrid& grid,
                    RankRange ranks = {});

// Sets palette and digits of the chosen axis' groups; the group of the hovered or selected rank is
// highlighted. `grid.count` becomes the mesh's.
void color_by_groups(const Theme& theme, const Scene& scene, CellGrid& grid);
// Does the same for a page, where an axis of one rank has plain cells: it has no groups to tell apart.
void color_by_groups_on_page(const Theme& theme, const Scene& scene, CellGrid& grid);
// Hides the groups: every cell is the same.
void color_plainly(Color color, CellGrid& grid);
// If cells are smaller than kLeastGpuCell, one cell stands for a node; those of nodes below kLeastNodeCell
// stand joined.
void merge_small_cells(const MeshLayout& layout, CellGrid& grid);

// Draws the groups that wait for a lost node, and the node.
void draw_failure(Ui& ui, const Scene& scene, std::int64_t node, std::int64_t node_size,
                  const CellGrid& grid);

}  // namespace pentamesh::ui
