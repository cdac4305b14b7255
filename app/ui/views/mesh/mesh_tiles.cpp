#include "app/ui/views/mesh/mesh_draw.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kHeadWithLines = 40;  // of a node: words, and the lines between its tiles

constexpr float kLeastRounded = 34;  // a box less wide has no round corners: all are drawn at once
constexpr float kLeastBox = 14;      // one less wide has no frame
constexpr float kContour = 2, kRadius = 8;

struct BoxPaint {
    Color line, fill;
    float width = 1;
};

// Draws every box of a level in two draws, for any number of boxes.
void draw_small_boxes(Canvas& c, const MeshPlace& m, const MeshLayout::Boxes& boxes, std::int64_t count,
                      const BoxPaint& paint) {
    CellGrid all = m.grid;
    all.step = static_cast<std::int32_t>(boxes.size);
    all.count = static_cast<std::int32_t>(std::min(count, boxes.count));
    all.digits = 0, all.palette_size = 1, all.lit_id = -1;
    const auto draw = [&](float inset, Color color) {
        all.origin = m.grid.origin - boxes.padding * m.zoom + Vec2{inset, inset};
        all.cell = boxes.full * m.zoom - Vec2{2 * inset, 2 * inset};
        all.palette[0] = color;
        c.cells(all);
    };
    draw(0, paint.line);
    draw(1, paint.fill);
}

void draw_box(Canvas& c, Rect r, const BoxPaint& paint, float radius) {
    c.box(r, paint.fill, paint.line, paint.width, radius);
}

float radius_of(const MeshPlace& m, const MeshLayout::Boxes& boxes) {
    return std::min(kRadius, boxes.full.x * m.zoom * 0.12f);
}

BoxPaint tile_paint(const Theme& theme, const MeshAxis& axis, float line, float fill) {
    return {mix(theme.window, axis.color, line), mix(theme.window, axis.color, fill), kContour};
}

}  // namespace

bool MeshPlace::merged() const {
    return layout.node.size > 1 && (grid.cell.x < kLeastGpuCell || grid.cell.y < kLeastGpuCell);
}

void draw_boxes(Canvas& c, const Theme& theme, const MeshPlace& m, bool quiet) {
    const float width = m.layout.node.full.x * m.zoom;
    if (m.merged() || width < kLeastBox) return;
    const bool node_is_tile = m.tile != nullptr && m.layout.tile.size == m.layout.node.size;
    const BoxPaint idle{theme.hairline, mix(theme.window, theme.panel, 0.7f), 1};
    BoxPaint node = idle, tile;
    if (m.tile != nullptr) tile = tile_paint(theme, *m.tile, quiet ? 0.5f : 1.0f, quiet ? 0.06f : 0.1f);
    if (node_is_tile) node = tile;
    const bool tiles = m.tile != nullptr && !node_is_tile;
    if (width < kLeastRounded) {
        if (node_is_tile) draw_small_boxes(c, m, m.layout.node, m.layout.node.count, idle);
        draw_small_boxes(c, m, m.layout.node, node_is_tile ? m.used(m.layout.node) : m.layout.node.count,
                         node);
        if (tiles) draw_small_boxes(c, m, m.layout.tile, m.used(m.layout.tile), tile);
        return;
    }
    const std::int64_t in_node = m.layout.node.size / m.layout.tile.size;
    for_each_seen_node(m.layout, m.grid, m.zoom, m.area, [&](std::int64_t i) {
        draw_box(c, m.node(i), i < m.used(m.layout.node) ? node : idle, radius_of(m, m.layout.node));
        for (std::int64_t t = i * in_node; tiles && t < std::min((i + 1) * in_node, m.used(m.layout.tile));
             ++t)
            draw_box(c, box_rect(m.layout.tile, t, m.grid, m.zoom), tile, radius_of(m, m.layout.tile));
    });
}

void draw_lit_tile(Canvas& c, const MeshPlace& m, const LitGroups& lit) {
    if (m.tile == nullptr || m.merged() || lit.axes.count == 0 || lit.axes.axis[0].kind != m.tile->kind)
        return;
    const Rect r = m.tile_at(lit.rank);
    if (r.w < kLeastBox) return;
    const auto& boxes = m.layout.tile.size == m.layout.node.size ? m.layout.node : m.layout.tile;
    c.frame(r, m.tile->color, kContour, r.w < kLeastRounded ? 0 : radius_of(m, boxes));
}

void draw_gliding_tile(Ui& ui, const MeshPlace& m, std::int64_t rank) {
    if (m.merged() || m.zoom != 1 || rank < 0 || rank >= m.ranks) return;
    const Rect r = m.tile != nullptr ? m.tile_at(rank) : m.cell(rank);
    const auto side = [&](std::string_view name, float value) {
        return std::pair{static_cast<float>(ui.glide(name, value)),
                         static_cast<float>(ui.before(name).value_or(value))};
    };
    const auto [x, old_x] = side("mesh.tile.x", r.x);
    const auto [y, old_y] = side("mesh.tile.y", r.y);
    const auto [w, old_w] = side("mesh.tile.w", r.w);
    const auto [h, old_h] = side("mesh.tile.h", r.h);
    ui.outline({old_x, old_y, old_w, old_h}, r);
    if (x == r.x && y == r.y && w == r.w && h == r.h) return;
    const Color color = m.tile != nullptr ? m.tile->color : ui.theme().secondary;
    ui.canvas().frame({x, y, w, h}, color, kContour, w < kLeastRounded ? 0 : std::min(kRadius, w * 0.12f));
}

void name_boxes(Ui& ui, const MeshPlace& m, const Scene& scene) {
    Canvas& c = ui.canvas();
    const Cluster& cluster = scene.plan.cluster;
    const float head = (m.layout.node.padding.y - m.layout.tile.padding.y) * m.zoom;
    if (m.merged() || head < 16 || m.layout.node.full.x * m.zoom < 44) return;
    const std::string fast(tier_name(cluster, 0));
    const bool node_is_tile = m.tile != nullptr && m.layout.tile.size == m.layout.node.size;
    const std::string tile = m.tile == nullptr ? "" : axis_label(m.tile->kind) + " · " + fast;
    const TextStyle plain = ui.style(11, Tone::secondary);
    TextStyle axis = ui.style(11, Tone::text, Face::semibold);
    const float tile_head = m.layout.tile_head * m.zoom;
    const std::int64_t in_node = m.layout.node.size / m.layout.tile.size;
    for_each_seen_node(m.layout, m.grid, m.zoom, m.area, [&](std::int64_t i) {
        const Rect box = m.node(i);
        Rect row{box.x + 12, box.y + 5, box.w - 24, 16};
        const std::string name = std::string(domain_name(cluster)) + " " + thousands(i);
        write_left(ui, row, name, ui.style(12), 8);
        const std::string held = node_is_tile ? tile
                                 : m.layout.node.size > 1
                                     ? plural(m.layout.node.size, "GPU on ", "GPUs on ") + fast
                                     : "";
        // In a low head lines run where these words would stand.
        if (head >= kHeadWithLines && c.text_width(held, plain) <= row.w) c.text_in(row, held, plain);
        if (node_is_tile || tile_head < 14) return;
        for (std::int64_t t = i * in_node; t < std::min((i + 1) * in_node, m.layout.tile.count); ++t) {
            const Rect r = box_rect(m.layout.tile, t, m.grid, m.zoom);
            if (c.text_width(tile, axis) + 24 <= r.w)
                c.text_in({r.x + 12, r.y + 5, r.w - 24, 16}, tile, axis);
        }
    });
}

const MeshAxis* names_rows(const MeshAxes& axes, const MeshLayout& layout) {
    const std::int64_t row = layout.row_nodes * layout.node.size;
    if (layout.has_pods || layout.grid.count <= kMostCards) return nullptr;
    for (const MeshAxis& a : axes.span())
        if (a.stride() == row && a.factors.count == 1) return &a;
    return nullptr;
}

void name_rows(Ui& ui, const MeshPlace& m, const Scene& scene) {
    const MeshAxis* axis = names_rows(m.axes, m.layout);
    const Rect first = m.node(0);
    if (axis == nullptr || m.zoom != 1 || first.x - m.area.x < kRowNames - 4) return;
    const std::string name = axis->kind == GroupKind::pp ? "stage" : axis_label(axis->kind);
    const std::int64_t rows = m.layout.node.count / m.layout.row_nodes;
    const std::int64_t own =
        scene.selection.rank < 0 ? 0 : scene.selection.rank / (m.layout.row_nodes * m.layout.node.size);
    constexpr std::int64_t kEvery = 5;
    constexpr float kLine = 15;
    const bool all = first.h + m.layout.node_gap.y >= kLine;
    float below = m.area.y;
    for (std::int64_t row = 0; row < rows; ++row) {
        const Rect r = m.node(row * m.layout.row_nodes);
        const float top = r.center().y - kLine / 2;
        if (top < below || (!all && row % kEvery != 0 && row + 1 != rows && row != own)) continue;
        const std::string words = name + " " + thousands(row % axis->degree);
        const TextStyle style =
            row == own ? ui.style(11, Tone::text, Face::semibold) : ui.style(11, Tone::secondary);
        ui.canvas().text_in({m.area.x, top, r.x - m.area.x - 8, kLine}, words, style, Align::right);
        below = top + kLine;
    }
}

Rect pod_rect(const MeshPlace& m, std::int64_t pod) {
    return box_rect(m.layout.pod, pod, m.grid, m.zoom).inset(-std::min(4.0f, m.layout.node_gap.x + 2));
}

std::string pod_name(const Canvas& c, const MeshPlace& m, std::int64_t pod, std::int64_t gpus, float type) {
    const MeshLayout::Boxes& pods = m.layout.pod;
    const float room = pods.full.x * m.zoom;
    const TextStyle style{Face::regular, type, {}, 0};
    const std::int64_t held = std::min(pods.size, gpus - pod * pods.size);
    std::string name = "pod " + std::to_string(pod);
    if (held < pods.size) {
        std::string part = name + " (" + thousands(held) + " of " + thousands(pods.size) + ")";
        if (c.text_width(part, style) <= room) return part;
    }
    if (c.text_width(name, style) > room) name = std::to_string(pod);
    return c.text_width(name, style) <= room + 6 ? name : "";
}

void draw_pods(Canvas& c, const Theme& theme, const MeshPlace& m, std::int64_t gpus, float type) {
    if (!m.layout.has_pods) return;
    for (std::int64_t i = 0; i < m.layout.pod.count; ++i) {
        const Rect r = pod_rect(m, i);
        c.frame(r, theme.hairline, 1, 2);
        c.text({r.x, r.y - type - 5}, pod_name(c, m, i, gpus, type),
               {Face::regular, type, theme.secondary, 0});
    }
}

}  // namespace pentamesh::ui
