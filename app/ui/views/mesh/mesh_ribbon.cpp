#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/axis_name.h"
#include "app/ui/views/compare/view.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

namespace pentamesh::ui {

namespace {

constexpr float kWireRow = 22, kFoldLine = 18, kFoldHead = 30, kFoldBox = 86, kRibbon = 46,
                kLeastWithRibbon = 420;

// Draws the ranks as they lie in the nodes; of many the first, and the last node's.
void draw_ranks_in_a_row(Ui& ui, Rect room, const Scene& scene) {
    Canvas& c = ui.canvas();
    const Cluster& cluster = scene.plan.cluster;
    const std::int64_t world = scene.evaluation.mesh.world, domain = domain_of(cluster, 0);
    Rect label = room.cut_left(std::min(180.0f, room.w * 0.2f));
    ui.label(label.cut_top(18), "the ribbon: " + thousands(world) + " ranks", ui.title());
    ui.label(label.cut_top(17), "as they lie in the " + std::string(domain_name(cluster)) + "s", ui.small());
    if (room.w > 700) {
        Rect wires = room.cut_right(230);
        for (int t = 0; t < 2 && t < static_cast<int>(cluster.tiers.size()); ++t)
            ui.label(wires.cut_top(18),
                     (t == 0 ? "inside: " : "over the gap: ") + tier_label(cluster, t) + ", "
                         + bandwidth_text(cluster.tiers[static_cast<std::size_t>(t)].bytes_per_s),
                     ui.small());
        room.cut_right(16);
    }
    const float least = std::max(25.0f, c.text_width(thousands(world - 1), ui.small()) + 9);
    constexpr float kNodeGap = 18;
    const std::int64_t nodes = (world + domain - 1) / domain;
    const auto width = [&](std::int64_t n) {
        return static_cast<float>(n) * (static_cast<float>(domain) * least + kNodeGap);
    };
    std::int64_t shown = nodes;
    constexpr float kMore = 120;
    while (shown > 1 && width(shown) > room.w - (shown < nodes ? kMore : 0)) --shown;
    const float pitch =
        std::min(54.0f, (room.w - (shown < nodes ? kMore : 0) - kNodeGap * static_cast<float>(shown))
                            / static_cast<float>(shown * domain));
    const float y = room.y + 12, h = std::min(24.0f, pitch);
    float x = room.x, last = -1;
    for (std::int64_t i = 0; i < shown; ++i) {
        const bool gap = shown < nodes && i + 1 == shown && shown > 1;
        const std::int64_t node = gap ? nodes - 1 : i, first = node * domain,
                           count = std::min(domain, world - first);
        if (gap) {
            c.text_in({x, y, kMore - 8, h}, "… " + thousands(nodes - shown) + " more …", ui.small(),
                      Align::center);
            x += kMore, last = -1;
        }
        const float w = static_cast<float>(count) * pitch;
        c.box({x, y - 6, w + 8, h + 12}, ui.theme().panel, ui.theme().hairline, 1, 5);
        c.line({last < 0 ? x + 8 : last, y + h / 2}, {x + w, y + h / 2}, ui.theme().faint, 5);
        for (std::int64_t r = 0; r < count; ++r) {
            const Rect cell{x + 4 + static_cast<float>(r) * pitch + 2, y, pitch - 4, h};
            c.box(cell, ui.theme().raised, ui.theme().secondary, 1, 3);
            if (c.text_width(thousands(first + r), ui.small()) < cell.w)
                c.text_in(cell, thousands(first + r), ui.small(Tone::text), Align::center);
        }
        last = x + w;
        x += w + kNodeGap;
    }
}

std::string ranks_of_block(std::int64_t first, std::int64_t size) {
    if (size > 4) return thousands(first) + "–" + thousands(first + size - 1);
    std::string out;
    for (std::int64_t i = 0; i < size; ++i) out += (i > 0 ? "  " : "") + thousands(first + i);
    return out;
}

// Returns the degree of an axis before the last edit, or in A, where it is another now.
std::optional<std::int64_t> degree_before(Ui& ui, const RibbonSide& side, GroupKind kind) {
    const std::int64_t now = side.evaluation.groups[kind].degree;
    std::optional<double> was;
    if (side.before != nullptr)
        was = static_cast<double>(side.before->evaluation->groups[kind].degree);
    else if (side.open)
        was = ui.before("fold.degree", static_cast<std::uint64_t>(kind));
    const auto out = static_cast<std::int64_t>(was.value_or(static_cast<double>(now)));
    return out == now ? std::nullopt : std::optional(std::max<std::int64_t>(out, 1));
}

// Holds the words over the fold of an axis: "tp 4", "was 2", "again every 4".
struct FoldWords {
    std::string name, was, how;
    [[nodiscard]] bool fit(Ui& ui, float width) const {
        const auto w = [&](const std::string& text, Face face) {
            return text.empty() ? 0 : ui.canvas().text_width(text, ui.style(12, Tone::text, face)) + 7;
        };
        return w(name, Face::semibold) + w(was, Face::regular) + w(how, Face::regular) <= width + 7;
    }
};

FoldWords fold_words_of(Ui& ui, const RibbonSide& side, const MeshAxes& axes, std::size_t i) {
    const MeshAxis& axis = axes.axis[i];
    const std::string degree = thousands(axis.degree);
    const auto was = degree_before(ui, side, axis.kind);
    return {axis_label(axis.kind) + " " + degree, was ? "was " + thousands(*was) : "",
            i == 0               ? "fold every " + degree
            : i + 1 < axes.count ? "again every " + degree
                                 : "what is left"};
}

// Draws how an axis folds: its innermost the ribbon into lines, a later one what lies folded already.
// `head_lines`: 2 where some axis' words do not fit on one.
void draw_one_fold(Ui& ui, Rect room, const MeshAxis& axis, const FoldWords& words, int head_lines,
                   std::int64_t world, bool quiet) {
    Canvas& c = ui.canvas();
    const Color color = quiet ? mix(ui.theme().panel, axis.color, 0.35f) : axis.color;
    const TextStyle bold = ui.style(12, quiet ? Tone::secondary : Tone::text, Face::semibold);
    Rect head = room.cut_top(kFoldLine);
    names_axis(ui, axis.kind, head);
    write_left(ui, head, words.name, bold, 7);
    if (!words.was.empty()) write_left(ui, head, words.was, ui.small(Tone::text), 7);
    ui.label(head_lines > 1 ? room.cut_top(kFoldLine) : head, words.how, ui.small());
    c.rect({room.x, room.y + 2, room.w, 2.5f}, color, 1);
    room.cut_top(kFoldHead - kFoldLine);
    const bool lines = axis.stride() == 1;
    const std::int64_t size = lines ? axis.degree : axis.stride(),
                       blocks = lines ? std::max<std::int64_t>(1, world / size) : axis.degree;
    const std::int64_t shown = std::min<std::int64_t>(blocks, 4);
    const float h = (room.h - 4) / 4 - 3;
    const bool beside = room.w >= 170;
    const float w = std::min(beside ? room.w - 92 : room.w, 104.0f);
    const float x = room.x + 10;
    for (std::int64_t k = 0; k < shown; ++k) {
        const Rect box{x, room.y + static_cast<float>(k) * (h + 3), w - 10, h};
        if (shown < blocks && k == 2) {
            c.text_in(box, "… " + thousands(blocks - 3) + " more", ui.small(), Align::center);
            continue;
        }
        const std::int64_t first = (k == 3 ? blocks - 1 : k) * size;
        c.box(box, mix(ui.theme().panel, color, lines ? 0.45f : 0.12f), color, 1.2f, 5);
        c.text_in(box, ranks_of_block(first, size), ui.small(Tone::text), Align::center);
        if (k == 0) continue;
        if (lines)  // the ribbon turns from one line to the next
            c.frame({box.x - 6, box.y - h / 2 - 3, 10, h + 3}, ui.theme().faint.alpha(0.8f), 1.5f, 5);
        else
            for (const float at : {box.x + 8, box.right() - 8})
                c.line({at, box.y - 4}, {at, box.y + 1}, color, 3, axis.mark.dash);
    }
    if (!beside) return;
    c.paragraph({x + w, room.y + 4, room.right() - x - w, room.h},
                lines       ? "each line is a group"
                : size <= 4 ? "each column is a group"
                            : "same place, next block: a group",
                ui.small(), 17);
}

// Says what an axis sends, in how long, and for how much of that the step waits.
void draw_wire_row(Ui& ui, Rect row, const RibbonSide& side, const MeshAxis& axis, double most_s,
                   bool quiet) {
    Canvas& c = ui.canvas();
    const AxisCost cost = cost_of(side.evaluation, axis);
    const Color color = quiet ? mix(ui.theme().panel, axis.color, 0.35f) : axis.color;
    const bool wide = row.w >= 520;
    const auto [wire, name, where, bytes, time, bar] =
        columns(row, {px(34), px(92), px(wide ? 96 : 0), px(66), px(wide ? 158 : 62), share()}, 6);
    names_axis(ui, axis.kind, {row.x, row.y, name.right() - row.x, row.h});
    c.line({wire.x, wire.center().y}, {wire.right(), wire.center().y}, color,
           std::min(8.0f, wire_width(cost.bytes)), axis.mark.dash);
    ui.label(name, axis_label(axis.kind) + " " + thousands(axis.degree),
             ui.style(12, Tone::text, Face::semibold));
    if (wide)
        ui.label(where,
                 axis.inside() ? "in the " + std::string(domain_name(side.plan.cluster))
                               : "over " + std::string(tier_name(side.plan.cluster, axis.tier)),
                 ui.small());
    if (cost.bytes <= 0) {
        ui.label({bytes.x, row.y, row.right() - bytes.x, row.h}, words_without_bytes(axis.kind), ui.small());
        return;
    }
    c.text_in(bytes, traffic_text(cost.bytes), ui.small(Tone::text), Align::right);
    const double waited = cost.time_s > 0 ? cost.waits_s / cost.time_s : 0;
    Rect at = time;
    write_left(ui, at, time_text(cost.time_s), ui.style(12, Tone::text, Face::semibold), 6);
    if (wide)
        ui.label(at,
                 waited > 0.98   ? std::string("all waited for")
                 : waited < 0.02 ? std::string("hidden")
                                 : percent(waited) + " waited for",
                 ui.small());
    if (most_s <= 0 || bar.w < 12) return;
    const auto index = static_cast<std::uint64_t>(axis.kind);
    const double shown = side.open ? ui.glide("fold.time", cost.time_s, index) : cost.time_s;
    const auto bar_of = [most_s, room = Rect{bar.x, bar.y + 7, bar.w, 8}](double s) {
        return Rect{room.x, room.y, std::clamp(room.w * static_cast<float>(s / most_s), 2.0f, room.w),
                    room.h};
    };
    const Rect now = bar_of(shown);
    c.frame(now, color, 1);
    if (waited > 0) c.rect({now.x, now.y, now.w * std::min(1.0f, static_cast<float>(waited)), now.h}, color);
    if (const auto was = side.open ? ui.before("fold.time", index) : std::nullopt)
        ui.outline(bar_of(*was), bar_of(cost.time_s));
}

void draw_step_bar(Ui& ui, Rect room, const RibbonSide& side, const MeshAxes& axes, double most_s) {
    if (!side.evaluation.step || most_s <= 0) return;
    Canvas& c = ui.canvas();
    const double step_s = side.evaluation.step->time_s,
                 shown_s = side.open ? ui.glide("fold.step", step_s) : step_s;
    Rect row = room.cut_top(22);
    const Rect name = row.cut_left(40), figure = row.cut_right(70);
    ui.label(name, "step", ui.small());
    const auto width = [&](double s) { return std::min(row.w, row.w * static_cast<float>(s / most_s)); };
    const Rect bar{row.x, row.y + 2, width(shown_s), 18};
    c.rect(bar, ui.theme().secondary);
    float right = bar.right();
    std::string waits;
    for (const MeshAxis& a : axes.span()) {
        const double s = cost_of(side.evaluation, a).waits_s;
        if (s <= 0) continue;
        const Rect part{right - width(s), bar.y, width(s), bar.h};
        c.pattern(part, Pattern::hatched, a.color, ui.theme().panel);
        c.frame(part, a.color, 1);
        right = part.x;
        waits += (waits.empty() ? "" : ", ") + axis_label(a.kind);
    }
    if (const auto was = side.open ? ui.before("fold.step") : std::nullopt)
        ui.outline({bar.x, bar.y, width(*was), bar.h}, {bar.x, bar.y, width(step_s), bar.h});
    c.text_in({bar.right() + 8, figure.y, figure.w + row.right() - bar.right(), 22}, time_text(step_s),
              ui.style(13, Tone::text, Face::semibold));
    if (room.h >= 16)
        ui.label({row.x, room.y, room.w - 40, 17},
                 waits.empty() ? "the step waits for no wire" : "hatched: the step waits for " + waits,
                 ui.small());
}

// Returns "from inside out: tp, dp_replicate; dp_shard was 2".
std::string order_words(Ui& ui, const RibbonSide& side, const MeshAxes& axes) {
    std::string out = axes.count == 0 ? "nothing is cut: there is no fold"
                                      : "from inside out: " + join(axes.span(), ", ", [](const MeshAxis& a) {
                                            return axis_label(a.kind);
                                        });
    for (const Axis axis : all_of<Axis>())
        if (const auto was = degree_before(ui, side, group_of(axis)); was && *was > 1)
            if (side.evaluation.groups[group_of(axis)].degree <= 1)
                out += "; " + std::string(name_of(axis)) + " was " + thousands(*was);
    return out;
}

// Draws one fold of the ranks: how, where the pieces lie then, and what the wires cost.
void draw_side(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, double most_wire_s,
               double most_step_s) {
    const MeshAxes axes = axes_of(ui.theme(), side.plan, side.evaluation, side.experts);
    ui.canvas().box(room, ui.theme().panel, ui.theme().hairline, 1, 8);
    room = room.inset(14, 10);
    Rect head = room.cut_top(20);
    write_left(ui, head, side.title, ui.style(14, Tone::text, Face::semibold), 10);
    ui.label(head, order_words(ui, side, axes), ui.small());
    if (axes.count == 0) return;
    room.cut_top(6);
    const auto quiet = [&](const MeshAxis& a) {
        return !scene.selection.all_axes && a.kind != scene.selection.group;
    };
    const float gap = 16, w = (room.w + gap) / static_cast<float>(axes.count) - gap;
    std::array<FoldWords, std::tuple_size_v<decltype(axes.axis)>> words;
    int lines = 1;
    for (std::size_t i = 0; i < axes.count; ++i) {
        words[i] = fold_words_of(ui, side, axes, i);
        if (!words[i].fit(ui, w)) lines = 2;
    }
    Rect folds = room.cut_top(kFoldHead + kFoldBox + static_cast<float>(lines - 1) * kFoldLine);
    for (std::size_t i = 0; i < axes.count; ++i) {
        draw_one_fold(ui, folds.cut_left(w), axes.axis[i], words[i], lines, side.evaluation.mesh.world,
                      quiet(axes.axis[i]));
        folds.cut_left(gap);
    }
    room.cut_top(8);
    Rect below = room.cut_bottom(static_cast<float>(axes.count) * kWireRow + 46);
    if (room.h >= 90) draw_pieces(ui, room, scene, side, axes);
    for (const MeshAxis& a : axes.span())
        draw_wire_row(ui, below.cut_top(kWireRow), side, a, most_wire_s, quiet(a));
    below.cut_top(4);
    draw_step_bar(ui, below, side, axes, most_step_s);
}

// Returns the longest time of a wire of a side.
double most_wire(Ui& ui, const RibbonSide& side) {
    double most = 0;
    const MeshAxes axes = axes_of(ui.theme(), side.plan, side.evaluation, side.experts);
    for (const MeshAxis& a : axes.span()) most = std::max(most, cost_of(side.evaluation, a).time_s);
    return most;
}

}  // namespace

void draw_ribbon(Ui& ui, Rect room, const Scene& scene, const KeptPlan* before) {
    if (!scene.evaluation.valid || scene.evaluation.mesh.world <= 0) return;
    if (room.h >= (before != nullptr ? kLeastWithRibbon + kRibbon : kLeastWithRibbon)) {
        draw_ranks_in_a_row(ui, room.cut_top(kRibbon), scene);
        room.cut_top(10);
    }
    for (const GroupKind kind : all_of<GroupKind>())
        (void)ui.glide("fold.degree", static_cast<double>(scene.evaluation.groups[kind].degree),
                       static_cast<std::uint64_t>(kind));
    std::vector<RibbonSide> sides;
    const bool compares = before != nullptr && !scene.asked && before->evaluation->valid
                          && before->evaluation->mesh.world == scene.evaluation.mesh.world
                          && before->evaluation->mesh != scene.evaluation.mesh;
    const bool experts = scene.selection.expert();
    const auto now = [&](bool e, std::string title) {
        return RibbonSide{scene.plan, scene.evaluation, e, compares ? before : nullptr, std::move(title),
                          true};
    };
    constexpr float kLeastSide = 420, kGap = 16;
    const bool two = room.w >= 2 * kLeastSide + kGap;  // else only what is new, or chosen
    if (compares) {
        if (two) sides.push_back({*before->plan, *before->evaluation, experts, nullptr, "A, before", false});
        sides.push_back(now(experts, "this plan"));
    } else if (scene.evaluation.mesh.has_experts) {
        if (two || !experts) sides.push_back(now(false, "the dense layers"));
        if (two || experts) sides.push_back(now(true, "the same ranks, for the experts"));
    } else {
        sides.push_back(now(false, "this plan"));
    }
    double wire_s = 0, step_s = 0;
    for (const RibbonSide& s : sides) {
        wire_s = std::max(wire_s, most_wire(ui, s));
        if (s.evaluation.step) step_s = std::max(step_s, s.evaluation.step->time_s);
    }
    const auto n = static_cast<float>(sides.size());
    const float w = std::floor((room.w - kGap * (n - 1)) / n);
    for (const RibbonSide& s : sides) {
        draw_side(ui, room.cut_left(w), scene, s, wire_s, step_s);
        room.cut_left(kGap);
    }
}

}  // namespace pentamesh::ui
