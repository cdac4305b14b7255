// The axes of the mesh that is shown, and what their groups are like: where they lie, what they cost.
#pragma once

#include "app/ui/scene/scene.h"
#include "core/mesh/mesh.h"
#include "render/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct MeshAxis {
    GroupKind kind = GroupKind::tp;
    std::int64_t degree = 1;
    GroupFactors factors{};
    int tier = 0;  // the slowest that its groups cross
    Color color{};
    TierMark mark{};         // of that tier
    bool elsewhere = false;  // its groups are of the mesh that is not drawn: dense layers' or experts'
    [[nodiscard]] bool inside() const { return tier == 0; }
    [[nodiscard]] std::int64_t stride() const { return factors.factor[0].stride; }
    // Returns the i-th member of the group that begins with `first`, ascending.
    [[nodiscard]] std::int64_t member(std::int64_t first, std::int64_t i) const {
        for (const Factor& f : factors.span()) first += i % f.size * f.stride, i /= f.size;
        return first;
    }
    // Returns the first rank of a rank's group.
    [[nodiscard]] std::int64_t first_of(std::int64_t rank) const {
        std::int64_t first = rank;
        for (const Factor& f : factors.span()) first -= rank / f.stride % f.size * f.stride;
        return first;
    }
    // Returns the place of a rank in its group.
    [[nodiscard]] std::int64_t place_of(std::int64_t rank) const {
        std::int64_t at = 0, of = 1;
        for (const Factor& f : factors.span()) at += rank / f.stride % f.size * of, of *= f.size;
        return at;
    }
};

// Returns the axis whose groups are of this kind.
[[nodiscard]] MeshAxis mesh_axis(const Theme& theme, const Plan& plan, const Evaluation& evaluation,
                                 GroupKind kind);

// The axes with more than one rank, innermost first. It holds no list on the heap: a frame asks for it.
struct MeshAxes {
    std::array<MeshAxis, 5> axis{};
    std::size_t count = 0;
    [[nodiscard]] std::span<const MeshAxis> span() const& { return {axis.data(), count}; }
    void span() const&& = delete;
};
[[nodiscard]] MeshAxes axes_of(const Theme& theme, const Plan& plan, const Evaluation& evaluation,
                               bool expert);
[[nodiscard]] inline MeshAxes axes_of(const Theme& theme, const Scene& scene) {
    return axes_of(theme, scene.plan, scene.evaluation, scene.selection.expert());
}
// Returns how many GPUs with neighbouring ranks form one closed group inside a fast domain; 1 where none do.
// It is a property of the mesh, not of the axis that is highlighted.
[[nodiscard]] std::int64_t tile_of(const Plan& plan, const Evaluation& evaluation, bool expert);
// The axis of those groups: the first of `axes`, or null.
[[nodiscard]] const MeshAxis* tile_axis(const MeshAxes& axes, std::int64_t tile);

// Holds the costs of one kind of groups, for a GPU and a step.
struct AxisCost {
    double bytes = 0, time_s = 0, waits_s = 0, step_s = 0;
    [[nodiscard]] double share() const { return step_s > 0 ? waits_s / step_s : 0; }
};
[[nodiscard]] AxisCost cost_of(const Evaluation& evaluation, GroupKind kind);
// Sums all kinds that have the groups of the axis: dp is dp_replicate where nothing is sharded.
[[nodiscard]] AxisCost cost_of(const Evaluation& evaluation, const MeshAxis& axis);
// Says why an axis has no bytes. What weight shards send is not counted; other calls are those of all of dp.
[[nodiscard]] std::string_view words_without_bytes(GroupKind kind);

// Returns the axes of the shown mesh, and all other groups that send something.
[[nodiscard]] std::vector<MeshAxis> axes_that_send(const Theme& theme, const Scene& scene);

// Places each GPU's cell: cells in their fast domain's box, boxes in their pod's, pods side by side, as large
// as the room allows.

// Cells of GPUs that would be smaller are drawn as whole nodes, in pixels.
inline constexpr float kLeastGpuCell = 7;
// Nodes that would be smaller stand joined: those above each other, then those next to each other.
inline constexpr Vec2 kLeastNodeCell{3, 3};
// From these sizes a cell has room for its rank, and for what the GPU holds.
inline constexpr Vec2 kNumberedCell{22, 18}, kSmallCard{40, 32}, kCard{96, 80};
inline constexpr std::int64_t kMostCards = 64;  // in larger clusters no cell becomes a card

struct MeshLayout {
    CellGrid grid;              // place only: levels, origin, cell; count = GPUs of the cluster
    struct Boxes {              // one level of nested boxes: tiles, fast domains, pods
        std::int64_t size = 1;  // GPUs in a full box
        std::int64_t count = 1;
        Vec2 padding;  // from a box's corner to its first cell
        Vec2 full;     // size of a full box, padding included
    };
    Boxes tile, node, pod;  // a tile of one GPU: there are none
    bool has_pods = false;
    bool merged = false;         // at zoom 1 a cell is a node
    std::string words;           // what a row and a box are; empty: nothing is known of them
    std::int64_t row_nodes = 1;  // nodes of a pod in a row
    Vec2 node_gap;               // between two nodes
    float tile_head = 0;         // room for a name over a tile's cells
    // Nodes are too small to be seen one by one at zoom 1.
    [[nodiscard]] bool joined() const {
        return merged && (node.full.x < kLeastNodeCell.x || node.full.y < kLeastNodeCell.y);
    }
    Vec2 extent;  // of everything, at zoom 1
};
// A length of a row, in fast domains, at which the layout's groups repeat.
struct RowPeriod {
    std::int64_t nodes = 1;
    bool whole = false;  // up to the end of an axis; else a divisor of its degree
    bool operator==(const RowPeriod&) const = default;
};
// The periods of a mesh that are at most a pod long (`pod` 0: the cluster), shortest first. Empty where no
// axis leaves the fast domain in whole domains.
[[nodiscard]] std::vector<RowPeriod> row_periods(const Mesh& mesh, std::int64_t domain, std::int64_t pod);
// A data-parallel rank has tp x cp x pp GPUs. A replica has all parameters at rest: the same, or all ranks of
// dp_shard where these cut the parameters (ZeRO-3, FSDP).
struct DataUnit {
    std::int64_t rank = 1, replica = 1;  // GPUs
    bool cut = false;
};
[[nodiscard]] DataUnit data_unit_of(const Mesh& mesh, bool shards_parameters);
// "a row is a replica, a column a stage" for rows of so many nodes; empty where a row is no period.
[[nodiscard]] std::string row_words(const Mesh& mesh, std::int64_t domain, std::int64_t row_nodes,
                                    bool shards_parameters);

// `gpus` cells, `domain` a fast domain, `pod` GPUs of the next tier (0 or >= gpus: none), `pixel` the side of
// a device's pixel in `room`'s units. A row has one of `periods` where there are any, else as many nodes as
// make the cells largest. `tile` GPUs with neighbouring ranks stand in a box of their own inside their
// domain, which is that box where it holds as many. Constant work in gpus.
[[nodiscard]] MeshLayout lay_out_mesh(Vec2 room, std::int64_t gpus, std::int64_t domain, std::int64_t pod,
                                      float pixel, std::span<const RowPeriod> periods, std::int64_t tile = 1);

// The same is seen through a zoom and a pan: screen = area.min + pan + position * zoom.
struct MeshCamera {
    float zoom = 1;
    Vec2 pan;
    bool operator==(const MeshCamera&) const = default;
};
[[nodiscard]] CellGrid seen(const MeshLayout& layout, const MeshCamera& camera, Rect area);
// Returns the i-th tile, node or pod on the screen.
[[nodiscard]] Rect box_rect(const MeshLayout::Boxes& boxes, std::int64_t index, const CellGrid& seen_grid,
                            float zoom);
// Returns how many ranks further the cell below stands.
[[nodiscard]] std::int64_t rank_step_down(const CellGrid& grid);
// Calls f(index) for the nodes of `layout` that touch `area`, in ascending order.
template <typename F>
void for_each_seen_node(const MeshLayout& layout, const CellGrid& seen_grid, float zoom, Rect area, F&& f);

template <typename F>
void for_each_seen_node(const MeshLayout& layout, const CellGrid& seen_grid, float zoom, Rect area, F&& f) {
    const CellGrid::Level& nodes = seen_grid.level[static_cast<std::size_t>(seen_grid.levels) - 2];
    const auto place = [](float distance, float pitch) {
        return pitch > 0 ? static_cast<std::int64_t>(std::floor(distance / pitch)) : 0;
    };
    for (std::int64_t pod = 0; pod < layout.pod.count; ++pod) {
        const std::int64_t first = pod * nodes.size;
        const std::int64_t held = std::min<std::int64_t>(nodes.size, layout.node.count - first);
        const Vec2 at = box_rect(layout.node, first, seen_grid, zoom).min();
        const std::int64_t rows = (held + nodes.cols - 1) / nodes.cols;
        const std::int64_t top = std::max<std::int64_t>(0, place(area.y - at.y, nodes.pitch_y)),
                           bottom = std::min(rows - 1, place(area.bottom() - at.y, nodes.pitch_y)),
                           left = std::max<std::int64_t>(0, place(area.x - at.x, nodes.pitch_x)),
                           right = std::min<std::int64_t>(nodes.cols - 1,
                                                          place(area.right() - at.x, nodes.pitch_x));
        for (std::int64_t row = top; row <= bottom; ++row)
            for (std::int64_t col = left; col <= right; ++col)
                if (row * nodes.cols + col < held) f(first + row * nodes.cols + col);
    }
}

}  // namespace pentamesh::ui
