#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_experts.h"
#include "app/ui/views/mesh/mesh_figure.h"
#include "app/ui/views/mesh/mesh_large.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "core/mesh/places.h"
#include "core/sharding/sharding.h"
#include "core/teach/glossary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kMark = 3.5f, kCasing = 2;
constexpr float kLeastGap = 6, kLeastQuietGap = 12;  // between nodes, for a line to run in
constexpr float kRoomyGap = 20;                      // for a line around nodes, and for marks
constexpr std::int64_t kMostCellLinks = 16;          // lines between cells of different nodes
constexpr std::int64_t kMostHighlighted = 64;        // hops of a highlighted group
constexpr float kLane = 6;                           // between two lines that run side by side
constexpr std::int64_t kMostQuietNodes = 512;
constexpr std::int64_t kFewMembers = 4;  // of a group whose lines fit into a narrow gap around others

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

// The line between two boxes that face each other across one gap, off their middles by `shift`; none where
// others lie between them.
Route straight(Rect a, Rect b, float most_gap, Vec2 shift) {
    Route r;
    if (b.x < a.x || (same_line(a.x, b.x) && b.y < a.y)) std::swap(a, b);
    if (same_line(a.y, b.y) && b.x - a.right() <= most_gap) {
        r.go(a.right(), a.center().y + shift.y), r.go(b.x, b.center().y + shift.y);
    } else if (same_line(a.x, b.x) && b.y - a.bottom() <= most_gap) {
        r.go(a.center().x + shift.x, a.bottom()), r.go(b.center().x + shift.x, b.y);
    }
    return r;
}

// The line from box to box around those between them: through the gap next to them, `by` off their borders.
// It leaves them off their middles by `shift`.
Route around(Rect a, Rect b, float by, Vec2 shift) {
    Route r;
    const Vec2 from = a.center() + shift, to = b.center() + shift;
    if (same_line(a.y, b.y)) {  // below the row
        r.go(from.x, a.bottom()), r.go(from.x, a.bottom() + by);
        r.go(to.x, b.bottom() + by), r.go(to.x, b.bottom());
    } else if (same_line(a.x, b.x)) {
        r.go(a.right(), from.y), r.go(a.right() + by, from.y);
        r.go(b.right() + by, to.y), r.go(b.right(), to.y);
    } else {
        const bool down = a.y < b.y;
        const Rect &low = down ? b : a, &high = down ? a : b;
        const float low_x = down ? to.x : from.x, high_x = down ? from.x : to.x;
        r.go(high_x, high.bottom()), r.go(high_x, high.bottom() + by);
        r.go(low_x, high.bottom() + by), r.go(low_x, low.y);
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
    const float seen = ui.theme().id == ThemeId::high_contrast ? 0.8f : 0.5f;
    const Color color = quiet ? mix(ground, axis.color, seen) : axis.color;
    const std::int64_t used = m.used(m.layout.node);
    for (std::int64_t n = 0; n < used; ++n)
        for (const Factor& f : axis.factors.span()) {
            const std::int64_t to = next_node(m, f, n);
            if (to < 0) continue;
            const Route r = straight(m.node(n), m.node(to),
                                     1.5f * std::max(m.layout.node_gap.x, m.layout.node_gap.y) * m.zoom,
                                     {shift_of(m, axis), shift_of(m, axis)});
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
    Route r = straight(a, b, std::min(a.w, a.h), {});
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
        r = around(a, b, lane_of(m, from, same_line(a.x, b.x) ? Side::right : Side::below), {});
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
    // Between the two tiles, and clear of the line of the next cell.
    const float gap =
        m.tile != nullptr ? m.tile_at(axis.member(0, 1)).y - m.tile_at(0).bottom() : b.y - a.bottom();
    const Rect next = m.cell(1);
    const float end = same_line(next.y, a.y) ? next.center().x : m.node(0).right();
    if (!same_line(a.x, b.x) || gap < 16 || end - a.center().x - 16 < w) return;
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

void draw_highlighted_links(Canvas& canvas, const Theme& theme, const MeshPlace& m, const MeshAxis& axis,
                            std::int64_t rank) {
    const float gap = std::min(m.layout.node_gap.x, m.layout.node_gap.y) * m.zoom;
    if (m.merged() || gap < kLeastGap || axis.inside()) return;
    const std::int64_t first = axis.first_of(rank), domain = m.layout.node.size;
    std::int64_t from = first / domain, drawn = 0;
    // Lines run past the cells of the group, not past the middle of their nodes.
    const Vec2 lane =
        m.cell(rank).center() - m.node(rank / domain).center() + Vec2{shift_of(m, axis), shift_of(m, axis)};
    const bool goes_around = gap >= kRoomyGap || axis.degree <= kFewMembers;
    for (std::int64_t i = 1; i < axis.degree && drawn < kMostHighlighted; ++i) {
        const std::int64_t to = axis.member(first, i) / domain;
        if (to == from) continue;
        const Rect a = m.node(from), b = m.node(to);
        Route r = straight(a, b, 1.5f * std::max(m.layout.node_gap.x, m.layout.node_gap.y) * m.zoom, lane);
        if (r.count == 0 && goes_around) r = around(a, b, gap / 2, lane);
        draw_link(canvas, theme.window, r.span(), axis.color, axis.mark.dash, gap < 12 ? 1.5f : 2.0f,
                  gap >= kRoomyGap ? std::optional(axis.kind) : std::nullopt);
        from = to, ++drawn;
    }
}

namespace {

// Places a rank's part of a dense weight: columns cut by tp, rows by the axes that cut parameters.
struct Part {
    std::int64_t columns = 1, column = 0, rows = 1, row = 0;
    bool copied = false;  // another rank with a lower number keeps the same
};

Part part_of(const Scene& scene, std::int64_t rank) {
    const Mesh& mesh = scene.evaluation.mesh;
    const auto at = [&](const Factor& f) { return rank / f.stride % f.size; };
    Part p;
    p.columns = mesh.dense[Axis::tp].size, p.column = at(mesh.dense[Axis::tp]);
    const ParameterCopies copies = parameter_copies_of(scene.plan, mesh);
    for (const Factor& f : copies.dense.span()) p.copied = p.copied || at(f) > 0;
    const GroupFactors cut =
        group_factors(mesh, scene.plan.layout.zero < 3 ? GroupKind::gtp_remat : GroupKind::fsdp);
    for (const Factor& f : cut.span()) {
        p.row += p.rows * at(f);
        p.rows *= f.size;
    }
    return p;
}

std::string words_of(const Part& p) {
    const std::int64_t parts = p.columns * p.rows;
    const std::string held = parts == 1   ? "the whole"
                             : parts == 2 ? "a half"
                             : parts == 4 ? "a quarter"
                             : parts == 8 ? "an eighth"
                                          : "1 of " + thousands(parts);
    return p.copied ? "same, copied" : held;
}

// Draws a weight as a square, cut as it is, with the held part filled, or hatched where it is a copy.
void draw_part(Ui& ui, Rect square, const Part& p, Color ink, Color ground) {
    Canvas& c = ui.canvas();
    constexpr float kMostRulers = 16;  // lines closer than 4 pixels would be a grey
    const float w = square.w / static_cast<float>(p.columns), h = square.h / static_cast<float>(p.rows);
    Rect held{square.x + w * static_cast<float>(p.column), square.y + h * static_cast<float>(p.row),
              std::max(w, 1.5f), std::max(h, 1.5f)};
    c.rect(square, ground);
    // A whole weight says nothing that should stand out.
    if (p.columns * p.rows == 1) ink = ui.theme().secondary;
    if (p.copied)
        c.pattern(held, Pattern::hatched, ink);
    else
        c.rect(held, ink);
    for (std::int64_t i = 1; i < p.columns && static_cast<float>(p.columns) <= kMostRulers; ++i) {
        const float x = square.x + w * static_cast<float>(i);
        c.line({x, square.y}, {x, square.bottom()}, color_of(ui.theme(), GroupKind::tp), 1.5f);
    }
    for (std::int64_t i = 1; i < p.rows && static_cast<float>(p.rows) <= kMostRulers; ++i) {
        const float y = square.y + h * static_cast<float>(i);
        c.line({square.x, y}, {square.right(), y}, color_of(ui.theme(), GroupKind::dp_shard), 1.5f);
    }
    c.frame(square, ui.theme().secondary, 1);
}

// Returns true if a cell is a card, with a strip of its GPU's memory.
bool holds_strips(const Scene& scene, const CellGrid& grid) {
    return scene.evaluation.mesh.world <= kMostCards && grid.cell.x >= kSmallCard.x
           && grid.cell.y >= kSmallCard.y;
}

// Draws how full the GPU's memory is, by category.
void draw_memory_strip(Ui& ui, Rect strip, const Scene& scene, std::int64_t rank) {
    const Memory& memory = scene.evaluation.memory;
    const auto stage = static_cast<std::size_t>(std::max(0, stage_of_rank(scene.evaluation.mesh, rank)));
    if (stage >= memory.stage.size() || memory.hbm <= 0) return;
    Canvas& c = ui.canvas();
    c.rect(strip, ui.theme().hairline, 1);
    MemoryParts parts =
        memory_parts(strip, memory.stage[stage], static_cast<double>(strip.w) / memory.hbm, false);
    for (Rect& part : parts) part.w = held_between(strip.right() - part.x, 0.0f, part.w);
    fill_memory(c, ui.theme(), parts);
    if (memory.stage[stage].total() > memory.hbm) c.frame(strip.inset(-1), ui.theme().bad, 1);
}

constexpr Vec2 kRoomyCard{150, 120};  // from this size on a card has larger type

void draw_card(Ui& ui, Rect cell, const MeshPlace& m, const Scene& scene, std::int64_t rank, Color ground,
               bool plain) {
    Canvas& c = ui.canvas();
    const bool roomy = cell.h >= kRoomyCard.y && cell.w >= kRoomyCard.x;
    const TextStyle big = ui.style(roomy ? 28 : 20, Tone::text, Face::semibold).in(ink_on(ground)),
                    small = ui.style(roomy ? 13 : 11).in(big.color);
    const float line = small.size + 3;
    Rect in = cell.inset(10, 8);
    const float number = c.text({in.x, in.y - 3}, std::to_string(rank), big);
    if (plain) return;
    Rect strip = in.cut_bottom(7);
    draw_memory_strip(ui, strip, scene, rank);
    in.cut_bottom(6);
    Rect words{in.x, in.y + 1.25f * big.size, in.w, line};
    float widest = number;
    for (const MeshAxis& axis : m.axes.span()) {
        if (words.bottom() > in.bottom() + 1) break;
        const std::string text = axis_label(axis.kind) + " " + std::to_string(axis.place_of(rank));
        widest = std::max(widest, c.text_width(text, small));
        c.text_in(words, text, small);
        words.y += line;
    }
    if (scene.selection.expert()) return;
    const float caption = in.h >= 66 ? line + 1 : 0.0f;
    const float side = std::min({std::max(62.0f, cell.h * 0.6f), in.h - caption, in.w - widest - 12});
    if (side < 24) return;
    const Part p = part_of(scene, rank);
    const Rect square{in.right() - side, in.y, side, side};
    draw_part(ui, square, p, big.color, mix(ground, big.color, 0.06f));
    if (caption > 0) {
        const std::string text = words_of(p);
        const float w = c.text_width(text, small);
        // It stands below the words of the axes if it has no room next to them.
        const bool next_to_them = w <= in.w - widest - 4;
        const float y = next_to_them ? square.bottom() + 2 : std::max(square.bottom() + 2, words.y);
        if (w <= in.w && y + line <= in.bottom() + 2)
            c.text_in({in.right() - w, y, w + 1, line}, text, small);
    }
}

void draw_small_card(Ui& ui, Rect cell, const Scene& scene, std::int64_t rank, Color ground, bool plain) {
    const TextStyle style = ui.style(13).in(ink_on(ground));
    Rect in = cell.inset(4, 4);
    if (!plain) {
        draw_memory_strip(ui, in.cut_bottom(5), scene, rank);
        in.cut_bottom(2);
    }
    // In a low cell the wires that end in the middle of its edges leave the number its left.
    constexpr float kClearOfWires = 34, kHalfWires = 16;
    const std::string number = std::to_string(rank);
    const bool left =
        in.h < kClearOfWires && ui.canvas().text_width(number, style) + 4 <= in.w / 2 - kHalfWires;
    if (left) in.cut_left(4);
    ui.canvas().text_in(in, number, style, left ? Align::left : Align::center);
}

// Returns the largest size at which the longest number fits a cell; 0 where none does.
float number_size(Ui& ui, const CellGrid& grid) {
    const std::string longest(std::to_string(std::max<std::int64_t>(0, grid.count - 1)).size(), '0');
    for (const float size : {13.0f, 11.0f, 9.0f})
        if (ui.canvas().text_width(longest, ui.style(size)) + (size > 11 ? 12.0f : 3.0f) <= grid.cell.x
            && grid.cell.y >= size + 2)
            return size;
    return 0;
}

}  // namespace

void draw_cards(Ui& ui, const MeshPlace& m, const Scene& scene, const CellGrid& colored, Cards which) {
    const bool plain = which == Cards::ranks;
    const Vec2 cell = m.grid.cell;
    const float size = number_size(ui, m.grid);
    if (size <= 0 || m.merged()) return;
    const bool few = scene.evaluation.mesh.world <= kMostCards;
    const bool card = few && cell.x >= kCard.x && cell.y >= kCard.y;
    const bool small = holds_strips(scene, m.grid);
    const HighlightedGroups highlighted = highlighted_groups(ui.theme(), scene);
    for_each_seen_node(m.layout, m.grid, m.zoom, m.area, [&](std::int64_t node) {
        const std::int64_t end = std::min<std::int64_t>((node + 1) * m.layout.node.size, colored.count);
        for (std::int64_t r = node * m.layout.node.size; r < end; ++r) {
            const Rect box = m.cell(r);
            if (box.bottom() < m.area.y || box.y > m.area.bottom() || box.right() < m.area.x
                || box.x > m.area.right())
                continue;
            const std::int64_t id = cell_id(colored, r);
            Color ground = colored.palette[static_cast<std::size_t>(id % colored.palette_size)];
            if (colored.highlighted_id >= 0 && id != colored.highlighted_id)  // as the cell is drawn
                ground = mix(ground, colored.ground, colored.dim);
            if (which == Cards::highlighted) ground = highlighted.color_of(r);
            if (which == Cards::highlighted && ground == highlighted.quiet) continue;
            if (card)
                draw_card(ui, box, m, scene, r, ground, plain);
            else if (small)
                draw_small_card(ui, box, scene, r, ground, plain);
            else
                ui.canvas().text_in(box, std::to_string(r), ui.style(size).in(ink_on(ground)), Align::center);
        }
    });
}

void write_cell_words(Ui& ui, Rect row, const Scene& scene, const CellGrid& grid, const std::string& all) {
    constexpr float kStrip = 36, kBetween = 24;
    Canvas& c = ui.canvas();
    const TextStyle style = ui.small();
    const std::string_view words = whole_parts(ui, all, row.w, style);
    if (words.size() < all.size() && ui.hovers(row)) ui.tooltip(all);
    const bool strips = holds_strips(scene, grid) && scene.evaluation.memory.hbm > 0;
    const std::string held = "memory used, of " + memory_text(scene.evaluation.memory.hbm);
    const float said = words.empty() ? 0 : c.text_width(words, style) + kBetween;
    const float width = said + kStrip + 6 + c.text_width(held, style);
    if (!strips || width > row.w) return static_cast<void>(c.text_in(row, words, style, Align::center));
    row = {row.center().x - width / 2, row.y, width + 1, row.h};
    if (!words.empty()) write_left(ui, row, words, style, kBetween);
    draw_memory_strip(ui, {row.x, row.center().y - 3, kStrip, 7}, scene, 0);
    row.cut_left(kStrip + 6);
    c.text_in(row, held, style);
}

namespace {

// Returns the cell that holds a rank, also where one stands for several.
Rect cell_of(const CellGrid& grid, std::int64_t rank) {
    return cell_rect(grid, rank / grid.step * grid.step);
}

void outline(Canvas& c, Rect cell, Color color, float width) {
    const float grow = std::max(0.0f, 5 - cell.w) / 2;  // a cell of two pixels is still found
    c.frame(cell.inset(-1.5f - grow), color, width, cell.w > 20 ? 3.0f : 0.0f);
}

// Says "tp stays inside NVLink, dp_shard and pp cross RoCE.": the axes by the slowest tier of their groups.
std::string where_all_lie(const Scene& scene) {
    const MeshAxes axes = axes_of({}, scene);
    const int tiers = static_cast<int>(scene.plan.cluster.tiers.size());
    std::string out;
    for (int tier = 0; tier < std::max(1, tiers); ++tier) {
        std::vector<std::string> names;
        for (const MeshAxis& a : axes.span())
            if (a.tier == tier) names.push_back(axis_label(a.kind));
        if (names.empty()) continue;
        out += out.empty() ? "" : ", ";
        for (std::size_t i = 0; i < names.size(); ++i)
            out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
        const bool one = names.size() == 1;
        out += tier == 0 ? (one ? " stays inside " : " stay inside ") : (one ? " crosses " : " cross ");
        out += tier_label(scene.plan.cluster, tier);
    }
    // The layout has a name for it: what shards talks most, what copies least.
    const auto axis_of = [&](GroupKind kind) {
        return std::ranges::find(axes.span(), kind, &MeshAxis::kind);
    };
    const auto shard = axis_of(GroupKind::dp_shard), copy = axis_of(GroupKind::dp_replicate);
    const auto end = axes.span().end();
    if (shard != end && copy != end && scene.plan.layout.zero == 3 && shard->tier < copy->tier)
        out += ": shards near, copies far";
    const bool none_inside = std::ranges::none_of(axes.span(), [](const MeshAxis& a) { return a.tier == 0; });
    const std::string node(domain_name(scene.plan.cluster));
    return (none_inside && !out.empty() ? "None stays inside a " + node + ": " : "") + out + ".";
}

// Says over what the groups of a rank spread: "tp in its node, pp over 16 nodes, dp_shard over 6 pods".
std::string spread_words(const Scene& scene, std::int64_t rank) {
    const Cluster& cluster = scene.plan.cluster;
    if (cluster.tiers.empty()) return "";
    const std::string node(domain_name(cluster));
    const bool pods = cluster.tiers.size() > 2;
    const auto boxes = [&](const MeshAxis& axis, std::int64_t size) {
        const std::int64_t first = axis.first_of(rank);
        std::int64_t count = 0, last = -1;
        for (std::int64_t i = 0; i < axis.degree; ++i)  // members ascend
            if (const std::int64_t box = axis.member(first, i) / size; box != last) last = box, ++count;
        return count;
    };
    std::string out;
    const MeshAxes axes = axes_of({}, scene);
    for (const MeshAxis& axis : axes.span()) {
        const std::int64_t nodes = boxes(axis, domain_of(cluster, 0));
        const std::int64_t in_pods = pods ? boxes(axis, domain_of(cluster, 1)) : 1;
        out += (out.empty() ? "" : ", ") + axis_label(axis.kind);
        if (in_pods > 1)
            out += " over " + thousands(in_pods) + " pods";
        else
            out += nodes == 1 ? " in its " + node : " over " + thousands(nodes) + " " + node + "s";
    }
    return out;
}

}  // namespace

MeshCaption mesh_caption(const Scene& scene) {
    if (scene.evaluation.mesh.world <= 1) return {"One GPU: no axis cuts anything, nobody to talk to.", ""};
    if (scene.selection.all_axes) {
        const std::int64_t rank = std::max<std::int64_t>(0, scene.selection.rank);
        return {where_all_lie(scene),
                scene.evaluation.mesh.world > kMostCards
                    ? "Lit: the groups of rank " + thousands(rank) + ": " + spread_words(scene, rank) + "."
                    : "A tile is a group inside a node; a line between nodes is one of those that cross."};
    }
    const AxisCaption c = caption_of(scene.plan, scene.evaluation, scene.selection.group);
    if (c.talk.empty()) return {c.where, ""};
    MeshCaption out{c.where + ".", c.talk};
    const AxisTraffic& t = scene.evaluation.comm.by_axis[scene.selection.group];
    if (t.sent_bytes_per_rank <= 0) return out;
    const Comm& comm = scene.evaluation.comm;
    out.plain +=
        ", " + traffic_text(t.sent_bytes_per_rank)
        + (comm.stages.devices > 1 ? " a step per GPU of stage " + std::to_string(comm.busiest_device)
                                   : std::string(" sent per GPU and step"));
    return out;
}

MeshCaption failure_caption(const Scene& scene, std::int64_t node) {
    const Failure f = lose_node(scene.plan, scene.evaluation.mesh, node);
    MeshCaption out;
    out.bold =
        "Without node " + thousands(node) + " " + plural(f.waiting, "other GPU waits.", "other GPUs wait.");
    for (const AxisFailure& a : f.axes)
        if (!is_expert(a.kind) || scene.selection.expert())
            out.plain += (out.plain.empty() ? "" : " · ") + axis_label(a.kind) + " " + thousands(a.groups_hit)
                         + " of " + thousands(a.groups) + " groups";
    out.plain +=
        f.state_survives ? " · every shard survives elsewhere" : " · the run goes back to its checkpoint";
    return out;
}

void draw_selected(Canvas& c, const Theme& theme, const Scene& scene, const CellGrid& grid) {
    const std::int64_t rank = scene.selection.rank;
    if (rank >= 0 && rank < scene.evaluation.mesh.world) outline(c, cell_of(grid, rank), theme.text, 2);
}

void draw_ranks(Canvas& c, const Theme& theme, const Selection& selection, const CellGrid& grid) {
    if (selection.topic != Selection::Topic::ranks) return;
    const auto& ranks = selection.ranks;
    for (std::size_t i = 0; i < ranks.size();) {
        if (ranks[i] >= grid.count) return;
        Rect frame = cell_of(grid, ranks[i]);
        // Neighbours in a row are one frame.
        for (++i; i < ranks.size() && ranks[i] == ranks[i - 1] + 1 && ranks[i] < grid.count; ++i) {
            const Rect next = cell_of(grid, ranks[i]);
            if (next.y != frame.y || next.x > frame.right() + next.w) break;
            frame.w = next.right() - frame.x;
        }
        outline(c, frame, theme.text, 2);
    }
}

std::string rank_tooltip(const Scene& scene, std::int64_t rank) {
    const Mesh& mesh = scene.evaluation.mesh;
    std::string s = "rank " + thousands(rank);
    if (rank >= mesh.world) return s + "\nidle: the layout uses " + thousands(mesh.world) + " GPUs";
    s += "\n" + place_of(scene.plan.cluster, rank);
    if (const std::string host = host_of(scene, rank); !host.empty()) s += ", " + host;
    const Coordinates at =
        scene.selection.expert() ? expert_coordinates(mesh, rank) : dense_coordinates(mesh, rank);
    const auto& factors = scene.selection.expert() ? mesh.expert : mesh.dense;
    static constexpr std::string_view kDense[] = {"tp", "cp", "ep", "dp_shard", "dp_replicate", "pp"};
    static constexpr std::string_view kExpert[] = {"etp", "cp", "ep", "edp", "edp", "pp"};
    static constexpr std::string_view kParts[] = {"etp", "cp", "ep", "edp_shard", "edp_replicate", "pp"};
    const std::span<const std::string_view> names = !scene.selection.expert()              ? kDense
                                                    : has_kind(mesh, GroupKind::edp_shard) ? kParts
                                                                                           : kExpert;
    for (std::size_t i = 0; i < factors.size(); ++i)
        if (factors[i].size > 1)
            s += "\n" + std::string(names[i]) + " " + thousands(at[i]) + " of " + thousands(factors[i].size);
    return s;
}

namespace {

constexpr float kSample = 30, kLeastEntry = 244, kEntryGap = 16, kEntryLineGap = 6;

double longest(const Scene& scene, std::span<const MeshAxis> entries) {
    double most = 0;
    for (const MeshAxis& a : entries) most = std::max(most, cost_of(scene.evaluation, a).time_s);
    return most;
}

// Says where the groups of an axis are drawn that has none in the picture.
std::string see_words(const MeshAxis& axis) {
    return is_expert(axis.kind) ? "see experts" : "see dense";
}

// The longest wording first.
using Wordings = std::array<std::string, 3>;
Wordings where_of(const Scene& scene, const MeshAxis& axis) {
    const Cluster& cluster = scene.plan.cluster;
    const std::string node(domain_name(cluster));
    const std::string place = axis.inside()    ? "inside the " + node
                              : axis.tier >= 2 ? "pod to pod"
                                               : node + " to " + node;
    const std::string tier = tier_label(cluster, axis.tier);
    if (axis.elsewhere) {
        const std::string see = see_words(axis);
        return {see + " · " + place + " · " + tier, see + " · " + tier, see};
    }
    return {place + " · " + tier + ", " + std::string(ui::words_of(axis.mark.dash)), place + " · " + tier,
            tier};
}

std::string entry_name(const MeshAxis& axis) {
    return axis_label(axis.kind) + " " + thousands(axis.degree);
}

// Entries stand in one row where each then has room for its name and its wire, else in as many columns as do.
std::size_t columns_in(Ui& ui, float width, const Scene& scene, const std::vector<MeshAxis>& entries,
                       Legend form) {
    float least = form == Legend::rows ? kLeastEntry : 0;
    for (const MeshAxis& axis : entries)
        least = std::max(least, kSample + 16 + ui.canvas().text_width(entry_name(axis), ui.title())
                                    + ui.canvas().text_width(where_of(scene, axis).back(), ui.small()));
    const float most = std::max(1.0f, std::floor((width + kEntryGap) / (least + kEntryGap)));
    return std::min(entries.size(), static_cast<std::size_t>(most));
}

bool is_tile(const Scene& scene, const MeshAxis& axis) {
    return axis.inside() && axis.factors.count == 1 && axis.stride() == 1
           && tile_of(scene.plan, scene.evaluation, scene.selection.expert()) == axis.degree;
}

void draw_sample(Ui& ui, Rect at, const Scene& scene, const MeshAxis& axis) {
    Canvas& c = ui.canvas();
    if (is_tile(scene, axis)) {
        const Rect tile{at.x, at.center().y - 8, 26, 16};
        c.box(tile, mix(ui.theme().window, axis.color, 0.15f), axis.color, 2, 5);
        return;
    }
    const std::array<Vec2, 2> line{Vec2{at.x + 3, at.center().y}, Vec2{at.x + kSample - 3, at.center().y}};
    if (axis.elsewhere) return;  // no line of it is in the picture
    draw_link(c, ui.theme().window.alpha(0), line, axis.color, axis.mark.dash, 2, axis.kind);
}

// Writes words, then the longest wording of others that has room.
void write_two(Ui& ui, Rect row, std::string_view first, const TextStyle& a, const Wordings& then,
               const TextStyle& b) {
    write_left(ui, row, first, a);
    ui.canvas().text_in(row, wording(ui, row.w, then, b), b);
}

// Draws an entry of one line.
void draw_line(Ui& ui, Rect row, const Scene& scene, const MeshAxis& axis) {
    names_axis(ui, axis.kind, row);
    draw_sample(ui, row, scene, axis);
    row.cut_left(kSample + 6);
    const AxisCost cost = cost_of(scene.evaluation, axis);
    const std::string tier = tier_label(scene.plan.cluster, axis.tier);
    const std::string waits = cost.waits_s > 0 ? " · " + percent(cost.share()) + " waits" : "";
    write_two(ui, row, entry_name(axis), ui.title(),
              axis.elsewhere ? Wordings{see_words(axis) + waits, see_words(axis), ""}
                             : Wordings{tier + waits, tier, ""},
              ui.small());
}

}  // namespace

float legend_height(Ui& ui, float width, const Scene& scene, Legend form) {
    const std::vector<MeshAxis> entries = axes_that_send(ui.theme(), scene);
    if (entries.empty()) return 0;
    const std::size_t columns = columns_in(ui, width, scene, entries, form);
    const std::size_t rows = (entries.size() + columns - 1) / columns;
    const float high = form == Legend::lines ? kLegendLine : kLegendEntry;
    return static_cast<float>(rows) * (high + kEntryLineGap) - kEntryLineGap;
}

void draw_legend_entry(Ui& ui, Rect room, const Scene& scene, const MeshAxis& axis, double most_s) {
    Canvas& c = ui.canvas();
    names_axis(ui, axis.kind, {room.x, room.y, room.w, kLegendEntry});
    draw_sample(ui, {room.x, room.y, kSample, 18}, scene, axis);
    room.cut_left(kSample + 8);
    write_two(ui, room.cut_top(18), entry_name(axis), ui.title(), where_of(scene, axis), ui.small());
    const AxisCost cost = cost_of(scene.evaluation, axis);
    const Rect row = room.cut_top(17);
    if (!scene.evaluation.step) {
        c.text_in(row, "—", ui.small());
        return;
    }
    if (cost.bytes <= 0) {
        c.text_in(row, words_without_bytes(axis.kind), ui.small());
        return;
    }
    const std::string waits = cost.waits_s > 0 ? percent(cost.share()) : "";
    const Wordings said = waits.empty() ? Wordings{"a step; hidden", "hidden", ""}
                                        : Wordings{"a step; " + waits + " of the step waits",
                                                   waits + " of the step waits", waits + " waits"};
    write_two(ui, row, traffic_text(cost.bytes) + " in " + time_text(cost.time_s),
              ui.style(12, Tone::text, Face::semibold), said, ui.small());
    const float full = room.w - 8, scale = most_s > 0 ? static_cast<float>(cost.time_s / most_s) : 0;
    const Rect bar{room.x, room.y + 3, std::max(3.0f, full * scale), 6};
    const float filled = bar.w * static_cast<float>(std::clamp(cost.waits_s / cost.time_s, 0.0, 1.0));
    c.rect({bar.x, bar.y, filled, bar.h}, axis.color);
    c.frame(bar, axis.color, 1);
}

void draw_legend(Ui& ui, Rect room, const Scene& scene, Legend form) {
    const std::vector<MeshAxis> entries = axes_that_send(ui.theme(), scene);
    if (entries.empty()) return;
    const double most = longest(scene, entries);
    const std::size_t columns = columns_in(ui, room.w, scene, entries, form);
    const float width = std::min(380.0f, (room.w + kEntryGap) / static_cast<float>(columns) - kEntryGap);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const float high = form == Legend::lines ? kLegendLine : kLegendEntry;
        const Rect at = box_in_rows(room.min(), i, columns, {width, high}, {kEntryGap, kEntryLineGap});
        if (form == Legend::lines)
            draw_line(ui, at, scene, entries[i]);
        else
            draw_legend_entry(ui, at, scene, entries[i], most);
    }
}

// Places the parts around the cells, and the cells under the camera.

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
    if (shows_figure(scene, state)) {
        const float high = figure_legend_height(room.w);
        if (room.h < 3 * high) return room;
        draw_figure_legend(ui, room.cut_top(high), scene, state);
        room.cut_top(8);
        return room;
    }
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
    constexpr float kMostLegend = 0.4f;  // of the height
    Legend form = room.h < kLow ? Legend::lines : room.h < kHigh ? Legend::row : Legend::rows;
    if (legend_height(ui, room.w, scene, form) > room.h * kMostLegend) form = Legend::lines;
    const float legend = legend_height(ui, room.w, scene, form);
    const float high = room.h;
    const bool enlarged =
        scene.evaluation.mesh.world >= kEnlargedFrom && period.nodes > 1 && period.count > 1;
    if (!enlarged && legend > high * kMostLegend) return room;
    // The legend has room of its own under the cells: the beam from the strip to them crosses no words.
    room.cut_bottom(kBelow);
    draw_legend(ui, room.cut_bottom(legend), scene, form);
    room.cut_bottom(form == Legend::lines ? 4.0f : 8.0f);
    if (!enlarged) return room;
    const float tile = high >= 560 ? kStripTile : high >= kLow ? 44.0f : 26.0f;
    const Rect strip = room.cut_top(strip_height(tile));
    room.cut_top(form == Legend::lines ? 2.0f : 10.0f);
    const MeshLayout& layout = layout_for(state, room, scene, ui.canvas().scale());
    const MeshCamera camera = held(state.camera, room, layout);
    if (camera.zoom == 1) {
        state.enlarged = period_rect(period, layout, seen(layout, camera, room), camera.zoom);
        draw_beam(ui.canvas(), ui.theme(), strip_ground(strip, tile, period), state.enlarged.inset(-2));
    }
    draw_strip(ui.canvas(), ui.theme(), 11, strip, tile, scene, period);
    return room;
}

const MeshLayout& layout_for(MeshViewState& s, Rect cells, const Scene& scene, float scale) {
    Vec2 room{cells.w, cells.h - kRowWords};
    const MeshInBoxes boxes = in_boxes(scene);
    if (boxes.pod > 0) room = {room.x - 2 * kAroundPods, room.y - under_pods(cells.h)};
    const MeshLayoutOf of{.room = room,
                          .boxes = boxes,
                          .scale = scale,
                          .mesh = scene.evaluation.mesh,
                          .gpus = scene.plan.cluster.gpus,
                          .shards_parameters = scene.plan.layout.zero == 3,
                          .groups = shows_groups(scene),
                          .domain = domain_name(scene.plan.cluster)};
    return s.layout.get(of, [&] {
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
    const float words = kRowWords + (layout.has_pods ? under_pods(area.h) : 0);
    const float below = layout.extent.y * camera.zoom <= area.h - words ? words : 0;
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
