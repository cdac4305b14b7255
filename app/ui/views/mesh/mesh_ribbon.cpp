#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/compare/view.h"
#include "app/ui/views/mesh/mesh_experts.h"
#include "core/mesh/places.h"
#include "core/sharding/sharding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kWireRow = 22, kFoldLine = 18, kFoldHead = 30, kFoldBox = 86, kRibbon = 46,
                kLeastWithRibbon = 420;
// In a low room the words over a fold have one line, and rows have no gaps.
constexpr float kThinRow = 18, kThinHead = 24;

// Draws the ranks as they lie in the nodes; of many the first, and the last node's.
void draw_ranks_in_a_row(Ui& ui, Rect room, const Scene& scene) {
    Canvas& c = ui.canvas();
    const Cluster& cluster = scene.plan.cluster;
    const std::int64_t world = scene.evaluation.mesh.world, domain = domain_of(cluster, 0);
    Rect label = room.cut_left(std::min(180.0f, room.w * 0.2f));
    ui.label(label.cut_top(18), "the ribbon: " + thousands(world) + " ranks", ui.title());
    const std::string in_nodes = "in the " + std::string(domain_name(cluster)) + "s";
    const std::array<std::string, 2> where{"as they lie " + in_nodes, in_nodes};
    ui.label(label.cut_top(17), wording(ui, label.w, where, ui.small()), ui.small());
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

// Returns the same in fewer words, for one line: the name is not cut.
FoldWords on_one_line(Ui& ui, FoldWords words, float width, std::size_t i, std::size_t count) {
    if (words.fit(ui, width)) return words;
    words.how = i == 0 ? "first fold" : i + 1 < count ? "again" : "the rest";
    if (!words.fit(ui, width)) words.how.clear();
    return words;
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
    if (room.h < kFoldBox / 2) return;
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
    const auto bar_of = [most_s, room = Rect{bar.x, bar.center().y - 4, bar.w, 8}](double s) {
        return Rect{room.x, room.y, std::clamp(room.w * static_cast<float>(s / most_s), 2.0f, room.w),
                    room.h};
    };
    const Rect now = bar_of(shown);
    c.frame(now, color, 1);
    if (waited > 0) c.rect({now.x, now.y, now.w * std::min(1.0f, static_cast<float>(waited)), now.h}, color);
    if (const auto was = side.open ? ui.before("fold.time", index) : std::nullopt)
        ui.outline(bar_of(*was), bar_of(cost.time_s));
}

void draw_step_bar(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, const MeshAxes& axes,
                   double most_s) {
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
    if (const auto was = side.open ? step_before(ui, "fold.step", scene) : std::nullopt)
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

// Draws one fold of the ranks: how, where the pieces lie then, and what the wires cost. `alone`: there is no
// other one in the view.
void draw_side(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, bool alone, double most_wire_s,
               double most_step_s) {
    const MeshAxes axes = axes_of(ui.theme(), side.plan, side.evaluation, side.experts);
    ui.canvas().box(room, ui.theme().panel, ui.theme().hairline, 1, 8);
    // On a small projector the pieces need the height of a title that the axes, in their order, say as well.
    constexpr float kLowFold = 320;
    const bool low = alone && axes.count > 0 && room.h < kLowFold;
    room = room.inset(14, low ? 6 : 10);
    if (!low) {
        Rect head = room.cut_top(20);
        write_left(ui, head, side.title, ui.style(14, Tone::text, Face::semibold), 10);
        ui.label(head, order_words(ui, side, axes), ui.small());
        room.cut_top(6);
    }
    if (axes.count == 0) return;
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
    // The pieces are what moves: in a low room the boxes of the folds go before they get small, and then the
    // wires of the axes that are not chosen.
    // A quarter of a weight is then 24 pixels of a projector of 1280 x 720.
    constexpr float kPieces = 132, kLeastPieces = 90, kGoodPieces = 140;
    const float names = kFoldHead + static_cast<float>(lines - 1) * kFoldLine;
    float wires = static_cast<float>(axes.count) * kWireRow + 46;
    const bool boxes = room.h >= names + kFoldBox + wires + kPieces;
    if (!boxes) wires -= 18;  // the sentence under the step's bar goes too
    // Before an axis loses its row, all are set closer.
    float gap_below = 8, head = names, row_h = kWireRow;
    const float thin = static_cast<float>(axes.count) * kThinRow + 26;
    if (low && !boxes && room.h - names - gap_below - wires < kGoodPieces
        && room.h - kThinHead - 4 - thin >= kGoodPieces) {
        gap_below = 4, head = kThinHead, row_h = kThinRow, wires = thin, lines = 1;
        for (std::size_t i = 0; i < axes.count; ++i)
            words[i] = on_one_line(ui, std::move(words[i]), w, i, axes.count);
    }
    Rect folds = room.cut_top(head + (boxes ? kFoldBox : 0));
    for (std::size_t i = 0; i < axes.count; ++i) {
        draw_one_fold(ui, folds.cut_left(w), axes.axis[i], words[i], lines, side.evaluation.mesh.world,
                      quiet(axes.axis[i]));
        folds.cut_left(gap);
    }
    room.cut_top(gap_below);
    const bool all_wires = room.h - wires >= kGoodPieces || std::ranges::all_of(axes.span(), quiet);
    if (!all_wires) wires -= row_h * static_cast<float>(std::ranges::count_if(axes.span(), quiet));
    Rect below = room.cut_bottom(wires);
    if (room.h >= kLeastPieces) draw_pieces(ui, room, scene, side, axes);
    for (const MeshAxis& a : axes.span())
        if (all_wires || !quiet(a)) draw_wire_row(ui, below.cut_top(row_h), side, a, most_wire_s, quiet(a));
    below.cut_top(4);
    draw_step_bar(ui, below, scene, side, axes, most_step_s);
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
    const auto reach = [&](const RibbonSide& s) {
        wire_s = std::max(wire_s, most_wire(ui, s));
        if (s.evaluation.step) step_s = std::max(step_s, s.evaluation.step->time_s);
    };
    for (const RibbonSide& s : sides) reach(s);
    // A counts for the scales where it has no room too. In a lesson wires stand on the scale of its steps,
    // which holds still between a question and its answer.
    if (compares) reach({*before->plan, *before->evaluation, experts, nullptr, "", false});
    step_s = std::max(ui.kept_scale("fold.step_scale", step_s), scene.axes.time_s);
    wire_s = std::max(ui.kept_scale("fold.wire_scale", wire_s), scene.axes.time_s);
    const auto n = static_cast<float>(sides.size());
    const float w = std::floor((room.w - kGap * (n - 1)) / n);
    for (const RibbonSide& s : sides) {
        draw_side(ui, room.cut_left(w), scene, s, sides.size() == 1, wire_s, step_s);
        room.cut_left(kGap);
    }
}

namespace {

constexpr std::int64_t kMostPieces = 64, kMostWired = 16;
constexpr float kNodePad = 16, kNodeGap = 26, kMostCardGap = 20;

// Which piece of a weight a rank has: its place among the pieces, across by the first axis that cuts it, of
// the axes as they are listed. So a piece keeps its place in the weight where the order of the ranks changes.
struct Piece {
    std::int64_t across = 0, down = 0, of_across = 1, of_down = 1;
    bool copied = false;  // another rank before it has the same

    // Returns its share of the weight, as a part of a square.
    [[nodiscard]] std::array<double, 4> share() const {
        const auto w = static_cast<double>(of_across), h = static_cast<double>(of_down);
        return {static_cast<double>(across) / w, static_cast<double>(down) / h, 1 / w, 1 / h};
    }
};

// A piece as it is drawn: after an edit it comes from where it lay, or takes another share of the weight.
struct DrawnPiece {
    std::array<double, 4> share{};
    std::optional<std::array<double, 4>> was;  // the rank's share before; nullopt: the same
    std::int64_t from = -1;                    // the rank that had the piece before; -1: the same
    float left = 0;                            // of the way from there
};

bool copied_along(const GroupFactors& over, const MeshAxis& axis) {
    return std::ranges::any_of(over.span(), [&](const Factor& f) {
        return axis.stride() >= f.stride && axis.stride() < f.stride * f.size;
    });
}

// Returns the axes in one order for any order of the ranks: pipeline stages come last.
std::vector<const MeshAxis*> axes_as_listed(const MeshAxes& axes) {
    std::vector<const MeshAxis*> out;
    for (const MeshAxis& a : axes.span()) out.push_back(&a);
    std::ranges::sort(out, [](const MeshAxis* a, const MeshAxis* b) {
        return std::pair(a->kind == GroupKind::pp, a->kind) < std::pair(b->kind == GroupKind::pp, b->kind);
    });
    return out;
}

Piece piece_of(const MeshAxes& axes, const GroupFactors& over, std::int64_t rank) {
    Piece p;
    bool first = true;
    for (const MeshAxis* a : axes_as_listed(axes)) {
        const std::int64_t at = a->place_of(rank);
        if (copied_along(over, *a)) {
            p.copied = p.copied || at > 0;
        } else if (first) {
            p.across = at, p.of_across = a->degree, first = false;
        } else {
            p.down += at * p.of_down, p.of_down *= a->degree;
        }
    }
    return p;
}

// Returns which weights a rank keeps the same of as others.
const GroupFactors& copied_in(const ParameterCopies& over, bool experts) {
    return experts ? over.experts : over.dense;
}

// Finds where pieces lay before the last edit, or in A. Those of equal factors are known by their
// coordinates; where factors changed, a rank keeps its place and its share changes.
class PiecesBefore {
  public:
    PiecesBefore(Ui& ui, const RibbonSide& side) : ui_(ui), side_(side), now_(side.evaluation.mesh) {
        for (const Factor& f : side.factors(now_))
            sizes_ = sizes_ * 8191 + static_cast<std::uint64_t>(f.size);
        if (side.before != nullptr) {
            const KeptPlan& a = *side.before;
            axes_ = axes_of(ui.theme(), *a.plan, *a.evaluation, side.experts);
            over_ = parameter_copies_of(*a.plan, a.evaluation->mesh);
        }
        if (!side.open) return;
        constexpr std::uint64_t kWhole = (std::uint64_t{1} << 52) - 1;  // a double holds it
        (void)ui.glide("fold.sizes", static_cast<double>(sizes_ & kWhole), side.experts ? 1 : 0);
        resized_ = ui.before("fold.sizes", side.experts ? 1 : 0).has_value();
    }
    [[nodiscard]] DrawnPiece of(std::int64_t rank, const Piece& piece) const {
        DrawnPiece out{piece.share(), {}, -1, 0};
        if (side_.open) glide(out, rank);
        if (side_.before == nullptr) return out;
        const Mesh& a = side_.before->evaluation->mesh;
        out.from = rank_in(a, rank);
        if (out.from >= 0) return out.from == rank ? out.from = -1, out : out;
        const auto was = piece_of(axes_, copied_in(over_, side_.experts), rank).share();
        if (was != piece.share()) out.was = was;
        return out;
    }

  private:
    Ui& ui_;
    const RibbonSide& side_;
    const Mesh& now_;
    MeshAxes axes_;         // A's
    ParameterCopies over_;  // A's
    std::uint64_t sizes_ = 0;
    bool resized_ = false;  // the last edit changed a factor

    [[nodiscard]] Coordinates coordinates(std::int64_t rank) const {
        return side_.experts ? expert_coordinates(now_, rank) : dense_coordinates(now_, rank);
    }
    // Returns the rank with the same coordinates in A's mesh; -1 where the factors differ.
    [[nodiscard]] std::int64_t rank_in(const Mesh& a, std::int64_t rank) const {
        const Coordinates at = coordinates(rank);
        std::int64_t out = 0;
        for (const Axis axis : all_of<Axis>()) {
            const Factor& from = side_.factors(a)[axis];
            if (side_.factors(now_)[axis].size != from.size) return -1;
            out += at[axis] * from.stride;
        }
        return out;
    }
    void glide(DrawnPiece& out, std::int64_t rank) const {
        const Coordinates at = coordinates(rank);
        std::uint64_t piece = sizes_ * 2 + (side_.experts ? 1 : 0);
        for (const Axis axis : all_of<Axis>()) piece = piece * 8191 + static_cast<std::uint64_t>(at[axis]);
        const auto here = static_cast<double>(rank), now = ui_.glide("fold.rank", here, piece);
        if (const auto was = ui_.before("fold.rank", piece); was && *was != here) {
            out.from = static_cast<std::int64_t>(*was);
            out.left = static_cast<float>(std::clamp((now - here) / (*was - here), 0.0, 1.0));
        }
        std::array<double, 4> was = out.share, shown{};
        for (std::size_t i = 0; i < was.size(); ++i) {
            const std::uint64_t index = static_cast<std::uint64_t>(rank) * 8 + (side_.experts ? 4 : 0) + i;
            shown[i] = ui_.glide("fold.share", out.share[i], index);
            was[i] = ui_.before("fold.share", index).value_or(was[i]);
        }
        if (!resized_) return;  // the piece came from another rank as it is
        if (was != out.share) out.was = was;
        out.share = shown;
    }
};

// Places the cards of the ranks: nodes in rows, cards in rows within a node.
struct CardPlaces {
    Rect room{};
    std::int64_t domain = 1, world = 1, cols = 1, rows = 1, node_cols = 1, node_rows = 1;
    Vec2 node{}, card{}, gap{};  // gap: between cards

    [[nodiscard]] Rect node_rect(std::int64_t n) const {
        const std::int64_t line = n / node_cols;
        return {room.x + static_cast<float>(n % node_cols) * (node.x + kNodeGap),
                room.y + static_cast<float>(line) * (node.y + kNodeGap), node.x, node.y};
    }
    [[nodiscard]] Rect card_rect(std::int64_t rank) const {
        const Rect n = node_rect(rank / domain);
        const std::int64_t i = rank % domain, line = i / cols;
        return {n.x + kNodePad + static_cast<float>(i % cols) * (card.x + gap.x),
                n.y + kNodePad + static_cast<float>(line) * (card.y + gap.y), card.x, card.y};
    }
};

CardPlaces ribbon_places(Rect room, const Cluster& cluster, std::int64_t world, std::int64_t inner) {
    CardPlaces p{.room = room, .domain = std::min(domain_of(cluster, 0), world), .world = world};
    const std::int64_t nodes = (world + p.domain - 1) / p.domain;
    // A line of the innermost groups, or the divisor next to the root.
    const auto near_root =
        static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(p.domain)) - 1e-9));
    p.cols = p.domain % inner == 0 && inner >= near_root && inner <= 2 * near_root ? inner : near_root;
    while (p.domain % p.cols != 0) ++p.cols;
    p.rows = p.domain / p.cols;
    p.node_cols = nodes <= 4 ? nodes : nodes <= 8 ? (nodes + 1) / 2 : (nodes + 3) / 4;
    p.node_rows = (nodes + p.node_cols - 1) / p.node_cols;
    const auto each = [](float all, std::int64_t n, float gap) {
        return (all + gap) / static_cast<float>(n) - gap;
    };
    p.node = {each(room.w, p.node_cols, kNodeGap), each(room.h, p.node_rows, kNodeGap)};
    const auto gap = [](float all, std::int64_t n) {
        return std::min(kMostCardGap, all * 0.25f / static_cast<float>(n));
    };
    const Vec2 inside{p.node.x - 2 * kNodePad, p.node.y - 2 * kNodePad};
    p.gap = {gap(inside.x, p.cols), gap(inside.y, p.rows)};
    p.card = {each(inside.x, p.cols, p.gap.x), each(inside.y, p.rows, p.gap.y)};
    return p;
}

std::int64_t chosen_of(const Scene& scene, const Mesh& mesh) {
    return std::clamp<std::int64_t>(scene.selection.rank, 0, mesh.world - 1);
}

// Draws the members of one group of each axis in a row, the wire of each hop between them.
void draw_groups(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, const MeshAxes& axes) {
    constexpr float kChipGap = 22, kMostRow = 56;
    Canvas& c = ui.canvas();
    const Mesh& mesh = side.evaluation.mesh;
    const float high = std::min(kMostRow, room.h / static_cast<float>(axes.count));
    const float chip = c.text_width(thousands(mesh.world - 1), ui.small()) + 14;
    for (const MeshAxis& a : axes.span()) {
        Rect row = room.cut_top(high);
        const std::int64_t first = a.first_of(chosen_of(scene, mesh));
        ui.label(row.cut_left(110), axis_label(a.kind) + " " + thousands(a.degree),
                 ui.style(12, Tone::text, Face::semibold));
        const auto fit = static_cast<std::int64_t>((row.w + kChipGap) / (chip + kChipGap));
        const std::int64_t shown = std::min(a.degree, fit);
        Rect at{row.x, row.center().y - 11, chip, 22};
        std::int64_t before = -1;
        for (std::int64_t i = 0; i < shown; ++i, at.x += chip + kChipGap) {
            const bool gap = shown < a.degree && i + 2 == shown;
            const std::int64_t rank = a.member(first, shown < a.degree && i + 1 == shown ? a.degree - 1 : i);
            if (gap) {
                c.text_in(at, "…", ui.small(), Align::center);
                before = -1;
                continue;
            }
            if (before >= 0) {
                const int tier = tier_between(side.plan.cluster, before, rank);
                c.line({at.x - kChipGap, at.center().y}, {at.x, at.center().y}, a.color, 3,
                       mark_of_tier(ui.theme(), side.plan.cluster, tier).dash);
            }
            c.frame(at, a.color, 1.2f, 4);
            c.text_in(at, thousands(rank), ui.small(Tone::text), Align::center);
            before = rank;
        }
    }
}

// Draws the wire between two ranks: straight within a node, around the cards to another node of the row.
void draw_wire(Canvas& c, const CardPlaces& p, Dash dash, double bytes, std::int64_t a, std::int64_t b,
               Color color) {
    const Rect from = p.card_rect(a), to = p.card_rect(b);
    const float w = std::min(wire_width(bytes), std::max(1.4f, std::min(p.card.x, p.card.y) / 3));
    const std::int64_t na = a / p.domain, nb = b / p.domain;
    if (na == nb || na / p.node_cols != nb / p.node_cols) {
        c.line(from.center(), to.center(), color, w, dash);
        return;
    }
    const std::int64_t at = a % p.domain;
    const bool above = at / p.cols < (p.rows + 1) / 2;
    const float off = 3 + (kNodePad - 6) * static_cast<float>(at % p.cols + 1) / static_cast<float>(p.cols);
    const Rect node = p.node_rect(na);
    const float y = above ? node.y + kNodePad - off : node.bottom() - kNodePad + off;
    const Vec2 start{from.center().x, from.center().y}, end{to.center().x, to.center().y};
    c.polyline({start, {start.x, y}, {end.x, y}, end}, color, std::min(w, 3.0f), false, dash);
}

void draw_wires_of(Ui& ui, const CardPlaces& p, const Scene& scene, const RibbonSide& side,
                   const MeshAxes& axes) {
    const std::int64_t world = side.evaluation.mesh.world, chosen = chosen_of(scene, side.evaluation.mesh);
    for (std::size_t k = axes.count; k-- > 0;) {
        const MeshAxis& a = axes.axis[k];
        double bytes = cost_of(side.evaluation, a).bytes;
        if (side.open) bytes = ui.glide("fold.bytes", bytes, static_cast<std::uint64_t>(a.kind));
        const bool quiet = !scene.selection.all_axes && a.kind != scene.selection.group;
        const Color color = quiet ? mix(ui.theme().panel, a.color, 0.35f) : a.color;
        for (std::int64_t first = 0; first < world; ++first) {
            if (a.first_of(first) != first) continue;
            if (world > kMostWired && first != a.first_of(chosen)) continue;
            for (std::int64_t i = 0; i + 1 < a.degree; ++i) {
                const std::int64_t from = a.member(first, i), to = a.member(first, i + 1);
                const int tier = tier_between(side.plan.cluster, from, to);
                draw_wire(ui.canvas(), p, mark_of_tier(ui.theme(), side.plan.cluster, tier).dash, bytes, from,
                          to, color);
            }
        }
    }
}

Rect part_of(Rect box, const std::array<double, 4>& share) {
    const auto of = [&](std::size_t i, float size) { return static_cast<float>(share[i]) * size; };
    return {box.x + of(0, box.w), box.y + of(1, box.h), std::max(of(2, box.w), 1.5f),
            std::max(of(3, box.h), 1.5f)};
}

void draw_mark(Ui& ui, Rect box, const Piece& piece, const DrawnPiece& drawn, Color color) {
    Canvas& c = ui.canvas();
    const Rect part = part_of(box, drawn.share);
    // Neighbouring pieces differ in shade.
    const Color shade = mix(ui.theme().panel, color, piece.across % 2 == 0 ? 1.0f : 0.62f);
    if (piece.copied)
        c.pattern(part, Pattern::hatched, shade);
    else
        c.rect(part, shade);
    if (drawn.was) c.frame(part_of(box, *drawn.was), ui.theme().text, 1.3f, 0, Dash::dashed);
}

// Draws a rank's card; returns the box of its piece, without width where it has no room.
Rect draw_ribbon_card(Ui& ui, Rect card, const RibbonSide& side, std::int64_t rank, const Piece& piece,
                      const DrawnPiece& drawn) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    c.box(card, theme.raised, theme.secondary, 1, 4);
    const bool moved = drawn.from >= 0;
    if (moved) c.frame(card.inset(-4), theme.text, 1, 6, Dash::dotted);
    const TextStyle number = ui.style(card.h >= 40 ? 13 : 11, Tone::text, Face::semibold);
    const std::string name = thousands(rank), was = "was " + thousands(drawn.from);
    const float was_w = moved ? c.text_width(was, ui.small()) : 0;
    const bool said = moved && card.h >= 34 && card.w >= was_w + 28;  // under the rank, left of the piece
    const float words = std::max(c.text_width(name, number), said ? was_w : 0.0f);
    constexpr float kMostMark = 140;
    const float size = std::min({card.h - 8, card.w - 8, kMostMark});
    const bool named = said || (card.h >= 15 && card.w >= words + size * 0.5f + 12);
    if (named) c.text_in({card.x + 6, card.y + 2, words + 4, 18}, name, number);
    if (said) c.text_in({card.x + 6, card.bottom() - 18, was_w + 2, 16}, was, ui.small(Tone::text));
    const float side_of = named ? std::min(size, card.w - words - 16) : size;
    const Rect box{card.right() - side_of - 4, card.y + 4, side_of >= 4 ? side_of : 0, side_of};
    if (box.w > 0) c.frame(box, theme.faint, 1);
    if (!ui.hovers(card)) return box;
    std::string tip = "rank " + name + "\n" + place_of(side.plan.cluster, rank) + "\nhas piece "
                      + thousands(piece.down * piece.of_across + piece.across + 1) + " of "
                      + thousands(piece.of_across * piece.of_down) + (piece.copied ? ", a copy" : "");
    if (moved) tip += "; it lay on rank " + thousands(drawn.from);
    ui.tooltip(tip);
    return box;
}

Rect between(Rect a, Rect b, float share) {
    const auto mean = [&](float x, float y) { return x + (y - x) * share; };
    return {mean(a.x, b.x), mean(a.y, b.y), mean(a.w, b.w), mean(a.h, b.h)};
}

// Draws the cards, then over them the pieces, which may be on their way.
void draw_cards_and_pieces(Ui& ui, const CardPlaces& p, const RibbonSide& side, const MeshAxes& axes,
                           const GroupFactors& copied, Color color) {
    const PiecesBefore before(ui, side);
    std::vector<Piece> pieces;
    std::vector<DrawnPiece> drawn;
    std::vector<Rect> boxes;
    for (std::int64_t r = 0; r < side.evaluation.mesh.world; ++r) {
        pieces.push_back(piece_of(axes, copied, r));
        drawn.push_back(before.of(r, pieces.back()));
        boxes.push_back(draw_ribbon_card(ui, p.card_rect(r), side, r, pieces.back(), drawn.back()));
    }
    for (std::size_t r = 0; r < pieces.size(); ++r) {
        const auto from = static_cast<std::size_t>(std::max<std::int64_t>(drawn[r].from, 0));
        const Rect box = between(boxes[r], from < boxes.size() ? boxes[from] : boxes[r], drawn[r].left);
        if (box.w > 0) draw_mark(ui, box, pieces[r], drawn[r], color);
    }
}

}  // namespace

float wire_width(double bytes) {
    return std::max(1.4f, static_cast<float>(bytes / 16e9));
}

void draw_pieces(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, const MeshAxes& axes) {
    const Mesh& mesh = side.evaluation.mesh;
    const ParameterCopies over = parameter_copies_of(side.plan, mesh);
    Rect head = room.cut_top(20);
    const std::string what = side.experts ? "where the experts lie" : "where the pieces of a weight lie";
    if (mesh.world > kMostPieces) {
        ui.label(head, in_capitals("a group of each axis, of rank " + thousands(chosen_of(scene, mesh))),
                 ui.small());
        draw_groups(ui, room, scene, side, axes);
        return;
    }
    if (over.stage_across) {
        ui.label(head, "Each stage holds the layers of two places of the pipeline.", ui.small());
        return;
    }
    write_left(ui, head, in_capitals(what), ui.small(), 10);
    std::string words = "hatched: a copy";
    if (mesh.world > kMostWired) words += "; wires of rank " + thousands(chosen_of(scene, mesh));
    if (side.before != nullptr) words = "dotted: moved; " + words;
    if (ui.canvas().text_width(words, ui.small()) > head.w) head = room.cut_top(18);  // a line of its own
    ui.canvas().text_in(head, words, ui.small(), Align::right);
    const CardPlaces p = ribbon_places(room, side.plan.cluster, mesh.world, axes.axis[0].degree);
    if (p.card.x < 6 || p.card.y < 6) return;
    const std::int64_t nodes = (mesh.world + p.domain - 1) / p.domain;
    for (std::int64_t n = 0; n < nodes; ++n) {
        ui.canvas().box(p.node_rect(n), ui.theme().window, ui.theme().hairline, 1, 6);
    }
    draw_wires_of(ui, p, scene, side, axes);
    const GroupFactors& copied = copied_in(over, side.experts);
    Color color = ui.theme().text;
    const std::vector<const MeshAxis*> listed = axes_as_listed(axes);
    const auto cuts =
        std::ranges::find_if(listed, [&](const MeshAxis* a) { return !copied_along(copied, *a); });
    if (cuts != listed.end()) color = (*cuts)->color;
    draw_cards_and_pieces(ui, p, side, axes, copied, color);
}

}  // namespace pentamesh::ui
