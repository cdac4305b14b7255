#include "app/ui/views/shards/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/axis_name.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "core/plan/names.h"
#include "core/teach/axis_sentences.h"

#include <algorithm>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kMostSlices = 8;
constexpr float kBoxGap = 10, kLane = 7, kLanes = 12, kPriceRow = 20;

std::int64_t shown_rank_of(const Scene& scene) {
    const std::int64_t rank = std::max<std::int64_t>(scene.selection.rank, 0);
    return std::min(rank, std::max<std::int64_t>(scene.evaluation.mesh.world - 1, 0));
}
// The axis that colours the bread: the selected one, else the first in use.
GroupKind shown_kind(const Scene& scene) {
    return kind_of_loaf(scene.evaluation.groups,
                        scene.selection.all_axes ? GroupKind::tp : scene.selection.group);
}

LoafShown make_shown(const Scene& scene, GroupKind kind, std::int64_t rank) {
    LoafShown out;
    out.loaf = loaf_of(scene.plan, scene.evaluation, kind, rank, kMostSlices);
    out.rows = map_rows(scene.plan, scene.evaluation, MapStyle::own_rows);
    std::erase_if(out.rows, [](const MapRow& r) { return r.degree <= 1 || r.calls <= 0 || r.tier < 0; });
    return out;
}

// Returns "4 GPUs", "8 to 64 GPUs": how many hold the same numbers of a part; empty where nothing is copied.
std::string copies_of(std::span<const LoafSlice> slices, LoafPart part) {
    std::int64_t least = INT64_MAX, most = 1;
    for (const LoafSlice& s : slices)
        for (const LoafBlock& b : s.blocks)
            if (b.part == part && b.copies > 1)
                least = std::min(least, b.copies), most = std::max(most, b.copies);
    if (most < 2) return {};
    return (least < most ? thousands(least) + " to " : "") + thousands(most) + " GPUs";
}

// ---- the slices -----------------------------------------------------------------------------------------

// Joins two slices of a group that are neighbours in it. Wires that stand side by side under a row have lanes
// of their own.
struct Wire {
    std::size_t axis, from, to;
    std::int64_t group;  // its first rank
    int lane = 0;
};

// Holds where the slices stand: in rows, with room for the wires under each.
struct Boxes {
    std::size_t columns = 1, lines = 1;
    std::vector<Rect> box;
    Rect gap;  // the place of the slices that are left out; empty: there are none
    std::vector<Wire> wires;
    std::size_t gap_at = SIZE_MAX;  // its number among the places
    [[nodiscard]] std::size_t place(std::size_t slice) const { return slice < gap_at ? slice : slice + 1; }
    [[nodiscard]] std::size_t column(std::size_t slice) const { return place(slice) % columns; }
    [[nodiscard]] std::size_t line(std::size_t slice) const { return place(slice) / columns; }
};

void lay_wires(const Loaf& loaf, const std::vector<MeshAxis>& axes, const Mesh& mesh, Boxes& out) {
    for (std::size_t a = 0; a < axes.size(); ++a) {
        std::vector<std::int64_t> group;
        for (const LoafSlice& s : loaf.slices)
            group.push_back(first_rank_of_group(mesh, axes[a].kind, s.rank));
        for (std::size_t i = 0; i < group.size(); ++i)
            for (std::size_t k = i + 1; k < group.size(); ++k) {
                if (group[k] != group[i]) continue;
                const bool below = out.line(i) != out.line(k);
                if (below && out.column(i) != out.column(k)) continue;
                out.wires.push_back({a, i, k, group[i]});
                if (!below) break;  // from each to the next
            }
    }
    for (std::size_t i = 0; i < out.wires.size(); ++i) {
        Wire& w = out.wires[i];
        const auto meets = [&](const Wire& o) {
            if (o.lane != w.lane || out.line(o.from) != out.line(w.from)
                || out.line(o.from) != out.line(o.to))
                return false;
            const bool joined = o.axis == w.axis && o.group == w.group;
            return joined ? o.from < w.to && w.from < o.to : o.from <= w.to && w.from <= o.to;
        };
        if (out.line(w.from) != out.line(w.to)) continue;
        while (std::any_of(out.wires.begin(), out.wires.begin() + static_cast<std::ptrdiff_t>(i), meets))
            ++w.lane;
    }
}

// Returns how many boxes stand side by side: in one row or in two, where they are larger.
std::size_t columns_for(Rect room, std::size_t boxes) {
    const auto size = [&](std::size_t columns) {
        const std::size_t lines = (boxes + columns - 1) / columns;
        return std::min(room.w / static_cast<float>(columns), room.h / static_cast<float>(lines));
    };
    const std::size_t two = (boxes + 1) / 2;
    return boxes > 3 && size(two) > 1.1f * size(boxes) ? two : boxes;
}

Boxes lay_out_boxes(Rect room, const Loaf& loaf, const std::vector<MeshAxis>& axes, const Mesh& mesh) {
    Boxes out;
    const std::size_t n = loaf.slices.size() + (loaf.left_out > 0 ? 1 : 0);
    out.columns = loaf.left_out > 0 ? n : columns_for(room, n);
    out.lines = (n + out.columns - 1) / out.columns;
    if (loaf.left_out > 0) out.gap_at = n - 2;
    lay_wires(loaf, axes, mesh, out);
    int lanes = 0;
    for (const Wire& w : out.wires) lanes = std::max(lanes, w.lane + 1);
    const float wires = kLanes + kLane * static_cast<float>(lanes);
    const float w =
        (room.w - kBoxGap * static_cast<float>(out.columns - 1)) / static_cast<float>(out.columns);
    const float h = std::min(room.h / static_cast<float>(out.lines) - wires, 1.8f * w);
    const float spare = std::max(0.0f, room.h - (h + wires) * static_cast<float>(out.lines));
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t column = i % out.columns, line = i / out.columns;
        const Rect at{room.x + static_cast<float>(column) * (w + kBoxGap),
                      room.y + spare / 3 + static_cast<float>(line) * (h + wires), w, h};
        (i == out.gap_at ? out.gap : out.box.emplace_back()) = at;
    }
    return out;
}

// Frames the boxes of one node that stand side by side.
void frame_nodes(Ui& ui, const Scene& scene, const Loaf& loaf, const Boxes& boxes) {
    if (scene.plan.cluster.tiers.size() < 2) return;
    const std::int64_t domain = domain_of(scene.plan.cluster, 0);
    for (std::size_t i = 0; i < boxes.box.size();) {
        std::size_t end = i + 1;
        while (end < boxes.box.size() && boxes.box[end].y == boxes.box[i].y
               && loaf.slices[end].rank / domain == loaf.slices[i].rank / domain
               && loaf.slices[end].rank > loaf.slices[end - 1].rank
               && boxes.box[end].x - boxes.box[end - 1].right() < kBoxGap + 1)
            ++end;
        const Rect a = boxes.box[i], b = boxes.box[end - 1];
        ui.canvas().frame(Rect{a.x - 4, a.y - 2, b.right() - a.x + 8, a.h + 4}, ui.theme().hairline, 1, 6);
        i = end;
    }
}

void draw_box(Ui& ui, Rect box, Scene& scene, const Loaf& loaf, std::size_t i, const LoafScale& scale,
              Color shade) {
    const LoafSlice& slice = loaf.slices[i];
    Canvas& c = ui.canvas();
    const Hit hit = ui.area("shards.slice", box, i, true, false);
    const bool picked = scene.selection.rank == slice.rank;
    c.rect(box, picked || hit.hovered ? ui.theme().raised : ui.theme().panel, 4);
    if (picked) c.frame(box, ui.theme().text, 1, 4);
    if (hit.hovered) scene.next_hover.rank = slice.rank;
    if (hit.clicked) scene.selection.pick_rank(picked ? -1 : slice.rank);
    Rect room = box.inset(6, 3);
    const Rect head = room.cut_top(18);
    const std::string total = memory_text(slice.total), name = "GPU " + thousands(slice.rank);
    const TextStyle bold = ui.style(12, Tone::text, Face::semibold);
    c.text_in(head, total, bold, Align::right);
    if (c.text_width(name, ui.small()) + c.text_width(total, bold) + 6 <= head.w)
        c.text_in(head, name, ui.small());
    room.cut_bottom(3);
    LoafLook look;
    look.bread = shade;
    look.drawers_from = loaf.drawers_from;
    look.layers = loaf.layers;
    look.ghost = true;
    draw_slice(c, ui.theme(), place_in(room, scale, loaf.slices), slice, look);
    if (!hit.hovered) return;
    std::string words =
        name
        + (loaf.slices.size() > 1 && scene.plan.layout.pp > 1 ? ", stage " + std::to_string(slice.stage)
                                                              : "");
    for (const LoafPart part : all_of<LoafPart>()) {
        const std::string copies = copies_of({&slice, 1}, part);
        words += "\n" + std::string(name_of(part)) + " " + memory_text(slice.bytes_of(part))
                 + (copies.empty() ? "" : ", the same on " + copies);
    }
    ui.tooltip(words);
}

// Draws the groups of each axis among the slices: below a row, and from row to row.
void draw_wires(Ui& ui, const Boxes& boxes, const std::vector<MeshAxis>& axes) {
    for (const Wire& w : boxes.wires) {
        const MeshAxis& axis = axes[w.axis];
        const Rect a = boxes.box[w.from], b = boxes.box[w.to];
        const float shift = (static_cast<float>(w.axis) - static_cast<float>(axes.size() - 1) / 2) * 8;
        const float down = kLanes - 4 + kLane * static_cast<float>(w.lane);
        const Vec2 from{a.center().x + shift, a.bottom()};
        if (a.y != b.y) {
            const std::array<Vec2, 2> path{from, Vec2{from.x, b.y}};
            draw_link(ui.canvas(), ui.theme().window, path, axis.color, axis.mark.dash, 2, axis.kind);
            continue;
        }
        const Vec2 to{b.center().x + shift, b.bottom()};
        const std::array<Vec2, 4> path{from, Vec2{from.x, from.y + down}, Vec2{to.x, to.y + down}, to};
        draw_link(ui.canvas(), ui.theme().window, path, axis.color, axis.mark.dash, 2, axis.kind);
    }
}

std::vector<MeshAxis> wired_axes(const Theme& theme, const Scene& scene, const Loaf& loaf) {
    std::vector<MeshAxis> out;
    const auto add = [&](GroupKind kind) {
        if (scene.evaluation.groups[kind].degree <= 1) return;
        if (!loaf.all_ranks && kind != loaf.group) return;  // the others of their groups are not drawn
        out.push_back(mesh_axis(theme, scene.plan, scene.evaluation, kind));
    };
    for (const GroupKind kind : {GroupKind::tp, GroupKind::ep, GroupKind::cp, GroupKind::dp_shard,
                                 GroupKind::dp_replicate, GroupKind::pp})
        add(kind);
    return out;
}

void draw_slices(Ui& ui, Rect room, Scene& scene, const Loaf& loaf) {
    const std::vector<MeshAxis> axes = wired_axes(ui.theme(), scene, loaf);
    Rect head = room.cut_top(20);
    const std::int64_t world = scene.evaluation.mesh.world;
    std::string groups;
    if (!loaf.all_ranks) {
        const GroupSummary& g = scene.evaluation.groups[loaf.group];
        groups = (g.groups == 1 ? "the only group of " : "one of " + thousands(g.groups) + " groups of ")
                 + axis_label(loaf.group);
    }
    ui.section(
        head, loaf.all_ranks ? (world == 1 ? "THE GPU HOLDS" : "EACH GPU HOLDS") : "THE GPUS OF A GROUP HOLD",
        groups);
    room.cut_top(4);
    const Boxes boxes = lay_out_boxes(room.inset(4, 0), loaf, axes, scene.evaluation.mesh);
    frame_nodes(ui, scene, loaf, boxes);
    const Rect any = boxes.box.front();
    const LoafScale scale = scale_for(loaf.slices, any.w - 14, any.h - 28);
    const auto ramp =
        shades(ui.theme(), axes.empty() ? ui.theme().memory[3] : color_of(ui.theme(), loaf.group));
    draw_wires(ui, boxes, axes);
    for (std::size_t i = 0; i < boxes.box.size(); ++i) {
        // Those that hold the same bread have one shade: members of the group's own place.
        const auto members = group_members(scene.evaluation.mesh, loaf.group, loaf.slices[i].rank);
        const auto place = static_cast<std::size_t>(
            std::find(members.begin(), members.end(), loaf.slices[i].rank) - members.begin());
        draw_box(ui, boxes.box[i], scene, loaf, i, scale,
                 axes.empty() ? ui.theme().memory[3] : ramp[place % kShadeCount]);
    }
    if (loaf.left_out > 0)
        ui.canvas().text_in(boxes.gap, "… " + thousands(loaf.left_out) + " more", ui.small(), Align::center);
}

// ---- words ----------------------------------------------------------------------------------------------

// Returns "Hatched: the same on 4 GPUs (optimizer, gradients), on 2 GPUs (activations)"; empty where nothing
// is copied.
std::string copied_words(const Loaf& loaf) {
    std::vector<std::pair<std::string, std::string>> by_copies;
    for (const LoafPart part : all_of<LoafPart>()) {
        const std::string copies = copies_of(loaf.slices, part);
        if (copies.empty()) continue;
        auto at = std::find_if(by_copies.begin(), by_copies.end(),
                               [&](const auto& k) { return k.first == copies; });
        if (at == by_copies.end()) at = by_copies.insert(by_copies.end(), {copies, ""});
        at->second += (at->second.empty() ? "" : ", ") + std::string(name_of(part));
    }
    std::string out;
    for (const auto& [copies, parts] : by_copies)
        out += (out.empty() ? "Hatched: the same on " : ", on ") + copies + " (" + parts + ")";
    return out;
}

// Returns "GPU 0 holds 27.7 GiB: 10.4 GiB of crust, 15.2 GiB of bread, 2.1 GiB of buffers."
std::string holds_words(const LoafSlice& s) {
    const double crust = s.crust(), bread = s.bytes_of(LoafPart::bread);
    return "GPU " + thousands(s.rank) + " holds " + memory_text(s.total) + ": " + memory_text(crust)
           + " of crust (the state), " + memory_text(bread) + " of bread (the work), "
           + memory_text(std::max(0.0, s.total - crust - bread)) + " of buffers.";
}

std::string waits_words(const MapRow& r) {
    if (r.exposed_s >= 0.95 * r.time_s) return "all waited for";
    if (r.exposed_s <= 0.05 * r.time_s) return "hidden";
    return percent(r.exposed_s / r.time_s) + " waited for";
}

void draw_prices(Ui& ui, Rect room, const Scene& scene, const std::vector<MapRow>& rows) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(18), "WHAT THE CUTS SEND", "per GPU and step");
    for (const MapRow& r : rows) {
        if (room.h < kPriceRow) return;
        Rect row = room.cut_top(kPriceRow);
        const Color color = color_of(ui.theme(), r.kind);
        const TierMark mark = mark_of_tier(ui.theme(), scene.plan.cluster, r.tier);
        names_axis(ui, r.kind, {row.x, row.y, 34 + em(8.5f).px, row.h});
        Rect sample = row.cut_left(34);
        c.line({sample.x, sample.center().y}, {sample.x + 26, sample.center().y}, color, 3, mark.dash);
        text_row(ui, row,
                 {{axis_label(r.kind) + (r.degree > scene.evaluation.groups[r.kind].degree ? " × cp " : " ")
                       + thousands(r.degree),
                   em(8.5f), ui.style(12, Tone::text, Face::semibold)},
                  {tier_label(scene.plan.cluster, r.tier), em(6), ui.small()},
                  {r.often + ", " + collectives_text(r), share(), ui.small()},
                  {traffic_text(r.sent_bytes), em(5), ui.style(12, Tone::text, Face::semibold), Align::right},
                  {time_text(r.time_s), em(5), ui.style(12), Align::right},
                  space(12),
                  {waits_words(r), em(10), ui.small()}});
    }
}

}  // namespace

std::optional<PlanEdit> draw_loaf(Ui& ui, Rect room, Scene& scene, LoafPageState& state,
                                  std::uint64_t revision) {
    const GroupKind kind = shown_kind(scene);
    const std::int64_t rank = shown_rank_of(scene);
    state.shown.update({revision, kind, first_rank_of_group(scene.evaluation.mesh, kind, rank)},
                       [&] { return make_shown(scene, kind, rank); });
    const Loaf& loaf = state.shown->loaf;
    const auto& rows = state.shown->rows;
    put_paragraph(ui, room, holds_words(loaf.slices.front()), ui.title(), 18, 0);
    if (room.h > 260) {
        const GroupKind axis = loaf.group;
        std::string words = copied_words(loaf);
        if (!words.empty()) words = " " + words + "; dashed: what other GPUs hold.";
        for (const Axis a : all_of<Axis>())
            if (group_of(a) == axis && scene.evaluation.groups[axis].degree > 1)
                words = std::string(sentence_of(a)) + words;
        put_paragraph(ui, room, words, ui.style(12, Tone::secondary), 17, 4);
    }
    if (room.h > 240 && !rows.empty()) {
        const float h = std::min(18 + kPriceRow * static_cast<float>(rows.size()), room.h * 0.35f);
        draw_prices(ui, room.cut_bottom(h), scene, rows);
        room.cut_bottom(6);
    }
    std::optional<PlanEdit> edit;
    if (room.w > 560 && room.h > 150) {
        edit = draw_whole_loaf(ui, room.cut_left(std::clamp(room.w * 0.34f, 190.0f, 420.0f)), scene, loaf);
        room.cut_left(20);
    }
    if (room.h > 60) draw_slices(ui, room, scene, loaf);
    return edit;
}

Table loaf_data(const Scene& scene) {
    Table t;
    t.columns = {{"GPU", Shown::count, "rank"},
                 {"stage", Shown::count},
                 {"part"},
                 {"tensors"},
                 {"bytes", Shown::memory},
                 {"same on GPUs", Shown::count, "copies"},
                 {"from across", Shown::share, "left"},
                 {"to across", Shown::share, "right"},
                 {"from layer", Shown::share, "top"},
                 {"to layer", Shown::share, "bottom"}};
    const Loaf loaf =
        loaf_of(scene.plan, scene.evaluation, shown_kind(scene), shown_rank_of(scene), kMostSlices);
    for (const LoafSlice& s : loaf.slices)
        for (const LoafBlock& b : s.blocks)
            t.rows.push_back({s.rank, s.stage, name_of(b.part), b.experts ? "experts" : "all others",
                              whole_cell(b.bytes), b.copies, b.left, b.right, b.top, b.bottom});
    return t;
}

}  // namespace pentamesh::ui
