#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>

namespace pentamesh::ui {

namespace {

constexpr float kNode = 44, kRanks = 15, kBrace = 26, kHead = 34, kBetween = 24;  // heights
constexpr float kNames = 108;                                                     // width left of the lines
constexpr float kMore = 26;  // height of the words in place of rows

std::string ranks_words(std::int64_t first, std::int64_t count) {
    return thousands(first) + "–" + thousands(first + count - 1);
}

// "1 node", "16 nodes".
std::string count_words(std::int64_t nodes, const Cluster& cluster) {
    return thousands(nodes) + " " + std::string(domain_name(cluster)) + (nodes == 1 ? "" : "s");
}

// The rows that are drawn, by their number; -1 stands for those left out.
struct ShownRows {
    std::array<std::int64_t, 4> row{};
    std::size_t count = 0;
};
ShownRows shown_rows(const ExpertFold& f) {
    ShownRows out;
    const bool cut = f.rows > f.shown;
    for (std::int64_t i = 0; i < (cut ? f.shown / 2 : f.rows); ++i) out.row[out.count++] = i;
    if (cut) out.row[out.count++] = -1, out.row[out.count++] = f.rows - 1;
    return out;
}

// Places nodes: those of a row stand below those of the line that they are.
struct Columns {
    float x = 0, pitch = 0, width = 0;
    [[nodiscard]] Rect at(std::int64_t i, float y) const {
        return {x + static_cast<float>(i) * pitch, y, width, kNode};
    }
};

Columns columns_in(Rect room, std::int64_t nodes) {
    const float w = room.w - kNames;
    const float pitch = std::min(96.0f, w / static_cast<float>(nodes));
    return {room.x + kNames, pitch, pitch * 0.82f};
}

struct Painted {
    const MeshAxis* axis = nullptr;  // whose hops run along the line
    Color color;
};

// The axis that runs along a line: of a dense one the first that leaves the node, of a row of experts ep.
Painted along(const Theme& theme, const MeshAxes& axes, bool experts) {
    Painted p{nullptr, theme.secondary};
    for (const MeshAxis& a : axes.span()) {
        if (experts ? a.kind != GroupKind::ep : a.kind == GroupKind::pp) continue;
        p = {&a, a.color};
        if (!a.inside()) break;
    }
    return p;
}

void draw_nodes(Ui& ui, const Scene& scene, const Columns& columns, float y, std::int64_t first_rank,
                std::int64_t nodes, std::int64_t domain, const Painted& paint, std::int64_t rank) {
    Canvas& c = ui.canvas();
    for (std::int64_t i = 0; i < nodes; ++i) {
        const Rect r = columns.at(i, y);
        if (i > 0 && paint.axis != nullptr && !paint.axis->inside())
            draw_link(c, ui.theme().window,
                      std::array<Vec2, 2>{Vec2{columns.at(i - 1, y).right(), r.center().y},
                                          Vec2{r.x, r.center().y}},
                      paint.color, paint.axis->mark.dash);
        draw_node(ui.canvas(), ui.theme(), r, scene, rank, nullptr, paint.color, first_rank / domain + i);
        const std::string words = ranks_words(first_rank + i * domain, domain);
        const TextStyle style = ui.style(11, Tone::secondary);
        if (c.text_width(words, style) <= columns.pitch)
            c.text_in({r.center().x - columns.pitch / 2, r.bottom() + 1, columns.pitch, kRanks}, words, style,
                      Align::center);
    }
}

void brace(Canvas& c, float left, float right, float y, Color color) {
    c.polyline({{left, y - 5}, {left, y}, {right, y}, {right, y - 5}}, color, 1.3f);
}

void arrow_head(Canvas& c, Vec2 at, Vec2 back, Color color) {
    const Vec2 side{back.y * 0.6f, -back.x * 0.6f};
    c.polygon({at, at + back + side, at + back - side}, color);
}

// Names the parts of the line: the first stays, the others wrap, the second by an arrow to its row.
void draw_parts(Ui& ui, const Columns& columns, const ExpertFold& f, float y, float row0, float row1) {
    Canvas& c = ui.canvas();
    const std::int64_t nodes = f.row / f.domain;
    for (std::int64_t part = 0; part < f.rows; ++part) {
        const float left = columns.at(part * nodes, y).x,
                    right = columns.at((part + 1) * nodes - 1, y).right();
        const Color color = part == 0 ? ui.theme().secondary : ui.theme().text;
        brace(c, left, right, y + 6, color);
        const std::string words = "ranks " + ranks_words(f.first_rank + part * f.row, f.row)
                                  + (part == 0 ? " stay" : " wrap beneath");
        const TextStyle style = ui.style(11).in(color);
        const float w = c.text_width(words, style);
        if (w <= right - left + 12)
            c.text_in({left - 6, y + 8, right - left + 12, 16}, words, style, Align::center);
        const float x = (left + right) / 2;
        if (part == 0) {
            c.line({x, y + 25}, {x, row0 - kHead + 2}, color, 1.3f);
            arrow_head(c, {x, row0 - kHead + 8}, {0, -7}, color);
        } else if (part == 1 && (f.rows <= f.shown || f.shown > 2)) {
            const float turn = y + kBrace + 8, in = columns.at(nodes - 1, y).right() + 26;
            c.polyline(
                {{x, y + 25}, {x, turn}, {in, turn}, {in, row1 + kNode / 2}, {in - 14, row1 + kNode / 2}},
                color, 1.5f, false, Dash::dashed);
            arrow_head(c, {in - 20, row1 + kNode / 2}, {8, 0}, color);
        }
    }
}

void name_line(Ui& ui, Rect room, float y, std::string_view name, const std::string& more) {
    ui.canvas().text_in({room.x, y + 4, kNames - 8, 20}, name, ui.style(14, Tone::text, Face::semibold));
    ui.canvas().text_in({room.x, y + 24, kNames - 8, 16}, more, ui.style(11, Tone::secondary));
}

// Frames the GPUs that cut the same experts between them, where they are neighbours in a row of their node.
void frame_etp(Canvas& c, const Scene& scene, Rect node, const MeshAxis& etp, std::int64_t first_rank) {
    const CellGrid g = node_grid(node, domain_of(scene.plan.cluster, 0));
    if (etp.stride() != 1 || g.level[0].cols % etp.degree != 0) return;
    for (std::int64_t i = 0; i + etp.degree <= g.count && first_rank + i < scene.evaluation.mesh.world;
         i += etp.degree) {
        const Vec2 a = cell_position(g, i), b = cell_position(g, i + etp.degree - 1) + g.cell;
        c.frame(Rect{a.x, a.y, b.x - a.x, b.y - a.y}.inset(-1.5f), etp.color, 1.5f, 2);
    }
}

// Draws the experts' rows, and how their copies reach each other.
void draw_rows(Ui& ui, Rect room, const Scene& scene, const Columns& columns, const ExpertFold& f, float y,
               std::int64_t rank, const ShownLoads& loads) {
    Canvas& c = ui.canvas();
    const MeshAxes axes = axes_of(ui.theme(), scene.plan, scene.evaluation, true);
    const Painted ep = along(ui.theme(), axes, true);
    const auto edp =
        std::ranges::find_if(axes.span(), [](const MeshAxis& a) { return a.kind == GroupKind::edp; });
    const std::int64_t nodes = f.row / f.domain;
    const ShownRows shown = shown_rows(f);
    float last = -1;
    for (std::size_t i = 0; i < shown.count; ++i) {
        const std::int64_t row = shown.row[i];
        if (row < 0) {
            const std::string words =
                thousands(f.rows - f.shown / 2 - 1) + " more rows, each a copy of all experts";
            c.text_in({columns.x, y - 14, room.right() - columns.x, kMore}, words, ui.small());
            y += kMore;
            last = -1;
            continue;
        }
        Painted paint = ep;
        if (row > 0) paint.color = mix(ui.theme().window, ep.color, 0.5f);
        if (last >= 0 && edp != axes.span().end())
            for (std::int64_t n = 0; n < nodes; ++n) {
                const float x = columns.at(n, y).center().x;
                draw_link(c, ui.theme().window, std::array<Vec2, 2>{Vec2{x, last + kRanks + 1}, Vec2{x, y}},
                          edp->color, edp->mark.dash);
            }
        draw_nodes(ui, scene, columns, y, f.first_rank + row * f.row, nodes, f.domain, paint, rank);
        for (std::int64_t n = 0; n < nodes; ++n) {
            const std::int64_t first = f.first_rank + row * f.row + n * f.domain;
            draw_node_loads(c, ui.theme(), columns.at(n, y), scene, loads, first);
            for (const MeshAxis& a : axes.span())
                if (a.kind == GroupKind::etp) frame_etp(c, scene, columns.at(n, y), a, first);
        }
        const std::string words = "row " + thousands(row) + (row == 0 ? "" : ", a copy");
        if (row == 0)
            name_line(ui, room, y, "Experts", words);
        else
            c.text_in({room.x, y + 14, kNames - 8, 16}, words, ui.style(11, Tone::secondary));
        last = y + kNode;
        y += kNode + kRanks + kBetween;
    }
}

}  // namespace

ExpertFold fold_of(const Scene& scene, std::int64_t rank) {
    ExpertFold f;
    const Mesh& mesh = scene.evaluation.mesh;
    if (!mesh.has_experts || scene.plan.cluster.tiers.empty()) return f;
    const Factor& pp = mesh.dense[Axis::pp];
    const std::int64_t line = mesh.world / pp.size;
    const std::int64_t row = mesh.expert[Axis::tp].size * mesh.expert[Axis::ep].size;
    f.domain = domain_of(scene.plan.cluster, 0);
    // The inner axes of the experts' mesh fill a row, and a stage's ranks are neighbours in both meshes.
    const bool outermost = pp.size == 1 || (pp.stride == line && mesh.expert[Axis::pp].stride == line);
    const bool rows = mesh.expert[Axis::ep].size > 1 && mesh.expert[Axis::ep].stride < row
                      && mesh.expert[Axis::tp].stride < row && row % f.domain == 0 && line % row == 0;
    constexpr std::int64_t kMostNodes = 1024;  // of a line: more have no pixel each
    if (!outermost || !rows || line / f.domain > kMostNodes) return f;
    f.line = line, f.row = row, f.rows = line / row;
    f.first_rank = rank / line * line;
    f.stage = pp.size > 1 ? rank / line : -1;
    return f;
}

std::string fold_words(const ExpertFold& f) {
    const std::string whose = f.stage >= 0 ? " GPUs of a stage" : " GPUs";
    return "The same " + thousands(f.line) + whose + " serve two meshes: one line for the dense layers, "
           + (f.rows == 1 ? "and the same line for the experts."
                          : "folded into " + thousands(f.rows) + " rows of " + thousands(f.row)
                                + " for the experts.");
}

float fold_height(const ExpertFold& f) {
    const bool cut = f.rows > f.shown;
    const auto rows = static_cast<float>(cut ? f.shown / 2 + 1 : f.rows);
    return 20 + kNode + kRanks + kBrace + kHead + 14 + rows * (kNode + kRanks + kBetween) + (cut ? kMore : 0);
}

void draw_fold(Ui& ui, Rect room, const Scene& scene, const ExpertFold& f, const ShownLoads& loads) {
    Canvas& c = ui.canvas();
    const std::int64_t rank = std::max<std::int64_t>(0, scene.selection.rank);
    const Columns columns = columns_in(room, f.line / f.domain);
    const MeshAxes dense = axes_of(ui.theme(), scene.plan, scene.evaluation, false);
    const Painted line = along(ui.theme(), dense, false);
    // Words that would reach the arrow between two rows begin right of it.
    const auto title = [&](float y, const MeshAxis* axis, const std::string& words, float arrow) {
        if (axis == nullptr) return;
        TextStyle name = ui.style(12, Tone::text, Face::semibold);
        const std::string of = axis_label(axis->kind) + " " + thousands(axis->degree);
        const float w = c.text_width(of, name);
        c.text_in({columns.x, y, w + 2, 18}, of, name);
        float x = columns.x + w + 8;
        if (arrow < room.right() && x + c.text_width(words, ui.small()) > arrow - 6) x = arrow + 10;
        c.text_in({x, y, room.right() - x, 18}, words, ui.small());
    };
    const std::string where = (f.stage >= 0 ? "stage " + thousands(f.stage) + ": " : std::string())
                              + count_words(f.line / f.domain, scene.plan.cluster) + " in one line";
    float y = room.y;
    title(y, line.axis, where, room.right());
    y += 20;
    name_line(ui, room, y, "Dense", "attention, router");
    draw_nodes(ui, scene, columns, y, f.first_rank, f.line / f.domain, f.domain, line, rank);
    y += kNode + kRanks;
    const float row0 = y + kBrace + kHead + 14, row1 = row0 + kNode + kRanks + kBetween;
    draw_parts(ui, columns, f, y, row0, row1);
    const MeshAxes experts = axes_of(ui.theme(), scene.plan, scene.evaluation, true);
    const std::int64_t held = scene.plan.model.moe ? scene.plan.model.moe->experts : 0;
    // etp stands next to ep, also where it cuts nothing.
    const std::int64_t etp = scene.evaluation.mesh.expert[Axis::tp].size;
    title(row0 - 20, along(ui.theme(), experts, true).axis,
          "etp " + thousands(etp) + ": " + count_words(f.row / f.domain, scene.plan.cluster)
              + (f.row == f.domain ? " holds all " : " hold all ") + thousands(held) + " experts once"
              + (etp > 1 ? ", each cut over " + thousands(etp) + " GPUs" : ""),
          f.rows > 1 ? columns.at(f.row / f.domain - 1, row0).right() + 26 : room.right());
    draw_rows(ui, room, scene, columns, f, row0, rank, loads);
    // Right of the rows, and of the arrow to the second one.
    const float right = columns.at(f.row / f.domain - 1, row0).right() + 52;
    constexpr float kLeastWide = 1100;
    if (room.w >= kLeastWide)
        draw_token_way(ui, {right, row0 + 2, room.right() - right, room.bottom() - row0 + 8}, scene, f);
}

void draw_fold_lines(Canvas& c, const Theme& theme, const MeshLayout& layout, const CellGrid& grid,
                     const ExpertFold& f) {
    const std::int64_t nodes = f.row / f.domain, line = f.line / f.domain;
    if (layout.row_nodes % line != 0 || layout.has_pods) return;
    const Rect last = box_rect(layout.node, layout.node.count - 1, grid, 1);
    for (std::int64_t i = nodes; i < layout.row_nodes; i += nodes) {
        if (i % line == 0) continue;  // another stage begins
        const Rect a = box_rect(layout.node, i - 1, grid, 1), b = box_rect(layout.node, i, grid, 1);
        const float x = (a.right() + b.x) / 2;
        c.line({x, a.y - 4}, {x, last.bottom() + 4}, theme.text, 1.5f, Dash::dashed);
    }
}

}  // namespace pentamesh::ui
