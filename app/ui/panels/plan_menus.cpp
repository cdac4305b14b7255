// Draws the plan panel's menus: presets of models and clusters, schedules and orders.
#include "app/ui/panels/plan_blocks.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/panels/preset_menu.h"
#include "core/evaluate.h"
#include "core/plan/changes.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"

namespace pentamesh::ui {

namespace {

// Draws a menu of entries; makes an edit from the one picked.
template <typename Make>
MaybeEdit pick(Ui& ui, PlanPanelState& state, const std::vector<MenuItem>& items, bool filter, Make&& make) {
    const MenuResult r = draw_menu(ui, "menu." + state.menu, state.menu_anchor, items, state.menu_state,
                                   filter, state.menu_anchor.w);
    MaybeEdit edit;
    if (r.picked >= 0) edit = make(static_cast<std::size_t>(r.picked));
    if (r.picked >= 0 || r.closed) state.menu.clear();
    return edit;
}

// Lists the presets, then the sheet of all fields, then one's own presets where there are any.
template <typename Make>
MaybeEdit pick_preset(Ui& ui, const Scene& scene, PlanPanelState& state, PresetKind kind, FieldTopic section,
                      std::string_view current, Make&& make) {
    PresetMenu menu = preset_menu(scene.presets, kind, current);
    menu.items.push_back({.label = "Edit the " + std::string(word_of(kind)) + "…",
                          .right = "by hand",
                          .separator = true,
                          .stays = true});
    const std::size_t sheet = menu.entry.size(), added = sheet + 1;
    const bool can_add = kind == PresetKind::model;
    if (can_add) menu.items.push_back({.label = "New model…", .right = "by hand", .stays = true});
    if (has_own_presets(scene.presets))
        menu.items.push_back({.label = "Presets of your own…", .stays = true});
    return pick(ui, state, menu.items, true, [&](std::size_t i) -> MaybeEdit {
        if (i == sheet || (can_add && i == added)) state.wants_editor = section;
        if (can_add && i == added) return new_model_edit(scene.plan);
        if (i > sheet) state.wants_presets = true;
        if (!menu.is_preset(i)) return std::nullopt;
        return PlanEdit{make(menu.entry[i]->id), menu.entry[i]->name, "", kind == PresetKind::model};
    });
}

}  // namespace

PlanEdit new_model_edit(const Plan& plan) {
    Plan p = with_model(plan, plain_model(), "");
    if (!evaluate(p).valid) p = with_plain_layout(p);  // the old model's layout is no place to begin
    return {std::move(p), "a new model", "", true};
}

namespace {

MaybeEdit model_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    return pick_preset(
        ui, scene, state, PresetKind::model, FieldTopic::size, scene.plan.model_source.preset,
        [&](const std::string& id) { return with_model(scene.plan, scene.presets.model(id), id); });
}

MaybeEdit cluster_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    return pick_preset(
        ui, scene, state, PresetKind::cluster, FieldTopic::fabric, scene.plan.cluster_source.preset,
        [&](const std::string& id) { return with_cluster(scene.plan, scene.presets.cluster(id), id); });
}

MaybeEdit schedule_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    const std::vector<ScheduleChoice> choices = schedule_choices();
    std::vector<MenuItem> items;
    for (const ScheduleChoice& c : choices) {
        MenuItem item;
        item.label = with_chunks(c.schedule, c.chunks.chunks);
        item.detail = c.chunks.detail;
        item.checked = c.is_of(scene.plan.layout);
        items.push_back(item);
    }
    return pick(ui, state, items, false, [&](std::size_t i) {
        return PlanEdit{with_schedule(scene.plan, choices[i].schedule, choices[i].chunks.chunks),
                        items[i].label, ""};
    });
}

MaybeEdit cp_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    constexpr int n = static_cast<int>(kNames<CpComm>.size());
    std::vector<MenuItem> items;
    for (int i = 0; i < n; ++i) {
        const auto comm = static_cast<CpComm>(i);
        items.push_back({.label = std::string(words_of(comm).name),
                         .detail = std::string(words_of(comm).how),
                         .checked = scene.plan.layout.cp_comm == comm});
    }
    return pick(ui, state, items, false, [&](std::size_t i) {
        Plan p = scene.plan;
        p.layout.cp_comm = static_cast<CpComm>(i);
        return PlanEdit{std::move(p), "cp by " + std::string(name_of(static_cast<CpComm>(i))), ""};
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
        return PlanEdit{with_order(scene.plan, presets[i].order), "order of " + std::string(presets[i].name),
                        ""};
    });
}

}  // namespace

const CpWords& words_of(CpComm comm) {
    static constexpr std::array<CpWords, kNames<CpComm>.size()> kWords{
        {{"Ring", "keys and values go round, from neighbour to neighbour"},
         {"All-gather", "every rank gets all keys and values"},
         {"Ulysses", "an all-to-all turns tokens into heads, and back"},
         {"Ulysses + ring", "Ulysses inside groups of cp_inner ranks, a ring between them"}}};
    return kWords[static_cast<std::size_t>(comm)];
}

std::optional<PlanEdit> draw_plan_menus(Ui& ui, Scene& scene, PlanPanelState& state) {
    if (state.menu == "model") return model_menu(ui, scene, state);
    if (state.menu == "cluster") return cluster_menu(ui, scene, state);
    if (state.menu == "schedule") return schedule_menu(ui, scene, state);
    if (state.menu == "cp") return cp_menu(ui, scene, state);
    if (state.menu == "order") return order_menu(ui, scene, state);
    return draw_plan_popover(ui, scene, state);
}

}  // namespace pentamesh::ui
