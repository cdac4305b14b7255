#include "app/ui/review/figures.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/teach/captions.h"

#include <algorithm>
#include <optional>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kMostNamed = 4096;

// Draws a node's name where type of the page's smallest size has room over the cells.
void name_nodes(ReviewSheet& sheet, const MeshPlace& m, const Cluster& cluster) {
    const MeshLayout::Boxes& node = m.layout.node;
    const float size = sheet.paper().small, above = (node.padding.y - m.layout.tile.padding.y) * m.zoom;
    if (node.count > kMostNamed || node.size < 2 || m.merged() || above < size + 2) return;
    const TextStyle style{Face::regular, size, sheet.theme().secondary, 0};
    for (std::int64_t i = 0; i < node.count; ++i) {
        const Rect r = m.node(i);
        const std::string name = std::string(domain_name(cluster)) + " " + std::to_string(i);
        if (sheet.canvas().text_width(name, style) + 8 < r.w)
            sheet.label({r.x + 4, r.y, r.w - 8, above}, name, style);
    }
}

// Numbers the cells of a small cluster.
void draw_ranks_in_cells(ReviewSheet& sheet, const MeshPlace& m, const Scene& scene) {
    CellGrid grid = m.grid;
    color_by_groups_on_page(sheet.theme(), scene, grid);
    const float size = sheet.paper().small;
    TextStyle style{Face::regular, size, sheet.theme().text, 0};
    const std::string longest(std::to_string(std::max(0, grid.count - 1)).size(), '0');
    if (grid.cell.y < size * 1.1f || sheet.canvas().text_width(longest, style) + 4 > grid.cell.x) return;
    for (std::int64_t r = 0; r < grid.count; ++r) {
        style.color = ink_on(grid.palette[cell_id(grid, r) % grid.palette_size]);
        sheet.label(m.cell(r), std::to_string(r), style, Align::center);
    }
}

}  // namespace

void draw_mesh_figure(ReviewSheet& sheet, Rect room, const Reviewed& of, std::optional<GroupKind> kind) {
    const Cluster& cluster = of.plan.cluster;
    const Mesh& mesh = of.evaluation.mesh;
    if (mesh.world <= 0 || cluster.gpus <= 0 || room.w < 20 || room.h < 20) return;
    PrintedScene printed(of);
    if (kind) printed.selection.choose(*kind);
    const Scene& scene = printed.scene;
    if (in_boxes(scene).pod > 0) room = room.inset(8, 0);  // its frame stands outside its cells
    // The mesh is laid out as on the screen, and enlarged where the page's type is.
    const float small = sheet.paper().small, line = small * 1.4f;
    float zoom = std::max(1.0f, small / 11);
    const TextStyle style{Face::regular, small, sheet.theme().secondary, 0};
    const auto lay_out = [&](float height) { return lay_out_mesh(scene, {room.w, height}, 0.1f, zoom); };
    MeshLayout layout = lay_out(room.h);
    const float words =
        layout.words.empty() ? 0 : sheet.canvas().paragraph_height(room.w, layout.words, style, line) + small;
    const float high = words > 0 && room.h > 2 * words ? room.h - words : room.h;
    layout = lay_out(high);
    constexpr float kLeastZoom = 0.3f, kSmaller = 0.85f;
    while (zoom > kLeastZoom && (layout.extent.x * zoom > room.w + 1 || layout.extent.y * zoom > high + 1)) {
        zoom *= kSmaller;
        layout = lay_out(high);
    }
    const CellGrid grid = seen(layout, {.zoom = zoom, .pan = {}}, room);
    MeshPlace place{.layout = layout,
                    .grid = grid,
                    .zoom = zoom,
                    .area = room,
                    .ranks = scene.evaluation.mesh.world,
                    .axes = axes_of(sheet.theme(), scene)};
    place.tile = tile_axis(place.axes, layout.tile.size);
    draw_still_mesh(sheet.canvas(), sheet.theme(), place, scene, small);
    name_nodes(sheet, place, cluster);
    if (!lit_groups(sheet.theme(), scene).shown) draw_ranks_in_cells(sheet, place, scene);
    room.cut_top(layout.extent.y * zoom + small * 0.6f);
    if (words > 0 && room.h >= words - small) sheet.canvas().paragraph(room, layout.words, style, line);
}

float draw_axis_words(ReviewSheet& sheet, Rect room, const Reviewed& of, GroupKind kind, bool draw) {
    const float line = sheet.paper().line(), mark = sheet.paper().body * 0.8f;
    const std::string text = caption_of(of.plan, of.evaluation, kind).text() + ".";
    const float h = sheet.words_height(text, room.w);
    if (!draw) return line + h;
    Rect row = room.cut_top(line);
    const Rect square = row.cut_left(mark + 8);
    sheet.canvas().rect({square.x, square.y + (line - mark) / 2, mark, mark}, color_of(sheet.theme(), kind),
                        3);
    sheet.label(row, axis_label(kind) + " " + with_commas(of.evaluation.groups[kind].degree), sheet.strong());
    sheet.canvas().paragraph(room, text, sheet.plain(), line);
    return line + h;
}

}  // namespace pentamesh::ui
