// Places each GPU's cell: cells in their fast domain's box, boxes in their pod's, pods side by side, as large
// as the room allows.
#pragma once

#include "core/mesh/mesh.h"
#include "render/canvas.h"

namespace pentamesh::ui {

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
    Vec2 extent;  // of everything, at zoom 1
};
// Places `gpus` cells. `domain` is the size of a fast domain, `pod` the GPUs of the next tier (0 or >= gpus
// means no pods), `pixel` the side of a device's pixel in `room`'s units: cells of more than two of them are
// whole ones. Work is constant in gpus.
[[nodiscard]] MeshLayout lay_out_mesh(Vec2 room, std::int64_t gpus, std::int64_t domain, std::int64_t pod,
                                      float pixel = 1);

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
