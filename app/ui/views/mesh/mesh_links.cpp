#include "app/ui/views/mesh/mesh_draw.h"

#include "app/ui/kit/format.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr float kMark = 3.5f, kCasing = 2;
constexpr float kLeastGap = 6, kLeastQuietGap = 12;  // between nodes, for a line to run in
constexpr float kRoomyGap = 20;                      // for a line around nodes, and for marks
constexpr std::int64_t kMostCellLinks = 16;          // lines between cells of different nodes
constexpr std::int64_t kMostLit = 64;                // hops of a highlighted group
constexpr float kLane = 6;                           // between two lines that run side by side
constexpr std::int64_t kMostQuietNodes = 512;

// At most six corners of a line.
struct Route {
    std::array<Vec2, 6> at{};
    std::size_t count = 0;
    void go(float x, float y) {
        if (count > 0 && at[count - 1] == Vec2{x, y}) return;
        if (count > 1
            && ((at[count - 2].x == x && at[count - 1].x == x)
                || (at[count - 2].y == y && at[count - 1].y == y)))
            --count;  // straight on
        at[count++] = {x, y};
    }
    [[nodiscard]] std::span<const Vec2> span() const { return {at.data(), count}; }
};

bool same_line(float a, float b) {
    return std::abs(a - b) < 1;
}

// The line between two boxes that face each other across one gap; none where others lie between them.
Route straight(Rect a, Rect b, float most_gap, float shift) {
    Route r;
    if (b.x < a.x || (same_line(a.x, b.x) && b.y < a.y)) std::swap(a, b);
    if (same_line(a.y, b.y) && b.x - a.right() <= most_gap) {
        r.go(a.right(), a.center().y + shift), r.go(b.x, b.center().y + shift);
    } else if (same_line(a.x, b.x) && b.y - a.bottom() <= most_gap) {
        r.go(a.center().x + shift, a.bottom()), r.go(b.center().x + shift, b.y);
    }
    return r;
}

// The line from box to box around those between them: through the gap next to them, `by` off their borders.
Route around(Rect a, Rect b, float by) {
    Route r;
    if (same_line(a.y, b.y)) {  // below the row
        r.go(a.center().x, a.bottom()), r.go(a.center().x, a.bottom() + by);
        r.go(b.center().x, b.bottom() + by), r.go(b.center().x, b.bottom());
    } else if (same_line(a.x, b.x)) {
        r.go(a.right(), a.center().y), r.go(a.right() + by, a.center().y);
        r.go(b.right() + by, b.center().y), r.go(b.right(), b.center().y);
    } else {
        const Rect& low = a.y < b.y ? b : a;
        const Rect& high = a.y < b.y ? a : b;
        r.go(high.center().x, high.bottom()), r.go(high.center().x, high.bottom() + by);
        r.go(low.center().x, high.bottom() + by), r.go(low.center().x, low.y);
    }
    return r;
}

// The node that holds the next member after those that node `n` holds; -1: none. Nodes whose groups do not
// lie on whole nodes have none.
std::int64_t next_node(const MeshPlace& m, const Factor& f, std::int64_t n) {
    const std::int64_t domain = m.layout.node.size, rank = n * domain;
    if (f.stride % domain != 0 && domain % f.stride != 0) return -1;
    const std::int64_t hop = std::max(f.stride, domain);
    if (rank / f.stride % f.size + hop / f.stride >= f.size) return -1;
    const std::int64_t next = (rank + hop) / domain;
    return next < m.layout.node.count ? next : -1;
}

// Says at which distance an axis' lines run next to those of the others, in gaps with room for it.
float shift_of(const MeshPlace& m, const MeshAxis& axis) {
    if (std::min(m.layout.node_gap.x, m.layout.node_gap.y) * m.zoom < kRoomyGap) return 0;
    float crossing = 0, own = 0;
    for (const MeshAxis& a : m.axes.span()) {
        if (a.inside()) continue;
        if (a.kind == axis.kind) own = crossing;
        crossing += 1;
    }
    return (own - (crossing - 1) / 2) * 8;
}

void between_nodes(Ui& ui, const MeshPlace& m, const MeshAxis& axis, bool quiet) {
    const float gap = std::min(m.layout.node_gap.x, m.layout.node_gap.y) * m.zoom;
    if (m.merged() || gap < (quiet ? kLeastQuietGap : kLeastGap) || m.layout.node.count > kMostQuietNodes)
        return;
    const Color ground = ui.theme().window;
    const Color color = quiet ? mix(ground, axis.color, 0.5f) : axis.color;
    const std::int64_t used = m.used(m.layout.node);
    for (std::int64_t n = 0; n < used; ++n)
        for (const Factor& f : axis.factors.span()) {
            const std::int64_t to = next_node(m, f, n);
            if (to < 0) continue;
            const Route r = straight(m.node(n), m.node(to),
                                     1.5f * std::max(m.layout.node_gap.x, m.layout.node_gap.y) * m.zoom,
                                     shift_of(m, axis));
            draw_link(ui.canvas(), ground, r.span(), color, axis.mark.dash, quiet ? 1.2f : 2.0f,
                      quiet ? std::nullopt : std::optional(axis.kind));
        }
}

enum class Side : std::uint8_t { above, below, right };

// Returns the distance of a line between cells from the cell's side, so that it runs outside its tile; lines
// from one row of cells, and at the right from one column, stand side by side.
float lane_of(const MeshPlace& m, std::int64_t rank, Side side) {
    const Rect cell = m.cell(rank), node = m.node(rank / m.layout.node.size);
    const bool tiled = m.layout.tile.size > 1 && m.layout.tile.size < m.layout.node.size;
    const Rect tile = tiled ? m.tile_at(rank) : node;
    float off = 5;
    if (tiled)
        off += side == Side::above   ? cell.y - tile.y
               : side == Side::below ? tile.bottom() - cell.bottom()
                                     : tile.right() - cell.right();
    const float place = side == Side::right ? std::round((cell.y - tile.y) / (cell.h + 1))
                                            : std::round((cell.x - node.x) / (cell.w + 1));
    return off + kLane * std::min(place, 3.0f);
}

void between_cells(Ui& ui, const MeshPlace& m, const MeshAxis& axis, std::int64_t from, std::int64_t to) {
    const Rect a = m.cell(from), b = m.cell(to);
    Route r = straight(a, b, std::min(a.w, a.h), 0);
    if (r.count == 0 && same_line(a.y, b.y)) {
        const Rect node = m.node(from / m.layout.node.size);
        // Those inside a node keep clear of those that leave it.
        const bool above = (a.center().y <= node.center().y + 1) != axis.inside();
        const float by = lane_of(m, from, above ? Side::above : Side::below), edge = above ? a.y : a.bottom();
        const float y = above ? edge - by : edge + by;
        // Off the middle, where a line inside the node may start.
        const float xa = a.x + a.w * 0.75f, xb = b.x + b.w * 0.75f;
        r.go(xa, edge), r.go(xa, y), r.go(xb, y), r.go(xb, edge);
    } else if (r.count == 0) {
        r = around(a, b, lane_of(m, from, same_line(a.x, b.x) ? Side::right : Side::below));
    }
    draw_link(ui.canvas(), mix(ui.theme().window, ui.theme().panel, 0.7f), r.span(), axis.color,
              axis.mark.dash, 2, axis.kind);
}

// Writes "dp_shard · NVLink" next to an axis' first link inside a node.
void name_link(Ui& ui, const MeshPlace& m, const Scene& scene, const MeshAxis& axis) {
    const Rect a = m.cell(0), b = m.cell(axis.member(0, 1));
    const std::string text =
        axis_label(axis.kind) + " · " + std::string(tier_name(scene.plan.cluster, axis.tier));
    const TextStyle style = ui.style(11);
    const float w = ui.canvas().text_width(text, style);
    if (!same_line(a.x, b.x) || b.y - a.bottom() < 16 || m.node(0).right() - a.center().x - 16 < w) return;
    const float y = (a.bottom() + m.tile_at(0).bottom()) / 2;
    const float middle =
        m.layout.tile_head > 0
            ? m.tile_at(0).bottom() + (m.tile_at(axis.member(0, 1)).y - m.tile_at(0).bottom()) / 2
            : y + (b.y - a.bottom()) / 2;
    ui.canvas().text_in({a.center().x + 8, middle - 8, w + 2, 16}, text, style);
}

// Says in the gap between two nodes what crosses it, where a column of nodes leaves room for it.
void name_crossing(Ui& ui, const MeshPlace& m, const Scene& scene, const MeshAxis& axis, std::int64_t pairs,
                   bool drawn) {
    if (m.layout.node.count < 2) return;
    const Rect a = m.node(0), b = m.node(1);
    const float gap = b.x - a.right();
    if (!same_line(a.y, b.y) || gap < 90) return;
    Canvas& c = ui.canvas();
    const TextStyle name = ui.style(12, Tone::text, Face::semibold), plain = ui.style(11, Tone::secondary);
    float crossing = 0;
    for (const MeshAxis& other : m.axes.span()) {
        if (other.kind == axis.kind) break;
        if (!other.inside()) crossing += 1;
    }
    Rect at{a.right() + 4, a.center().y - 26 + crossing * 66, gap - 8, 16};
    const auto say = [&](const std::string& text, const TextStyle& style) {
        c.text_in(at, text, style, Align::center);
        at.y += 16;
    };
    say(axis_label(axis.kind), name);
    say(std::string(tier_name(scene.plan.cluster, axis.tier)), plain);
    if (!drawn) say(plural(pairs, "pair", "pairs"), plain);
    const AxisCost cost = cost_of(scene.evaluation, axis);
    if (cost.bytes > 0) say(traffic_text(cost.bytes) + " a step", plain);
}

// Calls f(from, to) for neighbours in every group.
template <typename F>
void for_each_pair(const MeshAxis& axis, std::int64_t world, F&& f) {
    for (std::int64_t first = 0; first < world; ++first) {
        if (axis.first_of(first) != first) continue;
        for (std::int64_t i = 0; i + 1 < axis.degree; ++i)
            f(axis.member(first, i), axis.member(first, i + 1));
    }
}

}  // namespace

void draw_link(Canvas& c, Color ground, std::span<const Vec2> points, Color color, Dash dash, float width,
               std::optional<GroupKind> ends) {
    if (points.size() < 2) return;
    const Vec2 a = points.front(), b = points.back();
    c.polyline(points, ground, width + 2 * kCasing);
    c.polyline(points, color, width, false, dash);
    // A gap that would be filled by the two marks keeps only the line.
    if (!ends || std::abs(a.x - b.x) + std::abs(a.y - b.y) <= 4 * kMark) return;
    draw_axis_mark(c, a, kMark, *ends, color);
    draw_axis_mark(c, b, kMark, *ends, color);
}

void draw_links(Ui& ui, const MeshPlace& m, const Scene& scene, const MeshAxis& axis, bool quiet) {
    const std::int64_t world = scene.evaluation.mesh.world;
    const auto holds = [&](Vec2 least) { return m.grid.cell.x >= least.x && m.grid.cell.y >= least.y; };
    const bool cards = !quiet && holds(kCard);
    if (axis.inside()) {
        // A tile says without lines who is in it.
        if (quiet || !holds(&axis == m.tile ? kCard : kSmallCard)) return;
        for_each_pair(axis, world, [&](std::int64_t a, std::int64_t b) { between_cells(ui, m, axis, a, b); });
        if (&axis != m.tile) name_link(ui, m, scene, axis);
        return;
    }
    const std::int64_t pairs = world / axis.degree * (axis.degree - 1);
    const bool each = cards && pairs <= kMostCellLinks;
    if (each)
        for_each_pair(axis, world, [&](std::int64_t a, std::int64_t b) { between_cells(ui, m, axis, a, b); });
    else
        between_nodes(ui, m, axis, quiet);
    if (!quiet) name_crossing(ui, m, scene, axis, pairs, each);
}

void draw_lit_links(Canvas& canvas, const Theme& theme, const MeshPlace& m, const MeshAxis& axis,
                    std::int64_t rank) {
    const float gap = std::min(m.layout.node_gap.x, m.layout.node_gap.y) * m.zoom;
    if (m.merged() || gap < kLeastGap || axis.inside()) return;
    const std::int64_t first = axis.first_of(rank), domain = m.layout.node.size;
    std::int64_t from = first / domain, drawn = 0;
    for (std::int64_t i = 1; i < axis.degree && drawn < kMostLit; ++i) {
        const std::int64_t to = axis.member(first, i) / domain;
        if (to == from) continue;
        const Rect a = m.node(from), b = m.node(to);
        Route r = straight(a, b, 1.5f * std::max(m.layout.node_gap.x, m.layout.node_gap.y) * m.zoom,
                           shift_of(m, axis));
        if (r.count == 0 && gap >= kRoomyGap) r = around(a, b, gap / 2);
        draw_link(canvas, theme.window, r.span(), axis.color, axis.mark.dash, gap < 12 ? 1.5f : 2.0f,
                  gap >= kRoomyGap ? std::optional(axis.kind) : std::nullopt);
        from = to, ++drawn;
    }
}

}  // namespace pentamesh::ui
