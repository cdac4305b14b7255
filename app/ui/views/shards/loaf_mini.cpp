#include "app/ui/views/shards/loaf_solid.h"

#include "core/base/error.h"
#include "core/io/plan_json.h"

#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

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
