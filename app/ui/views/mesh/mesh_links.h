// Draws who talks to whom as lines in the gaps between cells and nodes. How a line is dashed says which tier
// it crosses.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_tiles.h"

#include <optional>
#include <span>

namespace pentamesh::ui {

// Draws one line: a casing in the ground's colour, the line, and the mark of an axis at each end.
void draw_link(Canvas& canvas, Color ground, std::span<const Vec2> points, Color color, Dash dash,
               float width = 2, std::optional<GroupKind> ends = std::nullopt);
// Draws the links of every group of an axis: from cell to cell where there are few, else from node to node.
// `quiet`: thin, behind what is highlighted.
void draw_links(Ui& ui, const MeshPlace& m, const Scene& scene, const MeshAxis& axis, bool quiet);
// Draws those of the group that holds `rank`.
void draw_lit_links(Canvas& canvas, const Theme& theme, const MeshPlace& m, const MeshAxis& axis,
                    std::int64_t rank);

}  // namespace pentamesh::ui
