// Places and draws the mesh where nothing is pressed, in Compare and in reviews, as the view Mesh does.
#pragma once

#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/mesh/mesh_tiles.h"

#include <cstdint>

namespace pentamesh::ui {

// GPUs in all, in a fast domain, in a pod (0 without pods), in a tile.
struct MeshInBoxes {
    std::int64_t gpus = 0, domain = 1, pod = 0, tile = 1;
    bool operator==(const MeshInBoxes&) const = default;
};
[[nodiscard]] MeshInBoxes in_boxes(const Scene& scene);
// Lays out the scene's mesh, which is drawn `zoom` times as large; its words say what a cell, a row and a box
// are.
[[nodiscard]] MeshLayout lay_out_mesh(const Scene& scene, Vec2 room, float pixel, float zoom = 1);

// Draws the GPUs that the layout leaves idle.
// Returns true if groups can be drawn. Those of an impossible plan can, up to four times as many ranks as the
// cluster has GPUs.
[[nodiscard]] bool shows_groups(const Scene& scene);
// Draws the ranks that have no GPU: the layout asks for more than the cluster has.
void draw_missing_cells(Canvas& canvas, const Theme& theme, const MeshPlace& m, const Scene& scene);
void draw_idle_cells(Canvas& canvas, const Theme& theme, const MeshPlace& m, const Scene& scene);
// Draws boxes, and cells by their groups of the chosen axis: in a large cluster one stands out and the rest
// is quiet. `type` is the size of the pods' names.
void draw_still_mesh(Canvas& canvas, const Theme& theme, const MeshPlace& m, const Scene& scene, float type);
// Lays the scene's mesh out in a room and draws it so. Returns the layout, for its words and its extent.
MeshLayout draw_mesh_in(Canvas& canvas, const Theme& theme, Rect room, const Scene& scene, float type);

}  // namespace pentamesh::ui
