// A cluster too large for its cells: the strip of one period, enlarged, and the ladder of rungs from a node
// to the cluster.
#pragma once

#include "app/ui/kit/theme.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/mesh/view.h"

#include <cstdint>
#include <string>

namespace pentamesh::ui {

// The nodes that the innermost axes make until the first of them leaves the fast domain, about one rank.
struct Period {
    std::int64_t first_node = 0, nodes = 0;  // 0 nodes: there is no such period
    std::int64_t count = 1;                  // of them in the cluster
    GroupKind axis = GroupKind::pp;          // the one that leaves the domain
    std::string noun;                        // "replica", "stage", "cp group"
};
[[nodiscard]] Period period_of(const Scene& scene, std::int64_t rank);
// Returns all nodes of the rank's replica, or of its data-parallel rank, where they are neighbours; else
// period_of.
[[nodiscard]] Period replica_of(const Scene& scene, std::int64_t rank);

inline constexpr float kStripTile = 58;  // the largest height of a node in it
// Returns the height of a strip with nodes of this height, and of its title, which a low one lacks.
[[nodiscard]] constexpr float title_height(float tile) {
    return tile < 40 ? 0.0f : 20.0f;
}
[[nodiscard]] constexpr float strip_height(float tile) {
    return title_height(tile) + tile + 36;
}
// Returns where its nodes stand.
[[nodiscard]] Rect strip_ground(Rect room, float tile, const Period& period);
// `type` is the size of its words.
void draw_strip(Canvas& canvas, const Theme& theme, float type, Rect room, float tile, const Scene& scene,
                const Period& period);
// Returns how many groups of `tile` a node holds that are drawn as boxes of their own; 1: none, or one is all
// of it.
[[nodiscard]] std::int64_t tiles_in_node(const MeshAxis* tile, std::int64_t domain);
// Draws a node with its GPUs: a tile where the groups of `tile` are closed in it, or a box for each of them
// where it holds more than one. `rank` is marked.
void draw_node(Canvas& canvas, const Theme& theme, Rect r, const Scene& scene, std::int64_t rank,
               const MeshAxis* tile, Color color, std::int64_t node);
// Returns the cells in such a node, of its GPUs in the order of their ranks.
[[nodiscard]] CellGrid node_grid(Rect r, std::int64_t domain, std::int64_t tiles = 1);
// Returns which node of the strip is under a point, -1: none, and where the node is drawn; empty: not at all.
[[nodiscard]] std::int64_t strip_node_at(Rect room, float tile, const Period& p, Vec2 point);
[[nodiscard]] Rect strip_node(Rect room, float tile, const Period& period, std::int64_t node);
// Returns where the nodes of a period stand among the cells of a mesh.
[[nodiscard]] Rect period_rect(const Period& period, const MeshLayout& layout, const CellGrid& grid,
                               float zoom);
// Joins two edges that face each other: a to b, and c to d, in this order round.
void draw_beam(Canvas& canvas, const Theme& theme, Vec2 a, Vec2 b, Vec2 c, Vec2 d);
// Joins what is enlarged to where it is.
void draw_beam(Canvas& canvas, const Theme& theme, Rect large, Rect small);

inline constexpr std::int64_t kLadderFrom = 32768;  // GPUs

// Finds where the rungs of the chosen rank stand; none where the room is too small or the layout has no
// period inside a pod.
[[nodiscard]] MeshLadder ladder_in(Ui& ui, Rect room, const Scene& scene);
// Draws all rungs but the cluster.
void draw_ladder(Ui& ui, const Scene& scene, MeshViewState& state);
// A click on a rung picks the GPU or the node under it; the mouse over it highlights its groups.
void press_ladder(Ui& ui, Scene& scene, MeshViewState& state);

}  // namespace pentamesh::ui
