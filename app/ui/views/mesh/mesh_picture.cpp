#include "app/ui/views/mesh/mesh_draw.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <string>

namespace pentamesh::ui {

MeshInBoxes in_boxes(const Scene& scene) {
    const Cluster& c = scene.plan.cluster;
    return {.gpus = shows_groups(scene) ? std::max(c.gpus, scene.evaluation.mesh.world) : c.gpus,
            .domain = c.tiers.empty() ? 1 : domain_of(c, 0),
            .pod = c.tiers.size() > 2 ? domain_of(c, 1) : 0,
            .tile = tile_of(scene.plan, scene.evaluation, scene.selection.expert())};
}

MeshLayout lay_out_mesh(const Scene& scene, Vec2 room, float pixel, float zoom) {
    const Mesh& mesh = scene.evaluation.mesh;
    const MeshInBoxes b = in_boxes(scene);
    MeshLayout out = lay_out_mesh(room * (1 / zoom), b.gpus, b.domain, b.pod, pixel,
                                  row_periods(mesh, b.domain, b.pod), b.tile);
    const auto add = [&](const std::string& words) {
        if (!words.empty()) out.words += (out.words.empty() ? "" : ", ") + words;
    };
    if (out.merged && std::min(out.grid.cell.x, out.grid.cell.y) * zoom < kLeastGpuCell)
        add("a cell is a " + std::string(domain_name(scene.plan.cluster)));
    add(row_words(mesh, b.domain, out.row_nodes, scene.plan.layout.zero == 3));
    if (out.merged && out.node.full.x * zoom < kLeastNodeCell.x)
        add("rows and columns stand joined");
    else if (out.merged && out.node.full.y * zoom < kLeastNodeCell.y)
        add("rows stand joined");
    if (shows_groups(scene) && mesh.world != scene.plan.cluster.gpus)
        add(mesh.world > scene.plan.cluster.gpus ? "red: ranks without a GPU" : "grey: GPUs without a rank");
    if (out.has_pods) add("a box is a pod of " + thousands(b.pod));
    return out;
}

bool shows_groups(const Scene& scene) {
    constexpr std::int64_t kMostTimes = 4;
    const std::int64_t world = scene.evaluation.mesh.world;
    return scene.evaluation.valid || (world > 0 && world / kMostTimes <= scene.plan.cluster.gpus);
}

void draw_missing_cells(Canvas& c, const Theme& theme, const MeshPlace& m, const Scene& scene) {
    const std::int64_t gpus = scene.plan.cluster.gpus, world = scene.evaluation.mesh.world;
    if (world <= gpus || !shows_groups(scene)) return;
    CellGrid missing = m.grid;
    missing.count = static_cast<std::int32_t>(world - gpus);
    merge_small_cells(m.layout, missing);
    missing.first = static_cast<std::int32_t>(gpus / missing.step * missing.step);
    color_plainly(mix(theme.window, theme.bad, 0.3f), missing);
    c.cells(missing);
}

void draw_idle_cells(Canvas& c, const Theme& theme, const MeshPlace& m, const Scene& scene) {
    if (scene.evaluation.mesh.world >= scene.plan.cluster.gpus) return;
    CellGrid idle = m.grid;
    merge_small_cells(m.layout, idle);
    color_plainly(mix(theme.window, theme.hairline, 0.7f), idle);
    c.cells(idle);
}

void draw_still_mesh(Canvas& c, const Theme& theme, const MeshPlace& m, const Scene& scene, float type) {
    const Mesh& mesh = scene.evaluation.mesh;
    const LitGroups lit = lit_groups(theme, scene);
    draw_boxes(c, theme, m, lit.shown);
    draw_idle_cells(c, theme, m, scene);
    draw_pods(c, theme, m, in_boxes(scene).gpus, type);
    CellGrid cells = m.grid;
    color_by_groups_on_page(theme, scene, cells);
    if (lit.shown) color_plainly(lit.quiet, cells);
    merge_small_cells(m.layout, cells);
    c.cells(cells);
    draw_missing_cells(c, theme, m, scene);
    if (!lit.shown) return;
    draw_lit_tile(c, m, lit);
    draw_lit_cells(c, mesh, lit, cells);
    for (const MeshAxis& axis : lit.axes.span()) draw_lit_links(c, theme, m, axis, lit.rank);
    draw_shares(c, theme, m, lit, in_boxes(scene).gpus, type);
}

MeshLayout draw_mesh_in(Canvas& c, const Theme& theme, Rect room, const Scene& scene, float type) {
    MeshLayout layout = lay_out_mesh(scene, {room.w, room.h}, 1 / c.scale());
    const CellGrid grid = seen(layout, {}, room);
    MeshPlace place{.layout = layout,
                    .grid = grid,
                    .area = room,
                    .ranks = scene.evaluation.mesh.world,
                    .axes = axes_of(theme, scene)};
    place.tile = tile_axis(place.axes, layout.tile.size);
    draw_still_mesh(c, theme, place, scene, type);
    return layout;
}

}  // namespace pentamesh::ui
