#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/views/mesh/mesh_camera.h"
#include "app/ui/views/mesh/mesh_fold.h"
#include "app/ui/views/mesh/mesh_strip.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kEnlargedFrom = 512;  // GPUs
// Heights of the view: for more than its cells, for entries with figures, for rows of them.
constexpr float kLeastHeight = 180, kLow = 300, kHigh = 400;
constexpr float kBelow = 6;        // under the legend
constexpr float kBelowFold = 150;  // under a stage drawn in both meshes: legend and cells

// Returns where nodes of a period stand among the cells.
Rect place_of(const Period& p, const MeshLayout& layout, const CellGrid& grid, float zoom) {
    const auto node = [&](std::int64_t i) { return box_rect(layout.node, i, grid, zoom); };
    Rect r = node(p.first_node);
    const auto add = [&](Rect other) {
        const Vec2 low{std::min(r.x, other.x), std::min(r.y, other.y)};
        const Vec2 high{std::max(r.right(), other.right()), std::max(r.bottom(), other.bottom())};
        r = {low.x, low.y, high.x - low.x, high.y - low.y};
    };
    // The last of its first row, and its last: with the first they span all of its rows.
    add(node(p.first_node + std::min(p.nodes, layout.row_nodes) - 1));
    add(node(p.first_node + p.nodes - 1));
    return r;
}

// Draws a stage in both meshes, and the legend below; returns the rest of the room.
Rect draw_both(Ui& ui, Rect room, const Scene& scene, MeshViewState& state, const ExpertFold& fold) {
    draw_fold(ui, room.cut_top(fold_height(fold)), scene, fold);
    draw_legend(ui, room.cut_top(legend_height(ui, room.w, scene, Legend::row)), scene, Legend::row);
    room.cut_top(10);
    const MeshLayout& layout = layout_for(state, room, scene, ui.canvas().scale());
    const MeshCamera camera = held(state.camera, room, layout);
    if (camera.zoom == 1) draw_fold_lines(ui.canvas(), ui.theme(), layout, seen(layout, camera, room), fold);
    return room;
}

}  // namespace

Rect draw_around(Ui& ui, Rect room, const Scene& scene, MeshViewState& state) {
    if (room.h < kLeastHeight || scene.evaluation.mesh.world <= 1) return room;
    if (state.both) {
        ExpertFold fold = fold_of(scene, std::max<std::int64_t>(0, scene.selection.rank));
        if (room.h < fold_height(fold) + kBelowFold) fold.shown = 2;
        if (fold.line > 0 && room.h >= fold_height(fold) + kBelowFold)
            return draw_both(ui, room, scene, state, fold);
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
        state.enlarged = place_of(period, layout, seen(layout, camera, room), camera.zoom);
        draw_beam(ui.canvas(), ui.theme(), strip_ground(strip, tile, period), state.enlarged.inset(-2));
    }
    draw_strip(ui.canvas(), ui.theme(), 11, strip, tile, scene, period);
    draw_legend(ui, entries, scene, form);
    return room;
}

}  // namespace pentamesh::ui
