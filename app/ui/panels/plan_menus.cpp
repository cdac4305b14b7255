// The plan panel's menus: presets of models and clusters, schedules, orders, batch and precision.
#include "app/ui/kit/format.h"
#include "app/ui/panels/plan_panel.h"
#include "core/base/error.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

using MaybeEdit = std::optional<PlanEdit>;

// A menu of entries; an edit made from the one picked.
template <typename Make>
MaybeEdit pick(Ui& ui, PlanPanelState& state, const std::vector<MenuItem>& items, bool filter, Make&& make) {
    const MenuResult r = draw_menu(ui, "menu." + state.menu, state.menu_anchor, items, state.menu_state,
                                   filter, state.menu_anchor.w);
    MaybeEdit edit;
    if (r.picked >= 0) edit = make(static_cast<std::size_t>(r.picked));
    if (r.picked >= 0 || r.closed) state.menu.clear();
    return edit;
}

MaybeEdit model_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    const auto& entries = scene.presets.list(PresetKind::model);
    std::vector<MenuItem> items;
    for (const auto& e : entries)
        items.push_back({.label = e.name, .right = e.id, .checked = e.id == scene.plan.model_source.preset});
    return pick(ui, state, items, true, [&](std::size_t i) {
        Plan p = scene.plan;
        p.model = scene.presets.model(entries[i].id);
        p.model_source = {entries[i].id, {}};
        p.layout.stage_layers.clear();
        if (!p.model.moe) {
            p.layout.ep = 1;
            p.layout.etp.reset();
        }
        return PlanEdit{std::move(p), entries[i].name, ""};
    });
}

MaybeEdit cluster_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    const auto& entries = scene.presets.list(PresetKind::cluster);
    std::vector<MenuItem> items;
    for (const auto& e : entries)
        items.push_back(
            {.label = e.name, .right = e.id, .checked = e.id == scene.plan.cluster_source.preset});
    return pick(ui, state, items, true, [&](std::size_t i) {
        Plan p = scene.plan;
        const std::int64_t gpus = p.cluster.gpus;
        p.cluster = scene.presets.cluster(entries[i].id);
        p.cluster.gpus = gpus;  // another fabric under the same GPUs
        if (!p.cluster.tiers.empty()) p.cluster.tiers.back().domain = gpus;
        p.cluster_source = {entries[i].id, {"/gpus"}};
        return PlanEdit{std::move(p), entries[i].name, ""};
    });
}

MaybeEdit schedule_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    struct Choice {
        Schedule schedule;
        std::int64_t chunks;
    };
    std::vector<MenuItem> items;
    std::vector<Choice> shown;
    for (int s = 0; s < kScheduleCount; ++s) {
        const auto schedule = static_cast<Schedule>(s);
        for (const ChunkChoice& c : traits_of(schedule).choices) {
            MenuItem item;
            item.label = std::string(name_of(schedule))
                         + (c.chunks > 1 ? ", " + std::to_string(c.chunks) + " chunks" : "");
            item.detail = c.detail;
            item.checked =
                scene.plan.layout.schedule == schedule && scene.plan.layout.virtual_stages == c.chunks;
            items.push_back(item);
            shown.push_back({schedule, c.chunks});
        }
    }
    return pick(ui, state, items, false, [&](std::size_t i) {
        Plan p = scene.plan;
        p.layout.schedule = shown[i].schedule;
        if (p.layout.virtual_stages != shown[i].chunks) p.layout.stage_layers.clear();
        p.layout.virtual_stages = shown[i].chunks;
        p.layout.microbatch_group.reset();
        return PlanEdit{std::move(p), items[i].label, ""};
    });
}

MaybeEdit order_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    const auto presets = order_presets();
    std::vector<MenuItem> items;
    for (const OrderPreset& o : presets) {
        MenuItem item;
        item.label = std::string(o.name);
        for (const Axis a : o.order)
            item.detail += (item.detail.empty() ? "" : " · ") + std::string(name_of(a));
        item.checked = o.order == scene.plan.layout.order;
        items.push_back(item);
    }
    return pick(ui, state, items, false, [&](std::size_t i) {
        Plan p = scene.plan;
        p.layout.order = presets[i].order;
        return PlanEdit{std::move(p), "order of " + std::string(presets[i].name), ""};
    });
}

// ---- popovers with fields -----------------------------------------------------------------------------

// A row "label  [- value +]" in a popover; typed or stepped. Returns the new value.
std::optional<std::int64_t> number_row(Ui& ui, Rect& room, std::string_view label, std::string_view name,
                                       std::int64_t value, std::int64_t down, std::int64_t up,
                                       PlanPanelState& state) {
    Rect row = room.cut_top(28);
    room.cut_top(6);
    const Rect box = row.cut_right(120);
    ui.canvas().text_in(row, label, ui.style(13, Tone::secondary));
    std::optional<std::int64_t> result;
    if (state.editing == name) {
        const bool fresh = state.edit_fresh;
        state.edit_fresh = false;
        if (ui.text_field("edit." + std::string(name), box, state.edit_text, "", fresh)) {
            result = parse_count(state.edit_text);
            state.editing.clear();
        } else if (!fresh && ui.state().edit == 0) {
            state.editing.clear();
        }
        return result;
    }
    const Ui::Step step =
        ui.stepper(name, box, thousands(value), down > 0 && down != value, up > value, true);
    if (step.edit_requested) {
        state.editing = name;
        state.edit_text = std::to_string(value);
        state.edit_fresh = true;
    }
    if (step.by > 0) result = up;
    if (step.by < 0) result = down;
    return result;
}

MaybeEdit batch_popover(Ui& ui, const Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    const Training& t = scene.plan.training;
    const Rect a = state.menu_anchor;
    const float h = 8 * 2 + 34 * 3 + 44;
    const Rect box{a.x - 24, std::min(a.bottom() + 4, ui.frame().size.y - h - 8), a.w + 110, h};
    const auto layer = ui.open_layer("menu.batch", box);
    const bool open = layer.stays();
    Rect room = box.inset(16, 12);
    const auto set = [&](std::string what, auto&& change) {
        Plan p = scene.plan;
        change(p.training);
        edit = PlanEdit{std::move(p), std::move(what), ""};
    };
    if (const auto n =
            number_row(ui, room, "global batch", "batch.global", t.global_batch,
                       t.global_batch % 2 == 0 ? t.global_batch / 2 : 0, t.global_batch * 2, state))
        set("global batch " + thousands(*n), [&](Training& x) { x.global_batch = *n; });
    if (const auto n = number_row(ui, room, "micro-batch", "batch.micro", t.micro_batch,
                                  std::max<std::int64_t>(1, t.micro_batch - 1), t.micro_batch + 1, state))
        set("micro-batch " + thousands(*n), [&](Training& x) { x.micro_batch = *n; });
    if (const auto n =
            number_row(ui, room, "sequence length", "batch.sequence", t.sequence_length,
                       t.sequence_length % 2 == 0 ? t.sequence_length / 2 : 0, t.sequence_length * 2, state))
        set("sequence " + thousands(*n), [&](Training& x) { x.sequence_length = *n; });
    const std::int64_t dp = data_parallel(scene.plan);
    std::string text =
        scene.evaluation.microbatches > 0
            ? thousands(t.global_batch) + " / (" + thousands(t.micro_batch) + " × dp " + thousands(dp)
                  + ") = " + plural(scene.evaluation.microbatches, "micro-batch", "micro-batches")
                  + " a step; " + count_text(static_cast<double>(t.global_batch * t.sequence_length))
                  + " tokens"
            : "does not divide by micro-batch × data-parallel ranks";
    ui.canvas().paragraph(room, text, ui.small(), 18);
    if (!open) state.menu.clear(), state.editing.clear();
    return edit;
}

MaybeEdit precision_popover(Ui& ui, const Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    const Training& t = scene.plan.training;
    const Rect a = state.menu_anchor;
    constexpr float kRowHeight = 34;
    const float h = 24 + kRowHeight * 12 - 6;
    const Rect box{a.x - 60, std::clamp(a.bottom() + 4, 8.0f, std::max(8.0f, ui.frame().size.y - h - 8)), 380,
                   std::min(h, ui.frame().size.y - 16)};
    const auto layer = ui.open_layer("menu.precision", box);
    const bool open = layer.stays();
    Rect room = box.inset(16, 12);
    const auto row = [&](std::string_view label, std::string_view name,
                         std::span<const std::string_view> names, int value, auto&& change) {
        Rect r = room.cut_top(28);
        room.cut_top(kRowHeight - 28);
        ui.canvas().text_in(r.cut_left(112), label, ui.style(13, Tone::secondary));
        const int to = ui.segments(name, r.inset(0, 2), names, value);
        if (to == value) return;
        Plan p = scene.plan;
        change(p.training, to);
        edit = PlanEdit{std::move(p),
                        std::string(label) + " " + std::string(names[static_cast<std::size_t>(to)]), ""};
    };
    static constexpr std::array<std::string_view, 4> kCompute{"bf16", "fp16", "fp8", "fp4"};
    static constexpr std::array<Dtype, 4> kComputeTypes{Dtype::bf16, Dtype::fp16, Dtype::fp8, Dtype::fp4};
    static constexpr std::array<std::string_view, 3> kStore{"fp32", "bf16", "fp8"};
    static constexpr std::array<Dtype, 3> kStoreTypes{Dtype::fp32, Dtype::bf16, Dtype::fp8};
    static constexpr std::array<std::string_view, 2> kOff{"off", "on"};
    const auto at = [](auto& types, Dtype d) {
        const auto it = std::find(types.begin(), types.end(), d);
        return it == types.end() ? -1 : static_cast<int>(it - types.begin());
    };
    row("compute", "prec.compute", kCompute, at(kComputeTypes, t.compute),
        [&](Training& x, int i) { x.compute = kComputeTypes[static_cast<std::size_t>(i)]; });
    row("parameters", "prec.parameters", kStore, at(kStoreTypes, t.parameters),
        [&](Training& x, int i) { x.parameters = kStoreTypes[static_cast<std::size_t>(i)]; });
    row("gradients", "prec.gradients", kStore, at(kStoreTypes, t.gradients),
        [&](Training& x, int i) { x.gradients = kStoreTypes[static_cast<std::size_t>(i)]; });
    row("optimizer", "prec.optimizer", kNames<Optimizer>, static_cast<int>(t.optimizer),
        [](Training& x, int i) { x.optimizer = static_cast<Optimizer>(i); });
    row("its state", "prec.state", kStore, at(kStoreTypes, t.optimizer_state),
        [&](Training& x, int i) { x.optimizer_state = kStoreTypes[static_cast<std::size_t>(i)]; });
    row("master copy", "prec.master", kNames<MasterWeights>, static_cast<int>(t.master_weights),
        [](Training& x, int i) { x.master_weights = static_cast<MasterWeights>(i); });
    row("attention", "prec.attention", kNames<AttentionImpl>, static_cast<int>(t.attention),
        [](Training& x, int i) { x.attention = static_cast<AttentionImpl>(i); });
    row("dropout", "prec.dropout", kOff, t.dropout ? 1 : 0, [](Training& x, int i) { x.dropout = i == 1; });
    row("hide dp", "prec.hide_dp", kOff, t.overlap.dp ? 1 : 0,
        [](Training& x, int i) { x.overlap.dp = i == 1; });
    row("hide cp, pp", "prec.hide_cp", kOff, t.overlap.cp && t.overlap.pp ? 1 : 0,
        [](Training& x, int i) { x.overlap.cp = x.overlap.pp = i == 1; });
    row("hide tp", "prec.hide_tp", kOff, t.overlap.tp ? 1 : 0,
        [](Training& x, int i) { x.overlap.tp = i == 1; });
    row("hide ep", "prec.hide_ep", kOff, t.overlap.ep ? 1 : 0,
        [](Training& x, int i) { x.overlap.ep = i == 1; });
    if (!open) state.menu.clear();
    return edit;
}

}  // namespace

std::optional<PlanEdit> draw_plan_menus(Ui& ui, Scene& scene, PlanPanelState& state) {
    if (state.menu == "model") return model_menu(ui, scene, state);
    if (state.menu == "cluster") return cluster_menu(ui, scene, state);
    if (state.menu == "schedule") return schedule_menu(ui, scene, state);
    if (state.menu == "order") return order_menu(ui, scene, state);
    if (state.menu == "batch") return batch_popover(ui, scene, state);
    if (state.menu == "precision") return precision_popover(ui, scene, state);
    state.menu.clear();
    return std::nullopt;
}

}  // namespace pentamesh::ui
