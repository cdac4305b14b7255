// Places the parts around the cells, and the cells under the camera.
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_parts.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kEnlargedFrom = 512;  // GPUs
// Heights of the view: for more than its cells, for entries with figures, for rows of them.
constexpr float kLeastHeight = 180, kLow = 300, kHigh = 400;
constexpr float kBelow = 6;        // under the legend
constexpr float kBelowFold = 150;  // under a stage drawn in both meshes: legend and cells

// Draws a stage in both meshes, and the legend below; returns the rest of the room.
Rect draw_both(Ui& ui, Rect room, const Scene& scene, MeshViewState& state, const ExpertFold& fold,
               ExpertLoads& loads, std::optional<PlanEdit>& edit) {
    draw_fold(ui, room.cut_top(fold_height(fold)), scene, fold, shown_loads(scene, loads));
    edit = draw_load_row(ui, room.cut_top(kLoadRow), scene, state, loads);
    draw_legend(ui, room.cut_top(legend_height(ui, room.w, scene, Legend::row)), scene, Legend::row);
    room.cut_top(10);
    const MeshLayout& layout = layout_for(state, room, scene, ui.canvas().scale());
    const MeshCamera camera = held(state.camera, room, layout);
    if (camera.zoom == 1) draw_fold_lines(ui.canvas(), ui.theme(), layout, seen(layout, camera, room), fold);
    state.still = room;  // the controls above follow the mouse
    return room;
}

constexpr float kMaxZoom = 400;

}  // namespace

Rect draw_around(Ui& ui, Rect room, const Scene& scene, MeshViewState& state, ExpertLoads& loads,
                 std::optional<PlanEdit>& edit) {
    if (room.h < kLeastHeight || scene.evaluation.mesh.world <= 1) return room;
    if (state.both) {
        ExpertFold fold = fold_of(scene, std::max<std::int64_t>(0, scene.selection.rank));
        const auto fits = [&] { return room.h >= fold_height(fold) + kLoadRow + kBelowFold; };
        if (!fits()) fold.shown = 2;
        if (fold.line > 0 && fits()) return draw_both(ui, room, scene, state, fold, loads, edit);
    }
    state.ladder = ladder_in(ui, room, scene);
    if (state.ladder.shown()) {
        draw_ladder(ui, scene, state);
        return state.ladder.cluster;
    }
    const Period period = period_of(scene, std::max<std::int64_t>(0, scene.selection.rank));
    const Legend form = room.h < kLow ? Legend::lines : room.h < kHigh ? Legend::row : Legend::rows;
    const float legend = legend_height(ui, room.w, scene, form);
    if (scene.evaluation.mesh.world < kEnlargedFrom || period.nodes < 2 || period.count < 2) {
        if (legend > room.h * 0.35f) return room;
        room.cut_bottom(kBelow);
        draw_legend(ui, room.cut_bottom(legend), scene, form);
        room.cut_bottom(8);
        return room;
    }
    const float tile = room.h >= 560 ? kStripTile : room.h >= kLow ? 44.0f : 26.0f;
    Rect strip = room.cut_top(strip_height(tile));
    const Rect entries = room.cut_top(legend);
    room.cut_top(form == Legend::lines ? 2.0f : 10.0f);
    const MeshLayout& layout = layout_for(state, room, scene, ui.canvas().scale());
    const MeshCamera camera = held(state.camera, room, layout);
    if (camera.zoom == 1) {
        state.enlarged = period_rect(period, layout, seen(layout, camera, room), camera.zoom);
        draw_beam(ui.canvas(), ui.theme(), strip_ground(strip, tile, period), state.enlarged.inset(-2));
    }
    draw_strip(ui.canvas(), ui.theme(), 11, strip, tile, scene, period);
    draw_legend(ui, entries, scene, form);
    return room;
}

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
