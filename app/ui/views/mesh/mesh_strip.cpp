#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kMostTiles = 24, kFirstTiles = 8;  // a longer period shows its first and its last
constexpr float kStripPad = 8;
constexpr float kMostPitch = 4;  // from node to node, in widths of one

std::string noun_of(const Plan& plan, const Mesh& mesh, std::int64_t gpus, GroupKind axis) {
    const DataUnit unit = data_unit_of(mesh, plan.layout.zero == 3);
    const Factor& pp = mesh.dense[Axis::pp];
    const bool data = axis == GroupKind::dp_shard || axis == GroupKind::dp_replicate || is_expert(axis);
    if (!data && gpus == unit.rank) return unit.cut ? "data-parallel rank" : "replica";
    if (pp.size > 1 && gpus == pp.stride) return "stage";
    return axis_label(axis) + " group";
}

// Which nodes of the period are drawn, and the place left for those that are not.
struct Places {
    std::int64_t nodes = 0;
    float pitch = 0;
    Vec2 tile{}, origin{};
    [[nodiscard]] bool cut() const { return nodes > kMostTiles; }
    [[nodiscard]] std::int64_t shown() const { return cut() ? kFirstTiles + 1 : nodes; }
    [[nodiscard]] std::int64_t slots() const { return cut() ? kFirstTiles + 2 : nodes; }
    [[nodiscard]] std::int64_t node(std::int64_t i) const {
        return cut() && i == kFirstTiles ? nodes - 1 : i;
    }
    [[nodiscard]] Rect at(std::int64_t i) const {
        const auto slot = static_cast<float>(cut() && i == kFirstTiles ? kFirstTiles + 1 : i);
        return {origin.x + slot * pitch, origin.y, tile.x, tile.y};
    }
};

Places places_in(Rect ground, float tile, std::int64_t nodes) {
    Places p{.nodes = nodes};
    const auto n = static_cast<float>(p.slots());
    p.tile.y = tile;
    p.tile.x = std::min(tile * 1.1f, (ground.w - 2 * kStripPad) / (n + (n - 1) * 0.3f));
    const float span = ground.w - 2 * kStripPad - p.tile.x;
    p.pitch = n > 1 ? std::min(span / (n - 1), p.tile.x * kMostPitch) : 0;
    p.origin = {ground.x + kStripPad, ground.y + kStripPad};
    return p;
}

std::string title_of(const Scene& scene, const Period& p) {
    const std::string which = p.count > 1 ? "One of " + thousands(p.count) + " " + p.noun
                                                + "s, enlarged: number " + thousands(p.first_node / p.nodes)
                                          : "The " + p.noun + ", enlarged";
    return which + ", " + std::string(domain_name(scene.plan.cluster)) + "s " + thousands(p.first_node)
           + " to " + thousands(p.first_node + p.nodes - 1);
}

// Writes which place of the period's axis a node is, or its ranks.
std::string node_words(const Scene& scene, const Period& p, std::int64_t node, bool first_or_last) {
    const std::int64_t domain = domain_of(scene.plan.cluster, 0), rank = node * domain;
    const GroupFactors f = group_factors(scene.evaluation.mesh, p.axis);
    if (f.count != 1 || f.factor[0].stride < domain)
        return first_or_last ? std::string(domain_name(scene.plan.cluster)) + " " + thousands(node)
                             : thousands(node);
    const std::string at = std::to_string(rank / f.factor[0].stride % f.factor[0].size);
    const std::string name = p.axis == GroupKind::pp ? "stage" : axis_label(p.axis);
    return first_or_last ? name + " " + at : at;
}

// Returns how many neighbouring GPUs the axis and those inside it make.
std::int64_t extent_of(const MeshAxis& a) {
    return a.factors.factor[0].stride * a.factors.factor[0].size;
}

// Returns the period that ends with the axis; 0 nodes: it is not made of whole nodes.
Period period_with(const Scene& scene, std::int64_t rank, const MeshAxis& a) {
    Period p;
    const Mesh& mesh = scene.evaluation.mesh;
    const std::int64_t domain = domain_of(scene.plan.cluster, 0), extent = extent_of(a);
    if (extent % domain != 0 || mesh.world % extent != 0) return p;
    p.nodes = extent / domain;
    p.count = mesh.world / extent;
    p.first_node = rank / extent * p.nodes;
    p.axis = a.kind;
    p.noun = noun_of(scene.plan, mesh, extent, a.kind);
    return p;
}

// Returns the axis that joins a node to the next one: the innermost that has both in one group.
const MeshAxis* joining(const MeshAxes& axes, std::int64_t node, std::int64_t domain) {
    for (const MeshAxis& a : axes.span())
        if (extent_of(a) > domain && (node + 1) * domain % extent_of(a) != 0) return &a;
    return nullptr;
}

}  // namespace

Period period_of(const Scene& scene, std::int64_t rank) {
    if (scene.plan.cluster.tiers.empty()) return {};
    const MeshAxes axes = axes_of({}, scene);
    for (const MeshAxis& a : axes.span())
        if (extent_of(a) > domain_of(scene.plan.cluster, 0)) return period_with(scene, rank, a);
    return {};
}

Period replica_of(const Scene& scene, std::int64_t rank) {
    const std::int64_t gpus = data_unit_of(scene.evaluation.mesh, scene.plan.layout.zero == 3).rank;
    const MeshAxes axes = axes_of({}, scene);
    for (const MeshAxis& a : axes.span()) {
        if (is_data_parallel(a.kind) || is_expert(a.kind)) break;
        if (extent_of(a) == gpus)
            if (Period p = period_with(scene, rank, a); p.nodes > 1) return p;
    }
    return period_of(scene, rank);
}

CellGrid node_grid(Rect r, std::int64_t domain) {
    const auto side = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(domain))));
    const std::int64_t cols = domain <= 8 ? (domain + 1) / 2 : side;
    const std::int64_t rows = (domain + cols - 1) / cols;
    const float w = (r.w - 10) / static_cast<float>(cols), h = (r.h - 10) / static_cast<float>(rows);
    CellGrid g;
    g.count = static_cast<std::int32_t>(domain);
    g.levels = 1;
    g.level[0] = {static_cast<std::int32_t>(domain), static_cast<std::int32_t>(cols), w, h};
    g.origin = {r.x + 5, r.y + 5};
    const float between = w > 6 ? 1.5f : w > 3 ? 0.5f : 0.0f;
    g.cell = {w - between, h - between};
    return g;
}

void draw_node(Canvas& c, const Theme& theme, Rect r, const Scene& scene, std::int64_t rank,
               const MeshAxis* tile, Color color, std::int64_t node) {
    const std::int64_t domain = std::min(domain_of(scene.plan.cluster, 0), scene.evaluation.mesh.world);
    const bool closed = tile != nullptr && tile->degree == domain, own = rank / domain == node;
    c.box(r, mix(theme.window, color, 0.12f),
          own      ? theme.text
          : closed ? color
                   : theme.hairline,
          closed || own ? 2.0f : 1.0f, 5);
    CellGrid g = node_grid(r, domain);
    color_plainly(mix(theme.window, color, 0.85f), g);
    c.cells(g);
    if (!own) return;
    g.first = static_cast<std::int32_t>(rank % domain), g.count = 1;
    color_plainly(theme.text, g);
    c.cells(g);
}

Rect strip_ground(Rect room, float tile, const Period& p) {
    Rect ground{room.x, room.y + title_height(tile), room.w, tile + 2 * kStripPad};
    const Places at = places_in(ground, tile, p.nodes);
    ground.w = at.at(at.shown() - 1).right() + kStripPad - ground.x;
    return ground;
}

void draw_strip(Canvas& c, const Theme& theme, float type, Rect room, float tile, const Scene& scene,
                const Period& p) {
    const TextStyle plain{Face::regular, type, theme.secondary, 0},
        title{Face::regular, type + 1, theme.secondary, 0};
    const float line = type * 1.36f;
    const MeshAxes axes = axes_of(theme, scene);
    const MeshAxis* closed = tile_axis(axes, tile_of(scene.plan, scene.evaluation, scene.selection.expert()));
    const Rect ground = strip_ground(room, tile, p);
    if (const float h = title_height(tile); h > 0) c.text_in(room.cut_top(h), title_of(scene, p), title);
    const Places at = places_in(ground, tile, p.nodes);
    const std::int64_t domain = domain_of(scene.plan.cluster, 0);
    const std::int64_t rank = std::max<std::int64_t>(0, scene.selection.rank);
    const Color color = axes.count > 0 ? axes.axis[0].color : theme.secondary;
    for (std::int64_t i = 0; i < at.shown(); ++i) {
        const std::int64_t node = p.first_node + at.node(i);
        const Rect r = at.at(i);
        const bool hops = i + 1 < at.shown() && !(at.cut() && i + 1 == kFirstTiles);
        float x = r.center().x;
        for (const MeshAxis& a : axes.span()) {
            if (a.stride() < p.nodes * domain) continue;  // what leaves the period goes down from every node
            c.line({x, r.bottom()}, {x, r.bottom() + 12}, a.color, 2, a.mark.dash);
            x += 6;
        }
        if (const MeshAxis* a = hops ? joining(axes, node, domain) : nullptr) {
            const std::array<Vec2, 2> hop{Vec2{r.right(), r.center().y}, Vec2{at.at(i + 1).x, r.center().y}};
            draw_link(c, theme.window.alpha(0), hop, a->color, a->mark.dash);
        }
        draw_node(c, theme, r, scene, rank, closed, color, node);
        const bool edge = i == 0 || i + 1 == at.shown(), own = node == rank / domain;
        // Nodes of one place have its name once.
        if (!edge && node_words(scene, p, node, false) == node_words(scene, p, node - 1, false)) continue;
        const TextStyle style = own ? TextStyle{Face::semibold, type, theme.text, 0} : plain;
        std::string words = node_words(scene, p, node, edge);
        float w = c.text_width(words, style) + 4;
        // A name at an end gives way to its number where the next one has no room.
        const float to_end = i == 0 ? r.center().x - ground.x : ground.right() - r.center().x;
        const float inner = std::max(w / 2, w - to_end), next = at.shown() == 2 ? inner : type * 1.2f;
        if (edge && at.shown() > 1 && inner + next > at.pitch)
            words = node_words(scene, p, node, false), w = c.text_width(words, style) + 4;
        const float left = std::clamp(r.center().x - w / 2, ground.x, std::max(ground.x, ground.right() - w));
        if (w <= at.pitch + 8 || at.shown() == 1)
            c.text_in({left, r.bottom() + 13, w, line}, words, style, Align::center);
    }
    if (at.cut()) {
        const float x = at.at(kFirstTiles - 1).right();
        c.text_in({x, at.origin.y, at.at(kFirstTiles).x - x, tile},
                  thousands(p.nodes - kFirstTiles - 1) + " more", title, Align::center);
    }
}

std::int64_t strip_node_at(Rect room, float tile, const Period& p, Vec2 point) {
    const Places places = places_in(strip_ground(room, tile, p), tile, p.nodes);
    for (std::int64_t i = 0; i < places.shown(); ++i)
        if (places.at(i).contains(point)) return p.first_node + places.node(i);
    return -1;
}

Rect strip_node(Rect room, float tile, const Period& p, std::int64_t node) {
    const Places places = places_in(strip_ground(room, tile, p), tile, p.nodes);
    for (std::int64_t i = 0; i < places.shown(); ++i)
        if (p.first_node + places.node(i) == node) return places.at(i);
    return {};
}

Rect period_rect(const Period& p, const MeshLayout& layout, const CellGrid& grid, float zoom) {
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

void draw_beam(Canvas& canvas, const Theme& theme, Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
    canvas.polygon({a, b, c, d}, theme.beam);
}

void draw_beam(Canvas& c, const Theme& theme, Rect large, Rect small) {
    c.rect(large, theme.beam);
    draw_beam(c, theme, {large.x, large.bottom()}, {large.right(), large.bottom()}, {small.right(), small.y},
              {small.x, small.y});
    c.rect(small, theme.beam);
}

}  // namespace pentamesh::ui
