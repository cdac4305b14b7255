#include "app/ui/views/comm/view.h"

#include "app/ui/kit/format.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr int kMostBlocks = 128;
constexpr const char* kDirection = "Row sends to column, ranks 0 … ";

const AxisTraffic& traffic(const Scene& scene, GroupKind kind) {
    return scene.evaluation.comm.by_axis[kind];
}

std::string ranks_text(const TrafficMatrix& m, int block) {
    const std::int64_t first = block * m.block;
    if (m.block == 1) return "rank " + thousands(first);
    return "ranks " + thousands(first) + " – " + thousands(first + m.block - 1);
}

HeatMap heat_map(const Scene& scene, GroupKind group) {
    HeatMap out;
    out.group = group;
    out.matrix = traffic_matrix(scene.plan, scene.evaluation, group, kMostBlocks);
    const TrafficMatrix& m = out.matrix;
    for (int i = 0; i < m.blocks; ++i)
        for (int j = 0; j < m.blocks; ++j) {
            const double bytes = m.at(i, j);
            if (bytes <= 0) continue;
            const bool more = !out.runs.empty() && out.runs.back().row == i
                              && out.runs.back().first + out.runs.back().count == j
                              && std::abs(out.runs.back().bytes - bytes) < 1e-9 * bytes;
            if (more)
                ++out.runs.back().count;
            else
                out.runs.push_back({i, j, 1, bytes});
        }
    return out;
}

// Returns the slowest tier that a message between two blocks may cross.
int tier_of(const Cluster& cluster, const TrafficMatrix& m, int from, int to) {
    const int low = std::min(from, to), high = std::max(from, to);
    return tier_between(cluster, low * m.block, (high + 1) * m.block - 1);
}

// Returns true if boxes of this tier's domains are large enough to be drawn, and more than one.
bool has_boxes(const Cluster& cluster, std::size_t tier, const TrafficMatrix& m, float side) {
    const std::int64_t domain = cluster.tiers[tier].domain;
    const float box = side * static_cast<float>(domain) / static_cast<float>(m.world);
    return tier + 1 < cluster.tiers.size() && box >= 5 && domain < m.world;
}

// Draws boxes of the tiers' domains on the diagonal: traffic within one crosses no slower tier.
void draw_domains(Ui& ui, Rect square, const Scene& scene, const TrafficMatrix& m) {
    Canvas& c = ui.canvas();
    const Cluster& cluster = scene.plan.cluster;
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        if (!has_boxes(cluster, t, m, square.w)) continue;
        const float side =
            square.w * static_cast<float>(cluster.tiers[t].domain) / static_cast<float>(m.world);
        for (float at = 0; at < square.w - 0.5f; at += side) {
            const float w = std::min(side, square.w - at);
            c.frame({square.x + at, square.y + at, w, w}, ui.theme().secondary.alpha(0.6f), 1, 0,
                    mark_of_tier(ui.theme(), cluster, static_cast<int>(t)).dash);
        }
    }
}

// Names the boxes that are drawn: "Boxes on the diagonal: RoCE domains of 3,072 GPUs (dashed)."
std::string boxes_text(const Theme& theme, const Cluster& cluster, const TrafficMatrix& m, float side) {
    std::string s;
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t)
        if (has_boxes(cluster, t, m, side))
            s += (s.empty() ? "Boxes on the diagonal: " : ", ") + cluster.tiers[t].name + " domains of "
                 + thousands(cluster.tiers[t].domain) + " GPUs ("
                 + std::string(words_of(mark_of_tier(theme, cluster, static_cast<int>(t)).dash)) + ")";
    return s.empty() ? s : s + ". ";
}

void draw_cells(Ui& ui, Rect square, const CommHeatState& state) {
    Canvas& c = ui.canvas();
    const TrafficMatrix& m = state.map->matrix;
    const float cell = square.w / static_cast<float>(m.blocks);
    const Color full = color_of(ui.theme(), state.map->group), ground = ui.theme().raised;
    for (const HeatMap::Run& r : state.map->runs) {
        const auto share = static_cast<float>(std::sqrt(r.bytes / m.most));
        c.rect({square.x + static_cast<float>(r.first) * cell, square.y + static_cast<float>(r.row) * cell,
                std::max(1.0f, static_cast<float>(r.count) * cell), std::max(1.0f, cell)},
               mix(ground, full, 0.25f + 0.75f * share));
    }
}

// Marks row and column of the selected rank.
void draw_selected(Ui& ui, Rect square, const Scene& scene, const TrafficMatrix& m) {
    const std::int64_t rank = scene.selection.rank;
    if (rank < 0 || rank >= m.world) return;
    const float cell = square.w / static_cast<float>(m.blocks);
    const std::int64_t block = rank / m.block;
    const float at = static_cast<float>(block) * cell;
    const Color mark = ui.theme().text;
    ui.canvas().frame({square.x, square.y + at, square.w, std::max(cell, 2.0f)}, mark, 1);
    ui.canvas().frame({square.x + at, square.y, std::max(cell, 2.0f), square.h}, mark, 1);
}

void hover_cell(Ui& ui, Rect square, Scene& scene, const CommHeatState& state) {
    const TrafficMatrix& m = state.map->matrix;
    const Hit hit = ui.area("comm.heat", square);
    if (hit.focused) ui.focus_ring(square, 2);
    if (!hit.hovered) return;
    const float cell = square.w / static_cast<float>(m.blocks);
    const auto index = [&](float d) { return std::clamp(static_cast<int>(d / cell), 0, m.blocks - 1); };
    const int from = index(ui.frame().mouse.y - square.y), to = index(ui.frame().mouse.x - square.x);
    const double bytes = m.at(from, to);
    std::string s = ranks_text(m, from) + " to " + ranks_text(m, to);
    if (from == to && m.block > 1) s = ranks_text(m, from) + " to each other";
    s += bytes > 0 ? "\n" + traffic_text(bytes) + " a step on " + axis_label(state.map->group)
                   : "\nnothing on " + axis_label(state.map->group);
    if (bytes > 0) {
        if (m.block > 1) s += ", " + traffic_text(bytes / static_cast<double>(m.block)) + " of each sender";
        s += "\nover " + tier_label(scene.plan.cluster, tier_of(scene.plan.cluster, m, from, to))
             + (m.block > 1 ? " at most" : "");
    }
    ui.tooltip(s);
    ui.canvas().frame({square.x + static_cast<float>(to) * cell, square.y + static_cast<float>(from) * cell,
                       std::max(cell, 3.0f), std::max(cell, 3.0f)},
                      ui.theme().text, 1);
    scene.next_hover.rank = from * m.block;
    if (hit.clicked) scene.selection.pick_rank(from * m.block);
}

void draw_words(Ui& ui, Rect room, const Scene& scene, const CommHeatState& state, float side,
                bool directions) {
    const TrafficMatrix& m = state.map->matrix;
    Canvas& c = ui.canvas();
    const GroupSummary& g = scene.evaluation.groups[state.map->group];
    std::string words;
    if (directions) words = kDirection + thousands(m.world - 1) + ". ";
    if (m.block > 1) words += "A cell is " + thousands(m.block) + " GPUs to " + thousands(m.block) + ". ";
    words += boxes_text(ui.theme(), scene.plan.cluster, m, side);
    words += "Slowest link of " + axis_label(state.map->group) + ": "
             + tier_label(scene.plan.cluster, g.slowest_tier) + ". Brightest cell: " + traffic_text(m.most)
             + " a step, if every GPU sends as much as " + rows_device_text(scene.evaluation.comm) + ".";
    c.paragraph(room, words, ui.small(), 18);
}

}  // namespace

GroupKind shown_group(const Scene& scene) {
    if (traffic(scene, scene.selection.group).count > 0) return scene.selection.group;
    const auto kinds = all_of<GroupKind>();
    return *std::ranges::max_element(
        kinds, {}, [&](GroupKind kind) { return traffic(scene, kind).sent_bytes_per_rank; });
}

void axis_switch(Ui& ui, std::string_view name, Rect row, Scene& scene) {
    std::vector<std::string> labels;
    std::vector<GroupKind> kinds;
    int selected = 0;
    float w = 0;
    for (const GroupKind kind : all_of<GroupKind>()) {
        if (traffic(scene, kind).count <= 0) continue;
        if (kind == shown_group(scene)) selected = static_cast<int>(kinds.size());
        kinds.push_back(kind);
        labels.push_back(axis_label(kind));
        w += ui.canvas().text_width(labels.back(), ui.small()) + 24;
    }
    if (kinds.empty()) return;
    const std::vector<std::string_view> views(labels.begin(), labels.end());
    const int picked = ui.segments(name, {row.x, row.y, std::min(w, row.w), row.h}, views, selected,
                                   color_of(ui.theme(), kinds[selected]));
    if (picked != selected) scene.selection.choose(kinds[picked]);
}

void draw_heat(Ui& ui, Rect room, Scene& scene, CommHeatState& state, std::uint64_t revision) {
    const GroupKind group = shown_group(scene);
    state.map.update({revision, group}, [&] { return heat_map(scene, group); });
    const TrafficMatrix& m = state.map->matrix;
    Canvas& c = ui.canvas();
    const bool beside = room.w > room.h * 1.6f;  // words stand right of the square, else below it
    if (!beside) {
        axis_switch(ui, "comm.heat.axis", room.cut_top(24), scene);
        room.cut_top(8);
    }
    if (m.blocks == 0) {
        c.text_in(room, "Nobody sends on this axis.", ui.small(), Align::center);
        return;
    }
    constexpr float kWords = 76;
    const float margin = beside ? 0 : 18;
    const float side = std::floor(std::min(beside ? room.h - margin : room.h - margin - kWords, room.w));
    if (side < 40) return;
    const Rect square{room.x, room.y + margin, side, side};
    if (!beside)
        c.text_in({square.x, room.y, room.w, margin}, kDirection + thousands(m.world - 1), ui.small());
    c.rect(square, ui.theme().panel);
    draw_cells(ui, square, state);
    draw_domains(ui, square, scene, m);
    c.frame(square, ui.theme().hairline);
    draw_selected(ui, square, scene, m);
    hover_cell(ui, square, scene, state);
    if (beside) {
        Rect right = room;
        right.cut_left(side + 24);
        axis_switch(ui, "comm.heat.axis", right.cut_top(24), scene);
        right.cut_top(8);
        draw_words(ui, right, scene, state, side, true);
    } else {
        draw_words(ui, {room.x, square.bottom() + 6, room.w, kWords}, scene, state, side, false);
    }
}

}  // namespace pentamesh::ui
