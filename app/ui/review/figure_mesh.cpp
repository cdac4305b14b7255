#include "app/ui/review/figures.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/teach/captions.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kMostNodeFrames = 4096;

std::int64_t domain_gpus(const Cluster& cluster, std::size_t tier) {
    return tier < cluster.tiers.size() ? cluster.tiers[tier].domain : 0;
}

// Draws a node's frame, and its name where type of the page's smallest size has room over the cells.
void draw_node_frames(ReviewSheet& sheet, const MeshLayout& layout, float zoom, const CellGrid& grid,
                      const Cluster& cluster) {
    const float w = layout.node.full.x * zoom, size = sheet.paper().small;
    if (w < 14 * zoom || layout.node.count > kMostNodeFrames || layout.node.size < 2) return;
    const TextStyle style{Face::regular, size, sheet.theme().secondary, 0};
    const float above = layout.node.padding.y * zoom;
    for (std::int64_t i = 0; i < layout.node.count; ++i) {
        const Rect r = box_rect(layout.node, i, grid, zoom);
        const float gap = std::min(3.0f, r.w * 0.04f);
        sheet.canvas().frame(r.inset(gap), sheet.theme().hairline, 1, w > 60 ? 4.0f : 0.0f);
        const std::string name = std::string(domain_name(cluster)) + " " + std::to_string(i);
        if (above >= size + gap + 2 && sheet.canvas().text_width(name, style) + 8 < r.w)
            sheet.label({r.x + gap + 4, r.y + gap, r.w - 8, above - gap}, name, style);
    }
}

void draw_pod_frames(ReviewSheet& sheet, const MeshLayout& layout, float zoom, const CellGrid& grid,
                     std::int64_t gpus) {
    if (!layout.has_pods) return;
    const TextStyle style{Face::regular, sheet.paper().small, sheet.theme().secondary, 0};
    for (std::int64_t i = 0; i < layout.pod.count; ++i) {
        Rect r = box_rect(layout.pod, i, grid, zoom);
        const std::int64_t held = std::min(layout.pod.size, gpus - i * layout.pod.size);
        const std::int64_t cols = layout.grid.level[1].cols;
        const std::int64_t rows = ((held + layout.node.size - 1) / layout.node.size + cols - 1) / cols;
        r.h = static_cast<float>(rows) * layout.node.full.y * zoom;
        sheet.canvas().frame(r, sheet.theme().hairline, 1);
        const std::string name = "pod " + std::to_string(i);
        if (sheet.canvas().text_width(name, style) < r.w)
            sheet.label({r.x, r.y - 17 * zoom, r.w, 16 * zoom}, name, style);
    }
}

void draw_ranks_in_cells(ReviewSheet& sheet, const CellGrid& grid) {
    const float size = sheet.paper().small;
    TextStyle style{Face::regular, size, sheet.theme().text, 0};
    const std::string longest(std::to_string(std::max(0, grid.count - 1)).size(), '0');
    if (grid.count > 2048 || grid.cell.y < size * 1.1f
        || sheet.canvas().text_width(longest, style) + 4 > grid.cell.x)
        return;
    for (std::int64_t r = 0; r < grid.count; ++r) {
        style.color = ink_on(grid.palette[cell_id(grid, r) % grid.palette_size]);
        const Vec2 at = cell_position(grid, r);
        sheet.label({at.x, at.y, grid.cell.x, grid.cell.y}, std::to_string(r), style, Align::center);
    }
}

}  // namespace

void draw_mesh_figure(ReviewSheet& sheet, Rect room, const Reviewed& of, GroupKind kind) {
    const Cluster& cluster = of.plan.cluster;
    const Mesh& mesh = of.evaluation.mesh;
    if (mesh.world <= 0 || cluster.gpus <= 0 || room.w < 20 || room.h < 20) return;
    // The mesh is laid out as on the screen, and enlarged where the page's type is.
    const float zoom = std::max(1.0f, sheet.paper().small / 11);
    const std::int64_t pod = cluster.tiers.size() > 2 ? domain_gpus(cluster, 1) : 0;
    const MeshLayout layout = lay_out_mesh({room.w / zoom, room.h / zoom}, cluster.gpus,
                                           std::max<std::int64_t>(1, domain_gpus(cluster, 0)), pod, 0.1f);
    CellGrid grid = seen(layout, {.zoom = zoom, .pan = {}}, room);
    if (mesh.world < cluster.gpus) {  // GPUs that the layout leaves idle
        CellGrid idle = grid;
        idle.digits = 0, idle.palette_size = 1;
        idle.palette[0] = mix(sheet.theme().panel, sheet.theme().hairline, 0.7f);
        sheet.canvas().cells(idle);
    }
    Selection selection;
    selection.choose(kind);
    const Hover none;
    Hover next;
    const Scene scene{.plan = of.plan,
                      .evaluation = of.evaluation,
                      .presets = of.presets,
                      .selection = selection,
                      .hover = none,
                      .next_hover = next};
    color_by_groups(sheet.theme(), scene, grid);
    CellGrid drawn = grid;
    merge_small_cells(layout, drawn);
    sheet.canvas().cells(drawn);
    draw_pod_frames(sheet, layout, zoom, grid, cluster.gpus);
    draw_node_frames(sheet, layout, zoom, grid, cluster);
    draw_ranks_in_cells(sheet, grid);
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
