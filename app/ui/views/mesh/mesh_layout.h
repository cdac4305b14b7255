// Places each GPU's cell: cells in their fast domain's box, boxes in their pod's, pods side by side, as large
// as the room allows.
#pragma once

#include "core/mesh/mesh.h"
#include "render/canvas.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pentamesh::ui {

// Cells that would be smaller are drawn as whole nodes, in pixels.
inline constexpr float kLeastMeshCell = 3;

struct MeshLayout {
    CellGrid grid;              // place only: levels, origin, cell; count = GPUs of the cluster
    struct Boxes {              // one level of nested boxes: fast domains, then pods
        std::int64_t size = 1;  // GPUs in a full box
        std::int64_t count = 1;
        Vec2 padding;  // from a box's corner to its first cell
        Vec2 full;     // size of a full box, padding included
    };
    Boxes node, pod;
    bool has_pods = false;
    std::string words;           // what a row and a box are; empty: nothing is known of them
    std::int64_t row_nodes = 1;  // nodes of a pod in a row
    Vec2 extent;                 // of everything, at zoom 1
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
// "a row is a replica, a node a stage" for rows of so many nodes; empty where a row is no period.
[[nodiscard]] std::string row_words(const Mesh& mesh, std::int64_t domain, std::int64_t row_nodes);

// `gpus` cells, `domain` a fast domain, `pod` GPUs of the next tier (0 or >= gpus: none), `pixel` the side of
// a device's pixel in `room`'s units: cells of more than two of them are whole ones. A row has one of
// `periods` where there are any, else as many nodes as make the cells largest. Constant work in gpus.
[[nodiscard]] MeshLayout lay_out_mesh(Vec2 room, std::int64_t gpus, std::int64_t domain, std::int64_t pod,
                                      float pixel = 1, std::span<const RowPeriod> periods = {});

// The same is seen through a zoom and a pan: screen = area.min + pan + position * zoom.
struct MeshCamera {
    float zoom = 1;
    Vec2 pan;
    bool operator==(const MeshCamera&) const = default;
};
[[nodiscard]] CellGrid seen(const MeshLayout& layout, const MeshCamera& camera, Rect area);
// Returns the box of the i-th node or pod on the screen.
[[nodiscard]] Rect box_rect(const MeshLayout& layout, const MeshLayout::Boxes& boxes, std::int64_t index,
                            const CellGrid& seen_grid, float zoom);

}  // namespace pentamesh::ui
