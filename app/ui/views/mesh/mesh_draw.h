// Draws the mesh: its cells by group, the boxes that they stand in, the lines of who talks to whom, the pods
// that a group spreads over. All of it is also drawn where nothing is pressed: in Compare, in reviews.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_layout.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pentamesh::ui {

// The groups of one rank that stand out of quiet cells: of every axis, or of the chosen one.
struct HighlightedGroups {
    bool shown = false;  // false in a small cluster, where every group is seen
    std::int64_t rank = 0;
    MeshAxes axes;
    Color quiet, own;  // of the cells that are not highlighted, of the rank's
    bool own_highlighted = false;
    [[nodiscard]] Color color_of(std::int64_t other) const;
};
[[nodiscard]] HighlightedGroups highlighted_groups(const Theme& theme, const Scene& scene);
// The ranks that a grid shows, from its first cell on.
struct RankRange {
    std::int64_t begin = 0, end = std::int64_t{1} << 40U;
};
void draw_highlighted_cells(Canvas& canvas, const Mesh& mesh, const HighlightedGroups& highlighted,
                            const CellGrid& grid, RankRange ranks = {});

// Draws the cells behind them: in high contrast as outlines, where they have room for that.
void draw_quiet_cells(Canvas& canvas, const Theme& theme, const HighlightedGroups& highlighted,
                      CellGrid cells);

// Sets palette and digits of the chosen axis' groups; the group of the hovered or selected rank is
// highlighted. `grid.count` becomes the mesh's.
void color_by_groups(const Theme& theme, const Scene& scene, CellGrid& grid);
// Hides the groups: every cell is the same.
void color_plainly(Color color, CellGrid& grid);
// If cells are smaller than kLeastGpuCell, one cell stands for a node; those of nodes below kLeastNodeCell
// stand joined; larger ones have gaps of at least a pixel, of which `scale` are in a logical one.
void merge_small_cells(const MeshLayout& layout, CellGrid& grid, float scale);

// Draws the groups that wait for a lost node, and the node.
void draw_failure(Ui& ui, const Scene& scene, std::int64_t node, std::int64_t node_size,
                  const CellGrid& grid);

// The marks of a mesh stand on this: its layout as it is seen, and the axes of its groups.
struct MeshPlace {
    const MeshLayout& layout;
    const CellGrid& grid;  // as seen, of single GPUs
    float zoom = 1;
    Rect area{};
    std::int64_t ranks = 0;  // of the mesh
    MeshAxes axes{};
    const MeshAxis* tile = nullptr;  // of `axes`: the one whose groups are tiles
    [[nodiscard]] Rect cell(std::int64_t rank) const { return cell_rect(grid, rank); }
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
void draw_highlighted_tile(Canvas& c, const MeshPlace& m, const HighlightedGroups& highlighted);
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

// Draws one line: a casing in the ground's colour, the line, and the mark of an axis at each end.
void draw_link(Canvas& canvas, Color ground, std::span<const Vec2> points, Color color, Dash dash,
               float width = 2, std::optional<GroupKind> ends = std::nullopt);
// Draws the links of every group of an axis: from cell to cell where there are few, else from node to node.
// `quiet`: thin, behind what is highlighted.
void draw_links(Ui& ui, const MeshPlace& m, const Scene& scene, const MeshAxis& axis, bool quiet);
// Draws those of the group that holds `rank`.
void draw_highlighted_links(Canvas& canvas, const Theme& theme, const MeshPlace& m, const MeshAxis& axis,
                            std::int64_t rank);

// Returns how many members of the group that holds `rank` are below rank `end`. It takes constant time.
[[nodiscard]] std::int64_t members_below(const MeshAxis& axis, std::int64_t rank, std::int64_t end);
// Returns how many of them are in [begin, end).
[[nodiscard]] inline std::int64_t members_in(const MeshAxis& axis, std::int64_t rank, std::int64_t begin,
                                             std::int64_t end) {
    return members_below(axis, rank, end) - members_below(axis, rank, begin);
}
// Returns the outermost axis whose groups cross pods; null where none does.
[[nodiscard]] const MeshAxis* crossing_pods(const MeshAxes& axes);

// "dp_shard group of rank 35, 1,024 GPUs: 24 in each of 42 pods and 16 in one"; empty where the shares are of
// more than three sizes.
[[nodiscard]] std::string spread_over_pods(const MeshAxis& axis, std::int64_t rank, std::int64_t pod,
                                           std::int64_t pods);
// "one dp_shard group: 128 GPUs in all 6 pods, 24 + 24 + 24 + 24 + 24 + 8"; of more than eight pods only
// those numbers are named that differ.
[[nodiscard]] std::string bracket_words(const MeshAxis& axis, std::int64_t rank, std::int64_t pod,
                                        std::int64_t pods);
// Writes them under the line that joins the pods, where it has room.
void name_bracket(Ui& ui, const MeshPlace& m, const HighlightedGroups& highlighted);
// Writes at each pod how many GPUs of the highlighted group it has, and joins the pods in the dots of their
// tier.
void draw_shares(Canvas& canvas, const Theme& theme, const MeshPlace& m, const HighlightedGroups& highlighted,
                 std::int64_t gpus, float type);

// GPUs in all, in a fast domain, in a pod (0 without pods), in a tile.
struct MeshInBoxes {
    std::int64_t gpus = 0, domain = 1, pod = 0, tile = 1;
    bool operator==(const MeshInBoxes&) const = default;
};
[[nodiscard]] MeshInBoxes in_boxes(const Scene& scene);
// Lays out the scene's mesh, which is drawn `zoom` times as large; its words say what a cell, a row and a box
// are.
[[nodiscard]] MeshLayout lay_out_mesh(const Scene& scene, Vec2 room, float pixel, float zoom = 1);

// Returns true if groups can be drawn. Those of an impossible plan can, up to four times as many ranks as the
// cluster has GPUs.
[[nodiscard]] bool shows_groups(const Scene& scene);
// Draws the ranks that have no GPU: the layout asks for more than the cluster has.
void draw_missing_cells(Canvas& canvas, const Theme& theme, const MeshPlace& m, const Scene& scene);
// Draws the GPUs that the layout leaves idle.
void draw_idle_cells(Canvas& canvas, const Theme& theme, const MeshPlace& m, const Scene& scene);
// Lays the scene's mesh out in a room and draws it where nothing is pressed, with its names and its words:
// the cells by their groups of the chosen axis; in a large cluster one group stands out and the rest is
// quiet.
void draw_still_mesh(Ui& ui, Rect room, const Scene& scene);

}  // namespace pentamesh::ui
