#include "app/ui/views/shards/loaf_solid.h"
#include "core/base/error.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

// The length goes to the right and up.
constexpr float kAcross = 0.80f, kUp = 0.36f;
constexpr Color kLight = rgb(0xffffff), kShadow = rgb(0x101018);  // on tops and on sides
constexpr float kLeastEdge = 1.5f;  // a block that is thinner is drawn as thin as this

int lines_for(std::int64_t layers) {
    // At most eight slabs, each of a whole number of layers.
    for (int n = static_cast<int>(std::min<std::int64_t>(layers, 8)); n > 1; --n)
        if (layers % n == 0) return n;
    return 1;
}

Color color_of_part(const Theme& theme, LoafPart part, const LoafLook& look) {
    switch (part) {
    case LoafPart::optimizer: return theme.memory[2];
    case LoafPart::gradients: return theme.memory[1];
    case LoafPart::parameters: return theme.memory[0];
    case LoafPart::bread: break;
    }
    return look.bread;
}

struct Box {
    double left, right, top, bottom;
    float from, to;
};

Box box_of(const LoafPlace& place, const LoafBlock& b, float from) {
    Box out{b.left, b.right, b.top, b.bottom, from, from + length_of(place.scale, b)};
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

// Lines between layers on the front and the side, between experts on the front, between samples on the top
// and the side.
void grooves(Canvas& c, const LoafPlace& place, const Box& b, const LoafBlock& block, const LoafLook& look,
             Color ink) {
    const int slabs = lines_for(look.layers);
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
    const Box b = box_of(place, block, from);
    const Color base = color_of_part(theme, block.part, look);
    const bool copied = block.copies > 1;
    const Color face = copied ? mix(theme.window, base, 0.28f) : base;
    const Color edge = mix(base, theme.window, copied ? 0.35f : 0.75f);
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
    grooves(c, place, b, block, look, edge);
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

Vec2 LoafPlace::point(double across, double upright, float length) const {
    return {at.x + static_cast<float>(across) * scale.w + kAcross * length,
            at.y - scale.h + static_cast<float>(upright) * scale.h - kUp * length};
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
    return scale.w * static_cast<float>(right - left_of(slice)) + kAcross * starts_of(scale, slice).back();
}

LoafScale scale_for(std::span<const LoafSlice> slices, float width, float height) {
    LoafScale out{1, 1, 1};
    float longest = 0;
    for (const LoafSlice& s : slices) longest = std::max(longest, starts_of(out, s).back());
    const float length = std::max(1.0f, std::min(0.5f * width / kAcross, 0.42f * height / kUp));
    out.per_byte = longest > 0 ? length / longest : 0;
    out.w = std::max(4.0f, std::min(width - kAcross * length, 1.1f * height));
    out.h = std::max(4.0f, std::min(height - kUp * length, 1.5f * out.w));
    return out;
}

LoafPlace place_in(Rect room, const LoafScale& scale, std::span<const LoafSlice> slices) {
    float longest = 0;
    for (const LoafSlice& s : slices) longest = std::max(longest, starts_of(scale, s).back());
    const float width = scale.w + kAcross * longest, height = scale.h + kUp * longest;
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

}  // namespace pentamesh::ui
