#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/axis_name.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kSample = 30, kLeastEntry = 244, kEntryGap = 16;

double longest(const Scene& scene, std::span<const MeshAxis> entries) {
    double most = 0;
    for (const MeshAxis& a : entries) most = std::max(most, cost_of(scene.evaluation, a).time_s);
    return most;
}

std::size_t columns_in(float width, std::size_t entries, bool one_row) {
    if (one_row) return entries;
    const auto most =
        static_cast<std::size_t>(std::max(1.0f, std::floor((width + kEntryGap) / (kLeastEntry + kEntryGap))));
    return std::min(entries, most);
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
    return {place + " · " + tier + ", " + std::string(ui::words_of(axis.mark.dash)), place + " · " + tier,
            tier};
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
    write_two(ui, row, axis_label(axis.kind) + " " + thousands(axis.degree), ui.title(),
              {tier + waits, tier, ""}, ui.small());
}

}  // namespace

float legend_height(Ui& ui, float width, const Scene& scene, Legend form) {
    const std::size_t n = axes_that_send(ui.theme(), scene).size();
    if (n == 0) return 0;
    if (form == Legend::lines) return kLegendLine;
    const std::size_t columns = columns_in(width, n, form != Legend::rows);
    const std::size_t rows = (n + columns - 1) / columns;
    return static_cast<float>(rows) * (kLegendEntry + 6) - 6;
}

void draw_legend_entry(Ui& ui, Rect room, const Scene& scene, const MeshAxis& axis, double most_s) {
    Canvas& c = ui.canvas();
    names_axis(ui, axis.kind, {room.x, room.y, room.w, kLegendEntry});
    draw_sample(ui, {room.x, room.y, kSample, 18}, scene, axis);
    room.cut_left(kSample + 8);
    const std::string name = axis_label(axis.kind) + " " + thousands(axis.degree);
    write_two(ui, room.cut_top(18), name, ui.title(), where_of(scene, axis), ui.small());
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
    const std::size_t columns = columns_in(room.w, entries.size(), form != Legend::rows);
    const float width = std::min(380.0f, (room.w + kEntryGap) / static_cast<float>(columns) - kEntryGap);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const float high = form == Legend::lines ? kLegendLine : kLegendEntry;
        const Rect at = box_in_rows(room.min(), i, columns, {width, high}, {kEntryGap, 6});
        if (form == Legend::lines)
            draw_line(ui, at, scene, entries[i]);
        else
            draw_legend_entry(ui, at, scene, entries[i], most);
    }
}

}  // namespace pentamesh::ui
