#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_draw.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {
constexpr float kMaxZoom = 400;
}  // namespace

const MeshLayout& layout_for(MeshViewState& s, Rect cells, const Scene& scene, float scale) {
    Vec2 room{cells.w, cells.h - kRowWords};
    const MeshInBoxes boxes = in_boxes(scene);
    if (boxes.pod > 0) room = {room.x - 2 * kAroundPods, room.y - under_pods(cells.h)};
    return s.layout.get({room, boxes, scale, scene.evaluation.mesh}, [&] {
        MeshLayout out = lay_out_mesh(scene, room, 1 / scale);
        const float beside = room.x - 2 * kRowNames;
        if (names_rows(axes_of({}, scene), out) != nullptr && beside > 2 * kRowNames)
            out = lay_out_mesh(scene, {beside, room.y}, 1 / scale);
        return out;
    });
}

MeshCamera held(MeshCamera camera, Rect area, const MeshLayout& layout) {
    // The mesh is centred along a direction in which everything fits; else it is never panned off the area.
    const auto hold = [](float pan, float extent, float room) {
        return extent <= room ? std::floor((room - extent) / 2) : std::clamp(pan, room - extent, 0.0f);
    };
    const float below = layout.extent.y * camera.zoom <= area.h - kRowWords ? kRowWords : 0;
    camera.pan = {hold(camera.pan.x, layout.extent.x * camera.zoom, area.w),
                  hold(camera.pan.y, layout.extent.y * camera.zoom, area.h - below)};
    return camera;
}

void move_camera(Ui& ui, Rect area, const MeshLayout& layout, MeshViewState& s, const Hit& hit,
                 bool over_cell, const ViewKeys& keys) {
    MeshCamera& cam = s.camera;
    const float zoom = cam.zoom;
    if (const float by = ui.take_wheel(area); by != 0) {
        const float next = std::clamp(cam.zoom * std::pow(1.25f, by), 1.0f, kMaxZoom);
        const Vec2 at = ui.frame().mouse - area.min();
        cam.pan = at - (at - cam.pan) * (next / cam.zoom);
        cam.zoom = next;
    }
    if (hit.held) {
        if (!s.panning) s.pan_start = cam.pan;
        s.panning = true;
        cam.pan = s.pan_start + hit.drag;
    } else {
        s.panning = false;
    }
    if ((hit.double_clicked && !over_cell) || (layout.grid.count > 0 && keys.pressed({Key::home}))) cam = {};
    cam = held(cam, area, layout);
    if (cam.zoom != zoom) ui.state().wants_frame = true;  // what stands still at zoom 1 comes or goes
}

}  // namespace pentamesh::ui
