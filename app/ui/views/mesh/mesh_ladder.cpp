#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>
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
LitGroups chosen_groups(const Theme& theme, const Scene& scene) {
    LitGroups lit = lit_groups(theme, scene);
    lit.rank = own_rank(scene);
    return lit;
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
    const CellGrid g = node_grid(r, domain);
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
    const LitGroups lit = chosen_groups(theme, scene);
    CellGrid cells = grid;
    cells.count = static_cast<std::int32_t>(pod.ranks);
    merge_small_cells(layout, cells);
    color_plainly(lit.shown ? lit.quiet : mix(theme.panel, theme.secondary, 0.45f), cells);
    c.cells(cells);
    if (lit.shown) draw_lit_cells(c, scene.evaluation.mesh, lit, cells, {pod.begin, pod.begin + pod.ranks});
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
    const LitGroups lit = chosen_groups(theme, scene);
    const MeshAxis* crossing = crossing_pods(lit.axes);
    title(ui, l.cluster,
          "The cluster" + (has_pods ? ", " + thousands(layout.pod.count) + " pods" : std::string()),
          has_pods && crossing != nullptr && lit.shown
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
    const std::int64_t gpu = cell_at(node_grid(l.node, domain), mouse);
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

}  // namespace pentamesh::ui
