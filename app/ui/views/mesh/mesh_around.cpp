#include "app/ui/views/mesh/mesh_parts.h"

#include <algorithm>

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

}  // namespace pentamesh::ui
