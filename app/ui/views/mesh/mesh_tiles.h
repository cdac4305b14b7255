// Draws the boxes that cells stand in. A group inside a fast domain is one closed tile with a contour in its
// axis' colour; a node that is no such group is a quiet frame.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_layout.h"

#include <string>

namespace pentamesh::ui {

// The marks of a mesh stand on this: its layout as it is seen, and the axes of its groups.
struct MeshPlace {
    const MeshLayout& layout;
    const CellGrid& grid;  // as seen, of single GPUs
    float zoom = 1;
    Rect area{};
    std::int64_t ranks = 0;  // of the mesh
    MeshAxes axes{};
    const MeshAxis* tile = nullptr;  // of `axes`: the one whose groups are tiles
    [[nodiscard]] Rect cell(std::int64_t rank) const {
        const Vec2 at = cell_position(grid, rank);
        return {at.x, at.y, grid.cell.x, grid.cell.y};
    }
    [[nodiscard]] Rect node(std::int64_t i) const { return box_rect(layout.node, i, grid, zoom); }
    // Returns the contour of the tile that holds a rank: a node where a tile is as large as one.
    [[nodiscard]] Rect tile_at(std::int64_t rank) const {
        const auto& boxes = layout.tile.size == layout.node.size ? layout.node : layout.tile;
        return box_rect(boxes, rank / boxes.size, grid, zoom);
    }
    // Returns how many boxes hold ranks: those behind them hold idle GPUs.
    [[nodiscard]] std::int64_t used(const MeshLayout::Boxes& boxes) const {
        return std::min(boxes.count, (ranks + boxes.size - 1) / boxes.size);
    }
    [[nodiscard]] bool merged() const;  // a cell is a node, as it is seen
};

// Draws the frames of nodes and tiles under the cells. `quiet`: contours stay behind what is highlighted.
void draw_boxes(Canvas& c, const Theme& theme, const MeshPlace& m, bool quiet);
// Draws the contour of the tile that is highlighted.
void draw_lit_tile(Canvas& c, const MeshPlace& m, const LitGroups& lit);
// After an edit the contour of a rank's tile goes from where it was to where it is, and leaves its outline.
void draw_gliding_tile(Ui& ui, const MeshPlace& m, std::int64_t rank);
// Writes the names of nodes and tiles where they have room.
void name_boxes(Ui& ui, const MeshPlace& m, const Scene& scene);
inline constexpr float kRowNames = 64;  // width left of the rows
// Returns the axis whose neighbours are the rows of a cluster: null if no axis has them, or a cell is a card.
[[nodiscard]] const MeshAxis* names_rows(const MeshAxes& axes, const MeshLayout& layout);
// Writes "stage 0", "stage 5" left of the rows, where they have room.
void name_rows(Ui& ui, const MeshPlace& m, const Scene& scene);
// Returns the frame of a pod, and its name as far as it has room: "pod 5 (1,024 of 3,072)", "pod 5", "5".
[[nodiscard]] Rect pod_rect(const MeshPlace& m, std::int64_t pod);
[[nodiscard]] std::string pod_name(const Canvas& c, const MeshPlace& m, std::int64_t pod, std::int64_t gpus,
                                   float type);
// Draws the pods and their names.
void draw_pods(Canvas& c, const Theme& theme, const MeshPlace& m, std::int64_t gpus, float type);

}  // namespace pentamesh::ui
