#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "app/ui/views/shards/shards_stages.h"
#include "app/ui/views/shards/view.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/teach/glossary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr Color kLight = rgb(0xffffff), kShadow = rgb(0x101018);  // on tops and on sides
constexpr float kLeastEdge = 1.5f;  // a block that is thinner is drawn as thin as this

Color color_of_part(const Theme& theme, LoafPart part, const LoafLook& look) {
    switch (part) {
    case LoafPart::optimizer: return theme.memory[2];
    case LoafPart::gradients: return theme.memory[1];
    case LoafPart::parameters: return theme.memory[0];
    case LoafPart::bread: break;
    }
    return look.bread;
}

LoafSolid solid_of(const LoafPlace& place, const LoafBlock& b, float from) {
    LoafSolid out{b.left, b.right, b.top, b.bottom, from, from + length_of(place.scale, b)};
    const double thin_across = kLeastEdge / place.scale.w, thin_upright = kLeastEdge / place.scale.h;
    if (out.right - out.left < thin_across) out.right = std::min(1.0, out.left + thin_across);
    if (out.right - out.left < thin_across) out.left = out.right - thin_across;
    if (out.bottom - out.top < thin_upright) out.bottom = std::min(1.0, out.top + thin_upright);
    if (out.bottom - out.top < thin_upright) out.top = out.bottom - thin_upright;
    return out;
}

void quad(Canvas& c, const std::array<Vec2, 4>& at, Color fill, Color edge) {
    c.polygon(at, fill);
    c.polyline(at, edge, 0.8f, true);
}

Color edge_of(const Theme& theme, Color base, bool copied) {
    return mix(base, theme.window, copied ? 0.35f : 0.75f);
}

// Lines between layers on the front and the side, between experts on the front, between samples on the top
// and the side.
void grooves(Canvas& c, const LoafPlace& place, const LoafSolid& b, const LoafBlock& block,
             const LoafLook& look, Color ink) {
    const int slabs = stripes_of(look.layers);
    for (int i = 1; i < slabs; ++i) {
        const double y = static_cast<double>(i) / slabs;
        if (y <= b.top + 1e-6 || y >= b.bottom - 1e-6) continue;
        c.line(place.point(b.left, y, b.from), place.point(b.right, y, b.from), ink, 0.7f);
        if (block.part == LoafPart::bread)
            c.line(place.point(b.right, y, b.from), place.point(b.right, y, b.to), ink, 0.7f);
    }
    if (block.experts)
        for (int i = 1; i < look.drawers; ++i) {
            const double x = look.drawers_from + (1 - look.drawers_from) * i / look.drawers;
            if (x <= b.left + 1e-6 || x >= b.right - 1e-6) continue;
            c.line(place.point(x, b.top, b.from), place.point(x, b.bottom, b.from), ink, 0.7f);
        }
    if (block.part == LoafPart::bread)
        for (std::int64_t i = 1; i < look.samples; ++i) {
            const float z =
                b.from + (b.to - b.from) * static_cast<float>(i) / static_cast<float>(look.samples);
            c.line(place.point(b.left, b.top, z), place.point(b.right, b.top, z), ink, 0.9f);
            c.line(place.point(b.right, b.top, z), place.point(b.right, b.bottom, z), ink, 0.9f);
        }
}

void draw_block(Canvas& c, const Theme& theme, const LoafPlace& place, const LoafBlock& block, float from,
                const LoafLook& look) {
    const LoafSolid b = solid_of(place, block, from);
    const Color base = color_of_part(theme, block.part, look);
    const bool copied = block.copies > 1;
    draw_solid(c, theme, place, b, base, copied);
    grooves(c, place, b, block, look, edge_of(theme, base, copied));
}

void draw_ghost(Canvas& c, const LoafPlace& place, float length, Color ink) {
    const auto dashed = [&](Vec2 a, Vec2 b) { c.line(a, b, ink, 0.8f, Dash::dashed); };
    const Vec2 upper = place.point(0, 0, 0), lower = place.point(1, 1, 0);
    c.frame({upper.x, upper.y, lower.x - upper.x, lower.y - upper.y}, ink, 0.8f, 0, Dash::dashed);
    dashed(place.point(0, 0, 0), place.point(0, 0, length));
    dashed(place.point(1, 0, 0), place.point(1, 0, length));
    dashed(place.point(1, 1, 0), place.point(1, 1, length));
    dashed(place.point(0, 0, length), place.point(1, 0, length));
    dashed(place.point(1, 0, length), place.point(1, 1, length));
}

// Returns what cuts the small model in this row's picture.
std::vector<std::string> cuts_of(MapRowId id) {
    switch (id) {
    case MapRowId::dp: return {"layout.dp_replicate=2", "training.micro_batch=2"};
    case MapRowId::zero: return {"layout.dp_shard=2", "layout.zero=3", "training.micro_batch=2"};
    case MapRowId::tp: return {"layout.tp=2", "layout.sequence_parallel=false"};
    case MapRowId::sp: return {"layout.tp=2", "layout.sequence_parallel=true"};
    case MapRowId::etp: return {"model=mixtral-8x7b", "layout.tp=2", "layout.etp=2"};
    case MapRowId::pp: return {"layout.pp=2", "training.micro_batch=2"};
    case MapRowId::cp: return {"layout.cp=2"};
    case MapRowId::ep:
        return {"model=mixtral-8x7b", "layout.dp_shard=2", "layout.ep=2", "training.micro_batch=2"};
    }
    return {};
}

}  // namespace

int stripes_of(std::int64_t layers) {
    if (layers <= 16) return static_cast<int>(std::max<std::int64_t>(layers, 1));
    for (int n = 8; n > 1; --n)
        if (layers % n == 0) return n;
    return 1;
}

void draw_solid(Canvas& c, const Theme& theme, const LoafPlace& place, const LoafSolid& b, Color base,
                bool copied) {
    const Color face = copied ? mix(theme.window, base, 0.28f) : base;
    const Color edge = edge_of(theme, base, copied);
    quad(c,
         {place.point(b.left, b.top, b.from), place.point(b.right, b.top, b.from),
          place.point(b.right, b.top, b.to), place.point(b.left, b.top, b.to)},
         mix(face, kLight, 0.25f), edge);
    quad(c,
         {place.point(b.right, b.top, b.from), place.point(b.right, b.top, b.to),
          place.point(b.right, b.bottom, b.to), place.point(b.right, b.bottom, b.from)},
         mix(face, kShadow, 0.38f), edge);
    const Vec2 upper = place.point(b.left, b.top, b.from), lower = place.point(b.right, b.bottom, b.from);
    const Rect front{upper.x, upper.y, lower.x - upper.x, lower.y - upper.y};
    if (copied)
        c.pattern(front, Pattern::hatched, base, face);
    else
        c.rect(front, face);
    c.frame(front, edge, 0.8f);
}

Vec2 LoafPlace::point(double across, double upright, float length) const {
    return {at.x + static_cast<float>(across) * scale.w + kLoafAcross * length,
            at.y - scale.h + static_cast<float>(upright) * scale.h - kLoafUp * length};
}

float length_of(const LoafScale& scale, const LoafBlock& b) {
    const double front = std::max((b.right - b.left) * (b.bottom - b.top), 1e-9);
    return static_cast<float>(b.bytes / front * scale.per_byte);
}

LoafStarts starts_of(const LoafScale& scale, const LoafSlice& slice) {
    LoafStarts out{};
    for (const LoafPart part : all_of<LoafPart>()) {
        const auto i = static_cast<std::size_t>(part);
        float longest = 0;
        for (const LoafBlock& b : slice.blocks)
            if (b.part == part) longest = std::max(longest, length_of(scale, b));
        out[i + 1] = out[i] + longest;
    }
    return out;
}

double left_of(const LoafSlice& slice) {
    double left = 1;
    for (const LoafBlock& b : slice.blocks) left = std::min(left, b.left);
    return left;
}

float width_of(const LoafScale& scale, const LoafSlice& slice) {
    double right = 0;
    for (const LoafBlock& b : slice.blocks) right = std::max(right, b.right);
    return scale.w * static_cast<float>(right - left_of(slice))
           + kLoafAcross * starts_of(scale, slice).back();
}

LoafScale scale_for(std::span<const LoafSlice> slices, float width, float height) {
    LoafScale out{1, 1, 1};
    float longest = 0;
    for (const LoafSlice& s : slices) longest = std::max(longest, starts_of(out, s).back());
    const float length = std::max(1.0f, std::min(0.5f * width / kLoafAcross, 0.42f * height / kLoafUp));
    out.per_byte = longest > 0 ? length / longest : 0;
    out.w = std::max(4.0f, std::min(width - kLoafAcross * length, 1.1f * height));
    out.h = std::max(4.0f, std::min(height - kLoafUp * length, 1.5f * out.w));
    return out;
}

LoafPlace place_in(Rect room, const LoafScale& scale, std::span<const LoafSlice> slices) {
    float longest = 0;
    for (const LoafSlice& s : slices) longest = std::max(longest, starts_of(scale, s).back());
    const float width = scale.w + kLoafAcross * longest, height = scale.h + kLoafUp * longest;
    return {{room.x + (room.w - width) / 2, room.bottom() - std::max(0.0f, room.h - height) / 2}, scale};
}

void draw_slice(Canvas& canvas, const Theme& theme, const LoafPlace& place, const LoafSlice& slice,
                const LoafLook& look) {
    const LoafStarts starts = starts_of(place.scale, slice);
    if (look.ghost) draw_ghost(canvas, place, starts[static_cast<std::size_t>(LoafPart::bread)], theme.faint);
    // From the back to the front, then from below and from the left: what is nearer covers what is not.
    std::vector<const LoafBlock*> order;
    order.reserve(slice.blocks.size());
    for (const LoafBlock& b : slice.blocks) order.push_back(&b);
    std::stable_sort(order.begin(), order.end(), [](const LoafBlock* a, const LoafBlock* b) {
        if (a->part != b->part) return a->part > b->part;
        if (a->top != b->top) return a->top > b->top;
        return a->left < b->left;
    });
    for (const LoafBlock* b : order)
        draw_block(canvas, theme, place, *b, starts[static_cast<std::size_t>(b->part)], look);
}

MiniLoaves mini_loaves(const Presets& presets) {
    MiniLoaves out;
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::vector<std::string> sets{
            "model=llama-3.2-1b", "cluster.gpus=2",          "cluster.fast_domain=2",
            "layout.tp=1",        "layout.dp_shard=1",       "layout.dp_replicate=1",
            "layout.zero=0",      "training.global_batch=4", "training.micro_batch=4"};
        const auto cuts = cuts_of(static_cast<MapRowId>(i));
        sets.insert(sets.end(), cuts.begin(), cuts.end());
        try {
            const Plan plan = with_sets(presets.plan("mesh-8"), sets, presets);
            const Evaluation e = evaluate(plan, {.timeline = false});
            if (e.valid) out[i] = loaf_of(plan, e, GroupKind::tp, 0, 2);
        } catch (const Error&) {  // a preset is missing: no picture
        }
    }
    return out;
}

void draw_mini(Canvas& canvas, const Theme& theme, Rect room, const Loaf& loaf, Color color, bool on) {
    if (loaf.slices.empty() || room.h < 16) return;
    const float each = room.w / static_cast<float>(loaf.slices.size()) - 2;
    const LoafScale scale = scale_for(loaf.slices, each, room.h);
    constexpr float kPale = 0.6f;
    Theme inked = theme;
    if (!on)
        for (Color& c : inked.memory) c = mix(c, theme.window, kPale);
    const auto ramp = shades(theme, on ? color : mix(color, theme.window, kPale));
    float x = room.x;
    for (std::size_t i = 0; i < loaf.slices.size(); ++i) {
        const LoafSlice& slice = loaf.slices[i];
        LoafLook look;
        look.bread = ramp[i % 2];
        look.layers = 1;
        look.drawers_from = loaf.drawers_from;
        const float left = static_cast<float>(left_of(slice)) * scale.w;
        draw_slice(canvas, inked, {{x - left, room.bottom()}, scale}, slice, look);
        x += width_of(scale, slice) + 3;
    }
}

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

// Returns the height of the micro-batches' marks in a box; 0 where a step has one, or the box has no room.
float rounds_height(const Scene& scene, float box) {
    return scene.evaluation.microbatches > 1 && box > 84 ? 14 : 0;
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
    TextStyle bold = ui.style(12, Tone::text, Face::semibold);
    // A figure has its unit, in smaller type where it must, or it is left to the tooltip.
    constexpr float kLeastType = 10;
    while (bold.size > kLeastType && c.text_width(total, bold) > head.w) bold.size -= 1;
    const float figure = c.text_width(total, bold);
    if (figure <= head.w) c.text_in(head, total, bold, Align::right);
    if (c.text_width(name, ui.small()) + (figure <= head.w ? figure + 6 : 0) <= head.w)
        c.text_in(head, name, ui.small());
    if (const float h = rounds_height(scene, box.h); h > 0) {
        const auto stage = static_cast<std::size_t>(slice.stage);
        const double kept = stage < scene.evaluation.in_flight.size() ? scene.evaluation.in_flight[stage] : 1;
        draw_rounds(ui, room.cut_bottom(h), std::max<std::int64_t>(std::llround(kept), 1),
                    scene.evaluation.microbatches, shade);
    }
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

constexpr float kThumb = 60, kThumbRow = kThumb + 22;
constexpr float kThinSlice = 20;  // thinner slices are sticks, of which one is drawn large

// Draws one GPU large and the others small, at one scale each: a click on one draws it large.
void draw_one_large(Ui& ui, Rect room, Scene& scene, const Loaf& loaf, std::size_t large,
                    const std::vector<Color>& shade) {
    const Rect thumbs = room.cut_bottom(kThumbRow);
    room.cut_bottom(8);
    const LoafScale scale = scale_for(loaf.slices, room.w - 14, room.h - 28 - rounds_height(scene, room.h));
    draw_box(ui, room, scene, loaf, large, scale, shade[large]);
    LoafLook look;
    look.drawers_from = loaf.drawers_from;
    look.ghost = true;
    const LoafScale small = scale_for(loaf.slices, kThumb, kThumb);
    float x = thumbs.x;
    for (std::size_t i = 0; i < loaf.slices.size(); ++i) {
        if (i == large) continue;
        if (loaf.left_out > 0 && i + 1 == loaf.slices.size()) {
            const std::string more = "… " + thousands(loaf.left_out) + " more";
            const float w = ui.canvas().text_width(more, ui.small()) + 2;
            ui.canvas().text_in({x, thumbs.y, w, kThumb}, more, ui.small());
            x += w + kBoxGap;
        }
        const LoafSlice& slice = loaf.slices[i];
        const Rect box{x, thumbs.y, kThumb + 12, kThumbRow};
        const Hit hit = ui.area("shards.slice", box, i, true, false);
        ui.canvas().rect(box, hit.hovered ? ui.theme().raised : ui.theme().panel, 4);
        if (hit.hovered) {
            scene.next_hover.rank = slice.rank;
            ui.tooltip("GPU " + thousands(slice.rank) + ", " + memory_text(slice.total)
                       + "\nclick: draw it large");
        }
        if (hit.clicked) scene.selection.pick_rank(slice.rank);
        Rect picture = box.inset(6, 2);
        const Rect name = picture.cut_bottom(16);
        look.bread = shade[i];
        draw_slice(ui.canvas(), ui.theme(), place_in(picture, small, loaf.slices), slice, look);
        ui.canvas().text_in(name, thousands(slice.rank), ui.small(), Align::center);
        x += box.w + kBoxGap;
    }
}

// Draws the groups of each axis among the slices: below a row, and from row to row.
void draw_wires(Ui& ui, const Cluster& cluster, const Loaf& loaf, const Boxes& boxes,
                const std::vector<MeshAxis>& axes) {
    for (const Wire& w : boxes.wires) {
        const MeshAxis& axis = axes[w.axis];
        // Two neighbours may be nearer than the farthest of their group.
        const int tier = tier_between(cluster, loaf.slices[w.from].rank, loaf.slices[w.to].rank);
        const Dash dash = mark_of_tier(ui.theme(), cluster, tier).dash;
        const Rect a = boxes.box[w.from], b = boxes.box[w.to];
        const float shift = (static_cast<float>(w.axis) - static_cast<float>(axes.size() - 1) / 2) * 8;
        const float down = kLanes - 4 + kLane * static_cast<float>(w.lane);
        const Vec2 from{a.center().x + shift, a.bottom()};
        if (a.y != b.y) {
            const std::array<Vec2, 2> path{from, Vec2{from.x, b.y}};
            draw_link(ui.canvas(), ui.theme().window, path, axis.color, dash, 2, axis.kind);
            continue;
        }
        const Vec2 to{b.center().x + shift, b.bottom()};
        const std::array<Vec2, 4> path{from, Vec2{from.x, from.y + down}, Vec2{to.x, to.y + down}, to};
        draw_link(ui.canvas(), ui.theme().window, path, axis.color, dash, 2, axis.kind);
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
    // Those that hold the same bread have one shade: members of the group's own place.
    std::vector<Color> shade;
    const auto ramp = shades(ui.theme(), color_of(ui.theme(), loaf.group));
    std::size_t picked = 0;
    for (std::size_t i = 0; i < loaf.slices.size(); ++i) {
        const auto members = group_members(scene.evaluation.mesh, loaf.group, loaf.slices[i].rank);
        const auto place = static_cast<std::size_t>(
            std::find(members.begin(), members.end(), loaf.slices[i].rank) - members.begin());
        shade.push_back(axes.empty() ? ui.theme().memory[3] : ramp[place % kShadeCount]);
        if (loaf.slices[i].rank == scene.selection.rank) picked = i;
    }
    const Boxes boxes = lay_out_boxes(room.inset(4, 0), loaf, axes, scene.evaluation.mesh);
    const Rect any = boxes.box.front();
    const LoafScale scale = scale_for(loaf.slices, any.w - 14, any.h - 28 - rounds_height(scene, any.h));
    const LoafSlice& first = loaf.slices.front();
    double right = 0;
    for (const LoafBlock& b : first.blocks) right = std::max(right, b.right);
    if (!loaf.all_ranks && scale.w * static_cast<float>(right - left_of(first)) < kThinSlice
        && room.h > 3 * kThumbRow)
        return draw_one_large(ui, room, scene, loaf, picked, shade);
    frame_nodes(ui, scene, loaf, boxes);
    draw_wires(ui, scene.plan.cluster, loaf, boxes, axes);
    for (std::size_t i = 0; i < boxes.box.size(); ++i)
        draw_box(ui, boxes.box[i], scene, loaf, i, scale, shade[i]);
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

// Returns "GPU 0 holds 27.7 GiB: 10.4 GiB of state, 15.2 GiB of activations, 2.1 GiB of buffers."; in a
// lesson the state is the crust.
std::string holds_words(const LoafSlice& s, bool in_lesson) {
    const double crust = s.crust(), bread = s.bytes_of(LoafPart::bread);
    return "GPU " + thousands(s.rank) + " holds " + memory_text(s.total) + ": " + memory_text(crust)
           + (in_lesson ? " of crust (the state), " : " of state, ") + memory_text(bread)
           + (in_lesson ? " of bread (the work), " : " of activations, ")
           + memory_text(std::max(0.0, s.total - crust - bread)) + " of buffers.";
}

std::string waits_words(const MapRow& r) {
    if (r.exposed_s >= 0.95 * r.time_s) return "all waited for";
    if (r.exposed_s <= 0.05 * r.time_s) return "hidden";
    return percent(r.exposed_s / r.time_s) + " waited for";
}

std::string price_name(const Scene& scene, const MapRow& r) {
    return axis_label(r.kind) + (r.degree > scene.evaluation.groups[r.kind].degree ? " × cp " : " ")
           + thousands(r.degree);
}

// Names, wires and what waits are as wide as their words, so that in a narrow room what is said has the rest.
struct PriceColumns {
    float name = 0, wire = 0, waits = 0;
};
PriceColumns price_columns(Ui& ui, const Scene& scene, const std::vector<MapRow>& rows,
                           const TextStyle& bold) {
    constexpr float kApart = 12;
    PriceColumns out;
    const auto widen = [&](float& column, const std::string& words, const TextStyle& style) {
        column = std::max(column, std::ceil(ui.canvas().text_width(words, style)) + kApart);
    };
    for (const MapRow& r : rows) {
        widen(out.name, price_name(scene, r), bold);
        widen(out.wire, tier_label(scene.plan.cluster, r.tier), ui.small());
        widen(out.waits, waits_words(r), ui.small());
    }
    return out;
}

void draw_prices(Ui& ui, Rect room, const Scene& scene, const std::vector<MapRow>& rows) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(18), "WHAT THE CUTS SEND", "per GPU and step");
    constexpr float kWireSample = 34, kFigure = 60, kBeforeWaits = 12;
    const TextStyle bold = ui.style(12, Tone::text, Face::semibold);
    const PriceColumns columns = price_columns(ui, scene, rows, bold);
    const float figures =
        kWireSample + columns.name + columns.wire + 2 * kFigure + kBeforeWaits + columns.waits;
    for (const MapRow& r : rows) {
        if (room.h < kPriceRow) return;
        Rect row = room.cut_top(kPriceRow);
        const Color color = color_of(ui.theme(), r.kind);
        const TierMark mark = mark_of_tier(ui.theme(), scene.plan.cluster, r.tier);
        names_axis(ui, r.kind, {row.x, row.y, kWireSample + columns.name, row.h});
        // Words that are too long for the row stand in a shorter form, and are left out rather than cut.
        const bool all = figures <= row.w;  // else there are name, bytes and time
        const std::array wordings{r.often + ", " + r.talk, r.talk, r.often};
        const std::string says(wording(ui, row.w - figures, wordings, ui.small()));
        Rect sample = row.cut_left(kWireSample);
        c.line({sample.x, sample.center().y}, {sample.x + 26, sample.center().y}, color, 3, mark.dash);
        if (!all) {
            text_row(ui, row,
                     {{price_name(scene, r), share(), bold},
                      {traffic_text(r.sent_bytes), px(kFigure), bold, Align::right},
                      {time_text(r.time_s), px(kFigure), ui.style(12), Align::right}});
            continue;
        }
        text_row(ui, row,
                 {{price_name(scene, r), px(columns.name), bold},
                  {tier_label(scene.plan.cluster, r.tier), px(columns.wire), ui.small()},
                  {says, share(), ui.small()},
                  {traffic_text(r.sent_bytes), px(kFigure), bold, Align::right},
                  {time_text(r.time_s), px(kFigure), ui.style(12), Align::right},
                  space(kBeforeWaits),
                  {waits_words(r), px(columns.waits), ui.small()}});
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
    if (loaf.group == GroupKind::pp && scene.evaluation.groups[GroupKind::pp].degree > 1)
        return draw_stages(ui, room, scene, loaf, state.stages, revision, rank);
    const LoafSlice& first = loaf.slices.front();
    // While a question is open the uncut loaf stands without its figures (HiddenAnswer::of_other_plans).
    const bool bare = scene.asked && scene.evaluation.mesh.world == 1;
    if (!bare) put_paragraph(ui, room, holds_words(first, scene.in_lesson), ui.title(), 18, 0);
    // In a lesson the loaf itself is the picture.
    constexpr float kBar = 30;
    if (!scene.in_lesson && !bare && room.h > 200) {
        room.cut_top(4);
        draw_gpu_bar(ui, room.cut_top(kBar),
                     scene.evaluation.memory.stage[static_cast<std::size_t>(first.stage)],
                     scene.plan.cluster.gpu.hbm_bytes);
        room.cut_top(8);
    }
    if (room.h > 260) {
        const GroupKind axis = loaf.group;
        std::string words = copied_words(loaf);
        if (!words.empty()) words = " " + words + "; dashed: what other GPUs hold.";
        for (const Axis a : all_of<Axis>())
            if (group_of(a) == axis && scene.evaluation.groups[axis].degree > 1)
                words =
                    std::string(sentence_of(a)) + words
                    + (scene.in_lesson ? " Bread wears the colour of the axis that cut it, a shade a rank."
                                       : " Activations wear the colour of the axis that cut them, a shade "
                                         "a rank.");
        put_paragraph(ui, room, words, ui.style(12, Tone::secondary), 17, 4);
    }
    if (room.h > 240 && !rows.empty() && !scene.asked) {  // they may be the answer
        const float h = std::min(18 + kPriceRow * static_cast<float>(rows.size()), room.h * 0.35f);
        draw_prices(ui, room.cut_bottom(h), scene, rows);
        room.cut_bottom(6);
    }
    std::optional<PlanEdit> edit;
    // A single GPU holds the whole: it stands once.
    if (scene.evaluation.mesh.world == 1 && loaf.whole_known)
        return draw_whole(ui, room, scene, loaf, {.only_one = true});
    if (room.w > 560 && room.h > 150) {
        edit = draw_whole(ui, room.cut_left(std::clamp(room.w * 0.34f, 190.0f, 420.0f)), scene, loaf, {});
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
