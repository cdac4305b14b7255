#include "app/ui/views/mesh/mesh_large.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_experts.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr Vec2 kLeastRoom{900, 440};
constexpr float kLeastPod = 90;    // height
constexpr float kNodeWidth = 220;  // of the node that is enlarged
constexpr float kTitle = 20, kGap = 12, kEntry = kLegendEntry + 6;
constexpr float kMostEntry = 330;  // width
constexpr float kBesidePod = 96;   // width of the words right of it
constexpr float kChanges = 58;
constexpr std::int64_t kMostHops = 4;  // lines between two nodes of a strip

std::int64_t own_rank(const Scene& scene) {
    const std::int64_t rank = scene.selection.rank;
    return rank >= 0 && rank < scene.evaluation.mesh.world ? rank : 0;
}

// The axes that end at each rung: inside a node, inside a pod, between pods.
using Rungs = std::array<std::vector<MeshAxis>, 3>;
Rungs rungs_of(const Theme& theme, const Scene& scene, bool has_pods) {
    Rungs out;
    for (const MeshAxis& a : axes_that_send(theme, scene))
        out[a.inside() ? 0U : has_pods && a.tier >= 2 ? 2U : 1U].push_back(a);
    return out;
}

float stacked(const std::vector<MeshAxis>& axes) {
    return static_cast<float>(axes.size()) * kEntry;
}
std::size_t beside(float width, std::size_t entries) {
    return std::max<std::size_t>(1,
                                 std::min(entries, static_cast<std::size_t>(width / (kMostEntry * 0.75f))));
}
float entry_width(const MeshLadder& l) {
    return std::min(l.node_costs.w, kMostEntry);
}

// Returns the pod of the chosen rank, and its first rank and number of ranks.
struct OwnPod {
    std::int64_t index = 0, begin = 0, ranks = 0;
};
OwnPod own_pod(const Scene& scene) {
    const std::int64_t pod = in_boxes(scene).pod;
    OwnPod p;
    p.index = own_rank(scene) / pod;
    p.begin = p.index * pod;
    p.ranks = std::min(pod, scene.evaluation.mesh.world - p.begin);
    return p;
}

const MeshLayout& pod_layout(MeshViewState& state, const Scene& scene, float scale) {
    MeshInBoxes boxes = in_boxes(scene);
    boxes.gpus = boxes.pod, boxes.pod = 0;
    const Rect at = state.ladder.pod;
    const Vec2 room{at.w, at.h};
    const Mesh& mesh = scene.evaluation.mesh;
    return state.pod_layout.get({room, boxes, scale, mesh}, [&] {
        return lay_out_mesh(room, boxes.gpus, boxes.domain, 0, 1 / scale,
                            row_periods(mesh, boxes.domain, boxes.gpus), boxes.tile);
    });
}

// Returns the groups of the chosen rank, not of the one under the mouse.
HighlightedGroups chosen_groups(const Theme& theme, const Scene& scene) {
    HighlightedGroups highlighted = highlighted_groups(theme, scene);
    highlighted.rank = own_rank(scene);
    return highlighted;
}

void title(Ui& ui, Rect above, const std::string& bold, const std::string& plain) {
    Rect line{above.x, above.y - kTitle, above.w, kTitle};
    write_left(ui, line, bold, ui.style(12, Tone::text, Face::semibold));
    if (line.w > 40 && !plain.empty()) ui.canvas().text_in(line, plain, ui.small());
}

void draw_costs(Ui& ui, const MeshLadder& l, const Scene& scene, const Rungs& rungs) {
    double most = 0;
    for (const auto& rung : rungs)
        for (const MeshAxis& a : rung) most = std::max(most, cost_of(scene.evaluation, a).time_s);
    const std::array<Rect, 3> rooms{l.node_costs, l.strip_costs, l.pod_costs};
    for (std::size_t r = 0; r < rungs.size(); ++r) {
        const std::size_t columns = r == 1 ? beside(rooms[r].w, rungs[r].size()) : 1;
        const float width = std::min(
            entry_width(l), (rooms[r].w + 16) / static_cast<float>(std::max<std::size_t>(columns, 1)) - 16);
        for (std::size_t i = 0; i < rungs[r].size(); ++i)
            draw_legend_entry(
                ui,
                box_in_rows(rooms[r].min(), i, columns, {width, kLegendEntry}, {16, kEntry - kLegendEntry}),
                scene, rungs[r][i], most);
    }
}

void draw_large_node(Ui& ui, Rect r, const Scene& scene, const MeshAxes& axes, const MeshAxis* tile) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const std::int64_t domain = domain_of(scene.plan.cluster, 0), rank = own_rank(scene),
                       node = rank / domain;
    const Color color = axes.count > 0 ? axes.axis[0].color : theme.secondary;
    draw_node(c, theme, r, scene, rank, tile, color, node);
    const CellGrid g = node_grid(r, domain, tiles_in_node(tile, domain));
    if (g.cell.x < kNumberedCell.x || g.cell.y < kNumberedCell.y) return;
    TextStyle style = ui.style(11, Tone::text, Face::semibold);
    for (std::int64_t i = 0; i < g.count; ++i) {
        const Rect cell = cell_rect(g, i);
        const std::string number = thousands(node * domain + i);
        style.color = ink_on(node * domain + i == rank ? theme.text : mix(theme.window, color, 0.85f));
        if (c.text_width(number, style) <= cell.w) c.text_in(cell, number, style, Align::center);
    }
}

// "24 replicas, 3,072 GPUs".
std::string held_words(const Period& p, std::int64_t domain, std::int64_t gpus) {
    const std::int64_t each = p.nodes * domain;
    return (gpus % each == 0 ? plural(gpus / each, (p.noun + ", ").c_str(), (p.noun + "s, ").c_str()) : "")
           + thousands(gpus) + " GPUs";
}

void draw_pod(Ui& ui, const Scene& scene, MeshViewState& state, const Period& period) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const Rect room = state.ladder.pod;
    const MeshLayout& layout = pod_layout(state, scene, c.scale());
    const OwnPod pod = own_pod(scene);
    const std::int64_t domain = in_boxes(scene).domain;
    const CellGrid grid = seen(layout, {}, room);
    const MeshPlace place{
        .layout = layout, .grid = grid, .zoom = 1, .area = room, .ranks = pod.ranks, .axes = {}};
    draw_boxes(c, theme, place, true);
    const HighlightedGroups highlighted = chosen_groups(theme, scene);
    CellGrid cells = grid;
    cells.count = static_cast<std::int32_t>(pod.ranks);
    merge_small_cells(layout, cells, c.scale());
    if (highlighted.shown) {
        draw_quiet_cells(c, theme, highlighted, cells);
    } else {
        color_plainly(mix(theme.panel, theme.secondary, 0.45f), cells);
        c.cells(cells);
    }
    if (highlighted.shown)
        draw_highlighted_cells(c, scene.evaluation.mesh, highlighted, cells,
                               {pod.begin, pod.begin + pod.ranks});
    c.frame(Rect{room.x, room.y, layout.extent.x, layout.extent.y}.inset(-3), theme.text, 1, 3);
    Period own = period;
    own.first_node -= pod.begin / domain;
    const Rect at = period_rect(own, layout, grid, 1);
    c.frame(at.inset(-1), theme.text, 1, 1);

    const float x = room.x + layout.extent.x + 12;
    Rect words{x, at.center().y - 8, state.ladder.cluster.x - x - 14, 16};
    const std::string which = period.noun + " " + thousands(period.first_node / period.nodes);
    c.text_in(words, which, ui.style(11, Tone::text, Face::semibold));
    const std::string rows =
        row_words(scene.evaluation.mesh, domain, layout.row_nodes, scene.plan.layout.zero == 3);
    const std::string node = "a cell is a " + std::string(domain_name(scene.plan.cluster));
    words = {x, at.bottom() + 22, words.w, room.bottom() - at.bottom() - 22};
    const std::string all = (place.merged() ? node + (rows.empty() ? "" : ", ") : "") + rows;
    if (c.paragraph_height(words.w, all, ui.style(11)) <= words.h)
        c.paragraph(words, all, ui.style(11, Tone::secondary));
}

// Says which figures the pinned plan had.
void draw_changes(Ui& ui, Rect room, const Scene& scene) {
    if (room.h <= 0 || scene.pinned == nullptr || !scene.pinned->step || !scene.evaluation.step) return;
    Canvas& c = ui.canvas();
    const Evaluation &a = *scene.pinned, &b = scene.evaluation;
    struct Figure {
        std::string_view name;
        std::string was, is;
    };
    const std::array<Figure, 6> figures{
        {{"GPUs", thousands(a.mesh.world), thousands(b.mesh.world)},
         {"step", time_text(a.step->time_s), time_text(b.step->time_s)},
         {"it waits for the wires", time_text(exposed_of(*a.step)), time_text(exposed_of(*b.step))},
         {"MFU", percent(a.step->mfu), percent(b.step->mfu)},
         {"memory", memory_text(a.memory.peak()), memory_text(b.memory.peak())},
         {"tokens/s", count_text(a.step->tokens_per_s), count_text(b.step->tokens_per_s)}}};
    c.line({room.x, room.y}, {room.right(), room.y}, ui.theme().hairline);
    room.cut_top(4);
    c.text_in(room.cut_top(18), "What changed from A", ui.style(12, Tone::text, Face::semibold));
    const float width = room.w / static_cast<float>(figures.size());
    for (const Figure& f : figures) {
        Rect at = room.cut_left(width);
        c.text_in(at.cut_top(16), f.name, ui.style(11, Tone::secondary));
        at.h = 18;
        if (f.was != f.is) {
            write_left(ui, at, f.was + " → ", ui.style(12, Tone::secondary), 1);
        }
        c.text_in({at.x, at.y, std::max(0.0f, at.w - 6), at.h}, f.is,
                  ui.style(12, Tone::text, Face::semibold));
    }
}

}  // namespace

MeshLadder ladder_in(Ui& ui, Rect room, const Scene& scene) {
    const MeshInBoxes b = in_boxes(scene);
    const Period period = period_of(scene, own_rank(scene));
    const bool has_pods = b.pod > b.domain && b.pod < b.gpus;
    if (scene.evaluation.mesh.world < kLadderFrom || room.w < kLeastRoom.x || room.h < kLeastRoom.y)
        return {};
    if (period.nodes < 2 || period.count < 2 || (has_pods && b.pod % (period.nodes * b.domain) != 0))
        return {};
    const Rungs rungs = rungs_of(ui.theme(), scene, has_pods);
    MeshLadder l;
    l.tile = room.h >= 560 ? kStripTile : 44;
    const float left = std::clamp(room.w * 0.24f, 270.0f, 400.0f), strip = strip_height(l.tile);
    const std::size_t columns = beside(room.w - left, rungs[1].size());
    const std::size_t rows = (rungs[1].size() + columns - 1) / columns;
    const float costs = std::max(stacked(rungs[0]), static_cast<float>(rows) * kEntry);
    Rect top = room.cut_top(strip + costs);
    l.node_costs = {top.x, top.y + strip, left - 24, costs};
    l.node = {top.x, top.y + kTitle, kNodeWidth, strip - kTitle - 8};
    l.strip = {top.x + left, top.y, top.w - left, strip};
    l.strip_costs = {l.strip.x, l.strip.bottom(), l.strip.w, costs};
    room.cut_top(kGap);
    if (has_pods) {
        l.pod = room.cut_left(left);
        l.pod_costs = l.pod.cut_bottom(stacked(rungs[2]));
        l.pod_costs.w = left - 24;
        l.pod.cut_top(kTitle + 3), l.pod.cut_bottom(8);
        l.pod.cut_left(3);
        l.pod.w = left - kBesidePod;
        if (l.pod.h < kLeastPod) return {};
    }
    if (scene.pinned != nullptr && scene.pinned->step && scene.evaluation.step && room.h > 5 * kChanges)
        l.changes = room.cut_bottom(kChanges);
    room.cut_top(kTitle);
    l.cluster = room;
    return l;
}

void draw_ladder(Ui& ui, const Scene& scene, MeshViewState& state) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const MeshLadder& l = state.ladder;
    const MeshInBoxes b = in_boxes(scene);
    const bool has_pods = l.pod.w > 0;
    const std::int64_t rank = own_rank(scene), node = rank / b.domain;
    const Period period = period_of(scene, rank);
    const MeshLayout& layout = layout_for(state, l.cluster, scene, c.scale());
    const MeshCamera camera = held(state.camera, l.cluster, layout);
    const CellGrid cluster = seen(layout, camera, l.cluster);
    if (camera.zoom == 1)
        state.enlarged = has_pods ? box_rect(layout.pod, rank / b.pod, cluster, 1)
                                  : period_rect(period, layout, cluster, 1);

    // The beams lie under everything else.
    const Rect small_node = strip_node(l.strip, l.tile, period, node),
               ground = strip_ground(l.strip, l.tile, period);
    c.rect(ground, theme.beam);
    if (small_node.w > 0)
        draw_beam(c, theme, {l.node.right(), l.node.y}, small_node.min(), {small_node.x, small_node.bottom()},
                  {l.node.right(), l.node.bottom()});
    const auto down_to = [&](Rect r) {
        draw_beam(c, theme, {ground.x, ground.bottom()}, {ground.right(), ground.bottom()}, {r.right(), r.y},
                  {r.x, r.y});
    };
    if (has_pods) {
        const MeshLayout& in_pod = pod_layout(state, scene, c.scale());
        const Rect large = Rect{l.pod.x, l.pod.y, in_pod.extent.x, in_pod.extent.y}.inset(-3);
        down_to(large);  // a beam to a low row would lie over the cluster
        const Rect small = state.enlarged;
        if (camera.zoom == 1)
            draw_beam(c, theme, {large.right(), large.y}, {small.x, small.y}, {small.x, small.bottom()},
                      {large.right(), large.bottom()});
    } else if (camera.zoom == 1) {
        down_to(state.enlarged);
    }

    const MeshAxes axes = axes_of(theme, scene);
    const std::string domain(domain_name(scene.plan.cluster));
    title(ui, {l.node.x, l.node.y, l.node_costs.w, 0}, "A " + domain,
          thousands(b.domain) + " GPUs, number " + thousands(node));
    draw_large_node(ui, l.node, scene, axes, tile_axis(axes, b.tile));
    draw_strip(c, theme, 11, l.strip, l.tile, scene, period);
    draw_costs(ui, l, scene, rungs_of(theme, scene, has_pods));
    if (has_pods) {
        const OwnPod pod = own_pod(scene);
        title(ui, {l.pod.x - 3, l.pod.y - 3, l.node_costs.w, 0}, "Pod " + thousands(pod.index),
              held_words(period, b.domain, pod.ranks));
        draw_pod(ui, scene, state, period);
    }
    const HighlightedGroups highlighted = chosen_groups(theme, scene);
    const MeshAxis* crossing = crossing_pods(highlighted.axes);
    title(ui, l.cluster,
          "The cluster" + (has_pods ? ", " + thousands(layout.pod.count) + " pods" : std::string()),
          has_pods && crossing != nullptr && highlighted.shown
              ? spread_over_pods(*crossing, rank, b.pod, layout.pod.count)
              : held_words(period, b.domain, scene.evaluation.mesh.world));
    draw_changes(ui, l.changes, scene);
}

void press_ladder(Ui& ui, Scene& scene, MeshViewState& state) {
    const MeshLadder& l = state.ladder;
    if (!l.shown()) return;
    const std::int64_t own = own_rank(scene), domain = in_boxes(scene).domain;
    const Vec2 mouse = ui.frame().mouse;
    const auto rung = [&](std::string_view name, Rect area, std::int64_t rank) {
        const Hit hit = ui.area(name, area, 0, true, false);
        if (rank < 0 || rank >= scene.evaluation.mesh.world || !hit.hovered) return;
        scene.next_hover.rank = rank;
        if (!hit.held) ui.tooltip(rank_tooltip(scene, rank));
        if (!hit.clicked) return;
        scene.selection.pick_rank(rank);
        if (state.failure) state.lost_node = rank / domain;
    };
    // A click on a node chooses the GPU with the same place in it.
    const auto in_node = [&](std::int64_t node) { return node < 0 ? -1 : node * domain + own % domain; };
    const MeshAxes axes = axes_of(ui.theme(), scene);
    const std::int64_t tiles = tiles_in_node(tile_axis(axes, in_boxes(scene).tile), domain);
    const std::int64_t gpu = cell_at(node_grid(l.node, domain, tiles), mouse);
    rung("mesh.node", l.node, gpu < 0 ? -1 : own / domain * domain + gpu);
    const Period period = period_of(scene, own);
    rung("mesh.strip", strip_ground(l.strip, l.tile, period),
         in_node(strip_node_at(l.strip, l.tile, period, mouse)));
    if (l.pod.w <= 0) return;
    const MeshLayout& layout = pod_layout(state, scene, ui.canvas().scale());
    const std::int64_t under = cell_at(seen(layout, {}, l.pod), mouse);
    const std::int64_t rank = under < 0 ? -1 : own_pod(scene).begin + under;
    rung("mesh.pod", {l.pod.x, l.pod.y, layout.extent.x, layout.extent.y},
         rank >= 0 && layout.merged ? in_node(rank / domain) : rank);
}

namespace {

constexpr std::int64_t kMostTiles = 24, kFirstTiles = 8;  // a longer period shows its first and its last
constexpr std::int64_t kNamed = 12, kNamedEach = 5;       // of more nodes each fifth has its name
constexpr std::int64_t kLeastTiles = 4;                   // that are shown in the narrowest strip
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
    std::int64_t most = kMostTiles,
                 first = kFirstTiles;  // nodes that have room; of a cut period, those at its begin
    [[nodiscard]] bool cut() const { return nodes > most; }
    [[nodiscard]] std::int64_t shown() const { return cut() ? first + 1 : nodes; }
    [[nodiscard]] std::int64_t slots() const { return cut() ? first + 2 : nodes; }
    [[nodiscard]] std::int64_t node(std::int64_t i) const { return cut() && i == first ? nodes - 1 : i; }
    [[nodiscard]] Rect at(std::int64_t i) const {
        const auto slot = static_cast<float>(cut() && i == first ? first + 1 : i);
        return {origin.x + slot * pitch, origin.y, tile.x, tile.y};
    }
};

Places places_in(Rect ground, float tile, std::int64_t nodes) {
    constexpr float kPitch = 1.15f;  // the least, in heights of a tile
    Places p{.nodes = nodes};
    const auto fit = static_cast<std::int64_t>((ground.w - 2 * kStripPad) / (tile * kPitch));
    p.most = std::clamp(fit, kLeastTiles, kMostTiles);
    p.first = std::min(kFirstTiles, p.most - 2);
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

std::int64_t tiles_in_node(const MeshAxis* tile, std::int64_t domain) {
    const bool apart =
        tile != nullptr && tile->degree > 1 && tile->degree < domain && domain % tile->degree == 0;
    return apart ? domain / tile->degree : 1;
}

CellGrid node_grid(Rect r, std::int64_t domain, std::int64_t tiles) {
    constexpr float kAround = 3, kLeastTile = 9, kTilePad = 2.5f, kTileGap = 2;
    if (tiles > 1) {
        // The node's rows stay; a group takes whole columns, or a part of one.
        const CellGrid plain = node_grid(r, domain);
        const std::int64_t rows = divide_up(domain, plain.level[0].cols), each = domain / tiles,
                           tile_rows = std::min(each, rows), tile_cols = divide_up(each, tile_rows),
                           cols = divide_up(tiles, std::max<std::int64_t>(1, rows / tile_rows));
        const float w = (r.w - 2 * kAround) / static_cast<float>(cols),
                    h = (r.h - 2 * kAround) / static_cast<float>(divide_up(tiles, cols));
        if (std::min(w, h) >= kLeastTile) {
            CellGrid g;
            g.count = static_cast<std::int32_t>(domain);
            g.levels = 2;
            const float inner = kTileGap + 2 * kTilePad;
            g.level[0] = {static_cast<std::int32_t>(each), static_cast<std::int32_t>(tile_cols),
                          (w - inner) / static_cast<float>(tile_cols),
                          (h - inner) / static_cast<float>(divide_up(each, tile_cols))};
            g.level[1] = {static_cast<std::int32_t>(tiles), static_cast<std::int32_t>(cols), w, h};
            g.origin = {r.x + kAround + inner / 2, r.y + kAround + inner / 2};
            const float between = std::min(g.level[0].pitch_x, g.level[0].pitch_y) > 5 ? 1.0f : 0.0f;
            g.cell = {g.level[0].pitch_x - between, g.level[0].pitch_y - between};
            return g;
        }
    }
    const auto side = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(domain))));
    const std::int64_t cols = domain <= 8 ? (domain + 1) / 2 : side;
    const std::int64_t rows = (domain + cols - 1) / cols;
    const float w = (r.w - 10) / static_cast<float>(cols), h = (r.h - 10) / static_cast<float>(rows);
    CellGrid g;
    g.count = static_cast<std::int32_t>(domain);
    g.levels = 1;
    g.level[0] = {static_cast<std::int32_t>(domain), static_cast<std::int32_t>(cols), w, h};
    g.origin = {r.x + 5, r.y + 5};
    const float between = w > 6 ? 1.5f : w > 3 ? 1.0f : 0.0f;
    g.cell = {w - between, h - between};
    return g;
}

void draw_node(Canvas& c, const Theme& theme, Rect r, const Scene& scene, std::int64_t rank,
               const MeshAxis* tile, Color color, std::int64_t node) {
    const std::int64_t domain = std::min(domain_of(scene.plan.cluster, 0), scene.evaluation.mesh.world);
    const std::int64_t tiles = tiles_in_node(tile, domain);
    const bool closed = tile != nullptr && tile->degree == domain, own = rank / domain == node;
    c.box(r, mix(theme.window, color, 0.12f),
          own      ? theme.text
          : closed ? color
                   : theme.hairline,
          closed || own ? 2.0f : 1.0f, 5);
    CellGrid g = node_grid(r, domain, tiles);
    color_plainly(mix(theme.window, color, 0.85f), g);
    c.cells(g);
    if (g.levels > 1) {
        const CellGrid::Level &in = g.level[0], &of = g.level[1];
        for (std::int64_t i = 0; i < tiles; ++i) {
            const Rect first = cell_rect(g, i * in.size);
            const float rows = static_cast<float>(divide_up(in.size, in.cols));
            const Rect all{first.x, first.y, in.pitch_x * static_cast<float>(in.cols), in.pitch_y * rows};
            c.frame({all.x - 2, all.y - 2, std::min(all.w + 3, of.pitch_x - 1),
                     std::min(all.h + 3, of.pitch_y - 1)},
                    color, 1.3f, 3);
        }
    }
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
        const bool hops = i + 1 < at.shown() && !(at.cut() && i + 1 == at.first);
        float x = r.center().x;
        for (const MeshAxis& a : axes.span()) {
            if (a.stride() < p.nodes * domain) continue;  // what leaves the period goes down from every node
            c.line({x, r.bottom()}, {x, r.bottom() + 12}, a.color, 2, a.mark.dash);
            x += 6;
        }
        if (const MeshAxis* a = hops ? joining(axes, node, domain) : nullptr) {
            // One line for each group inside the node: each has its own way to the next one.
            const std::int64_t lines = std::min(kMostHops, tiles_in_node(closed, domain));
            for (std::int64_t k = 0; k < lines; ++k) {
                const float y = r.y + r.h * (static_cast<float>(k) + 0.5f) / static_cast<float>(lines);
                const std::array<Vec2, 2> hop{Vec2{r.right(), y}, Vec2{at.at(i + 1).x, y}};
                draw_link(c, theme.window.alpha(0), hop, a->color, a->mark.dash);
            }
        }
        draw_node(c, theme, r, scene, rank, closed, color, node);
        const bool edge = i == 0 || i + 1 == at.shown(), own = node == rank / domain;
        if (!edge && !own && at.shown() > kNamed && i % kNamedEach != 0) continue;
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
        const float left = held_between(r.center().x - w / 2, ground.x, ground.right() - w);
        if (w <= at.pitch + 8 || at.shown() == 1)
            c.text_in({left, r.bottom() + 13, w, line}, words, style, Align::center);
    }
    if (at.cut()) {
        const float x = at.at(at.first - 1).right();
        c.text_in({x, at.origin.y, at.at(at.first).x - x, tile}, thousands(p.nodes - at.first - 1) + " more",
                  title, Align::center);
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
