// The plan, to be changed: model, cluster, a row per axis, the order's chips, modifiers.
#include "app/ui/panels/plan_panel.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/glossary_card.h"
#include "core/mesh/layout_name.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr std::uint64_t kPanelTerms = 100;  // tells the panel's terms from the views'

using MaybeEdit = std::optional<PlanEdit>;

constexpr std::array<Axis, kAxisCount> kRows{Axis::tp,       Axis::cp,           Axis::ep,
                                             Axis::dp_shard, Axis::dp_replicate, Axis::pp};

std::string_view long_name(Axis a) {
    switch (a) {
    case Axis::tp: return "tensor";
    case Axis::cp: return "context";
    case Axis::ep: return "expert";
    case Axis::pp: return "pipeline";
    case Axis::dp_shard:
    case Axis::dp_replicate: return "";
    }
    return "";
}

GroupKind kind_of(Axis a) {
    switch (a) {
    case Axis::tp: return GroupKind::tp;
    case Axis::cp: return GroupKind::cp;
    case Axis::ep: return GroupKind::ep;
    case Axis::dp_shard: return GroupKind::dp_shard;
    case Axis::dp_replicate: return GroupKind::dp_replicate;
    case Axis::pp: return GroupKind::pp;
    }
    return GroupKind::tp;
}

std::int64_t resolved(const Plan& p, Axis a) {
    if (a != Axis::dp_replicate || p.layout.dp_replicate) return factor_of(p.layout, a);
    const std::int64_t dp = data_parallel(p);
    return dp > 0 ? dp / p.layout.dp_shard : 1;
}

PlanEdit factor_edit(const Plan& p, Axis a, std::int64_t f, bool keep_gpus) {
    return {with_factor(p, a, f, keep_gpus), std::string(name_of(a)) + " " + thousands(f), ""};
}

// A number that is typed in place of a stepper's value. Returns it once Enter was pressed.
std::optional<std::int64_t> typed_number(Ui& ui, std::string_view key, Rect r, PlanPanelState& state) {
    const bool fresh = state.edit_fresh;
    state.edit_fresh = false;
    const bool entered = ui.text_field("edit." + std::string(key), r, state.edit_text, "", fresh);
    std::optional<std::int64_t> value;
    if (entered) value = parse_count(state.edit_text);
    const bool left = !fresh && ui.state().edit == 0 && !entered;
    if (entered || left || pressed({Key::escape})) state.editing.clear();
    return value;
}

void start_editing(PlanPanelState& state, std::string_view key, std::int64_t value) {
    state.editing = key;
    state.edit_text = std::to_string(value);
    state.edit_fresh = true;
}

void open_menu(PlanPanelState& state, std::string_view name, Rect anchor) {
    state.menu = name;
    state.menu_anchor = anchor;
    state.menu_state = {};
}

// ---- model and cluster --------------------------------------------------------------------------------

void model_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    ui.section(room.cut_top(18), "MODEL");
    room.cut_top(6);
    const Rect box = room.cut_top(32);
    if (ui.dropdown("plan.model", box, scene.plan.model.name.empty() ? "unnamed" : scene.plan.model.name))
        open_menu(state, "model", box);
    room.cut_top(4);
    const Model& m = scene.plan.model;
    const ParameterCounts& n = scene.evaluation.parameters;
    std::string text = count_text(static_cast<double>(n.total)) + " parameters";
    if (n.active != n.total) text += ", " + count_text(static_cast<double>(n.active)) + " active";
    text += " · " + plural(m.layers, "layer", "layers") + " · hidden " + thousands(m.hidden) + " · "
            + plural(m.heads, "head", "heads");
    if (m.attention == AttentionKind::mla)
        text += ", latent kv";
    else if (m.kv_heads != m.heads)
        text += ", " + thousands(m.kv_heads) + " kv";
    if (m.moe) text += " · " + thousands(m.moe->experts) + " experts, top " + thousands(m.moe->top_k);
    room.cut_top(ui.canvas().paragraph(room, text, ui.small(), 18) + 12);
}

MaybeEdit cluster_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    ui.section(room.cut_top(18), "CLUSTER", "GPUS");
    room.cut_top(6);
    Rect row = room.cut_top(32);
    const Rect count = row.cut_right(96);
    row.cut_right(8);
    if (ui.dropdown("plan.cluster", row, scene.plan.cluster.name)) open_menu(state, "cluster", row);
    const std::int64_t gpus = scene.plan.cluster.gpus;
    const auto with_gpus = [&](std::int64_t n) {
        Plan p = scene.plan;
        p.cluster.gpus = n;
        if (!p.cluster.tiers.empty()) p.cluster.tiers.back().domain = n;
        if (!p.cluster_source.preset.empty()
            && std::find(p.cluster_source.overrides.begin(), p.cluster_source.overrides.end(), "/gpus")
                   == p.cluster_source.overrides.end())
            p.cluster_source.overrides.emplace_back("/gpus");
        // What the cluster gains or loses goes to data parallelism where that divides.
        p = with_factor(p, Axis::tp, p.layout.tp, true);
        return PlanEdit{std::move(p), thousands(n) + " GPUs", ""};
    };
    if (state.editing == "gpus") {
        if (const auto n = typed_number(ui, "gpus", count, state)) edit = with_gpus(*n);
    } else {
        const Ui::Step step = ui.stepper("plan.gpus", count, thousands(gpus), gpus > 1, gpus < 1048576, true);
        if (step.edit_requested) start_editing(state, "gpus", gpus);
        if (step.by > 0) edit = with_gpus(std::min<std::int64_t>(1048576, gpus * 2));
        if (step.by < 0) edit = with_gpus(std::max<std::int64_t>(1, gpus / 2));
    }
    room.cut_top(4);
    std::string text;
    for (const Tier& t : scene.plan.cluster.tiers) {
        if (!text.empty()) text += " · ";
        text += t.name + " " + bandwidth_text(t.bytes_per_s);
        if (&t != &scene.plan.cluster.tiers.back()) text += " to " + thousands(t.domain);
        if (t.oversubscription > 1) text += ", 1 : " + trimmed(t.oversubscription);
    }
    room.cut_top(ui.canvas().paragraph(room, text, ui.small(), 18) + 12);
    return edit;
}

// ---- axes ---------------------------------------------------------------------------------------------

MaybeEdit axis_row(Ui& ui, Rect row, Axis axis, Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    const Plan& p = scene.plan;
    const std::int64_t f = resolved(p, axis);
    const bool possible = axis != Axis::ep || p.model.moe.has_value();
    const bool on = f > 1;
    const std::string name(name_of(axis));
    Canvas& c = ui.canvas();

    Rect badge = row.cut_right(76);
    row.cut_right(6);
    Rect step_box = row.cut_right(70);
    row.cut_right(4);
    const Hit toggle = ui.area("layout." + name + ".toggle", row, 0, possible);
    const GroupKind kind = kind_of(axis);
    Color color = color_of(ui.theme(), kind);
    if (!on) color = color.alpha(0.45f);
    if (scene.selection.group == kind && on) c.rect({row.x - 8, row.y + 5, 2, row.h - 10}, color, 1);
    ui.swatch({row.x, row.center().y - 6}, color, 12);
    Rect text = row;
    text.cut_left(22);
    TextStyle label = on ? ui.title() : ui.style();
    if (!on) label.color = ui.theme().secondary.alpha(toggle.hovered ? 1.0f : 0.75f);
    text.cut_left(c.text_width(name, label) + 6);
    c.text_in({row.x + 22, row.y, row.w - 22, row.h}, name, label);
    TextStyle sub = ui.style(12, Tone::secondary);
    if (!on) sub.color = sub.color.alpha(0.6f);
    if (text.w > 30) c.text_in(text, long_name(axis), sub);
    if (toggle.focused) ui.focus_ring(row, 4);
    if (toggle.hovered)
        ui.tooltip(on ? name + "\nclick to switch off; the GPUs go to data parallelism"
                      : name + "\nclick to switch on");
    if (toggle.clicked) {
        const std::int64_t to = on ? 1 : factor_when_on(p, axis);
        if (to != f) edit = factor_edit(p, axis, to, !ui.frame().shift);
        if (to > 1) scene.selection.choose(kind);
    }

    if (state.editing == name) {
        if (const auto n = typed_number(ui, name, step_box, state))
            edit = factor_edit(p, axis, *n, !ui.frame().shift);
    } else {
        const auto legal = possible ? legal_factors(p, axis) : std::vector<std::int64_t>{1};
        const auto above = std::upper_bound(legal.begin(), legal.end(), f);
        const auto below = std::lower_bound(legal.begin(), legal.end(), f);
        const Ui::Step step = ui.stepper("layout." + name, step_box, thousands(f), below != legal.begin(),
                                         above != legal.end(), on);
        if (step.edit_requested && possible) start_editing(state, name, f);
        if (step.by > 0 && above != legal.end()) edit = factor_edit(p, axis, *above, !ui.frame().shift);
        if (step.by < 0 && below != legal.begin())
            edit = factor_edit(p, axis, *(below - 1), !ui.frame().shift);
    }

    const GroupSummary& g = scene.evaluation.groups[static_cast<std::size_t>(kind)];
    const Hit pick = ui.area("layout." + name + ".badge", badge, 0, on, false);
    if (on && g.degree > 1 && scene.evaluation.valid) {
        const TierMark mark = mark_of_tier(ui.theme(), p.cluster, g.slowest_tier);
        ui.badge(badge.inset(0, 3), tier_label(p.cluster, g.slowest_tier), mark.color, mark.dash);
        if (pick.hovered) {
            std::string t = name + ": " + plural(g.groups, "group", "groups") + " of " + thousands(g.degree);
            for (std::size_t i = 0; i < p.cluster.tiers.size(); ++i)
                if (g.by_tier[i] > 0)
                    t += "\n" + thousands(g.by_tier[i]) + (i == 0 ? " inside " : " across ")
                         + p.cluster.tiers[i].name;
            ui.tooltip(t);
        }
        if (pick.clicked) scene.selection.choose(kind);
    } else {
        ui.badge_off(badge.inset(0, 3), on ? "—" : possible ? "off" : "dense");
    }
    return edit;
}

void product_line(Ui& ui, Rect row, const Plan& p) {
    Canvas& c = ui.canvas();
    std::string text;
    for (const std::int64_t f :
         {p.layout.tp, p.layout.cp, p.layout.dp_shard, resolved(p, Axis::dp_replicate), p.layout.pp})
        text += (text.empty() ? "" : "·") + std::to_string(f);
    const std::int64_t dp = data_parallel(p);
    const __int128 product =
        static_cast<__int128>(p.layout.tp) * p.layout.cp * p.layout.pp * std::max<std::int64_t>(dp, 0);
    const bool all = product == p.cluster.gpus;
    const float w = c.text(row.min() + Vec2{0, 2}, text + " = ", ui.mono(Tone::secondary));
    const std::string total =
        dp > 0 && product < (__int128{1} << 60) ? thousands(static_cast<std::int64_t>(product)) : "?";
    const float w2 = c.text(row.min() + Vec2{w, 2}, total + " ", ui.mono());
    TextStyle verdict = ui.mono();
    verdict.color = all ? ui.theme().good : ui.theme().bad;
    c.text_in({row.x + w + w2, row.y, row.w - w - w2, 18},
              all ? "all GPUs" : (product > p.cluster.gpus ? "too many" : "not all GPUs"), verdict);
}

// What the field calls this layout; the reason on hover.
void name_line(Ui& ui, Rect& room, const Scene& scene) {
    const LayoutName name = layout_name(scene.plan, scene.evaluation.mesh);
    if (name.name.empty()) return;
    const Rect row = room.cut_top(20);
    ui.canvas().text_in(row, name.name, ui.style(12));
    if (ui.hovers(row)) ui.tooltip(name.name + "\n" + name.reason);
}

// ---- order --------------------------------------------------------------------------------------------

MaybeEdit order_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    Rect head = room.cut_top(18);
    ui.section(head, "ORDER, INNER TO OUTER");
    const Rect preset = head.cut_right(124);
    const std::string_view current = order_name(scene.plan.layout.order);
    const Hit pick = ui.area("order.preset", preset);
    TextStyle s = ui.style(11, pick.hovered ? Tone::text : Tone::secondary);
    ui.canvas().text_in(preset, current, s, Align::right);
    if (pick.focused) ui.focus_ring(preset, 3);
    if (pick.clicked) open_menu(state, "order", preset);
    room.cut_top(6);

    // Chips flow over two or three rows; the one that is dragged follows the mouse and takes the place under
    // it.
    const auto& order = scene.plan.layout.order;
    std::array<Rect, kAxisCount> chip{};
    float x = room.x, y = room.y;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const float w = ui.canvas().text_width(name_of(order[i]), ui.style(12)) + 34;
        if (x + w > room.right() && x > room.x) x = room.x, y += 30;
        chip[i] = {x, y, w, 24};
        x += w + 6;
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Axis a = order[i];
        const bool on = resolved(scene.plan, a) > 1;
        const Hit hit = ui.area("order." + std::string(name_of(a)), chip[i]);
        Rect r = chip[i];
        if (hit.held
            && (std::abs(hit.drag.x) + std::abs(hit.drag.y) > 4
                || state.dragged_chip == static_cast<int>(a))) {
            state.dragged_chip = static_cast<int>(a);
            for (std::size_t j = 0; j < order.size(); ++j) {
                if (j == i || !chip[j].contains(ui.frame().mouse)) continue;
                Plan p = scene.plan;
                auto& o = p.layout.order;
                if (i < j)
                    std::rotate(o.begin() + static_cast<std::ptrdiff_t>(i),
                                o.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                o.begin() + static_cast<std::ptrdiff_t>(j) + 1);
                else
                    std::rotate(o.begin() + static_cast<std::ptrdiff_t>(j),
                                o.begin() + static_cast<std::ptrdiff_t>(i),
                                o.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                edit = PlanEdit{std::move(p), "order", "order-drag"};
            }
        } else if (state.dragged_chip == static_cast<int>(a) && !ui.frame().down[0]) {
            state.dragged_chip = -1;
        }
        if (hit.focused && (ui.frame().ctrl || ui.frame().alt)) {
            const int by = pressed({.key = Key::right, .ctrl = ui.frame().ctrl, .alt = ui.frame().alt})  ? 1
                           : pressed({.key = Key::left, .ctrl = ui.frame().ctrl, .alt = ui.frame().alt}) ? -1
                                                                                                         : 0;
            const auto j = static_cast<std::ptrdiff_t>(i) + by;
            if (by != 0 && j >= 0 && j < kAxisCount) {
                Plan p = scene.plan;
                std::swap(p.layout.order[i], p.layout.order[static_cast<std::size_t>(j)]);
                edit = PlanEdit{std::move(p), "order", ""};
            }
        }
        const bool dragged = state.dragged_chip == static_cast<int>(a);
        if (dragged) r.y -= 2;
        Canvas& c = ui.canvas();
        c.rect(r, dragged || hit.hovered ? ui.theme().hairline : ui.theme().raised.alpha(on ? 1.0f : 0.45f),
               6);
        c.frame(r, dragged ? ui.theme().text : ui.theme().hairline.alpha(on ? 1.0f : 0.6f), 1, 6);
        const Color swatch = color_of(ui.theme(), kind_of(a));
        ui.swatch({r.x + 8, r.center().y - 4}, on ? swatch : swatch.alpha(0.45f), 8);
        TextStyle label = ui.style(12, on ? Tone::text : Tone::faint);
        c.text_in({r.x + 22, r.y, r.w - 24, r.h}, name_of(a), label);
        if (hit.focused) ui.focus_ring(r, 6);
        if (hit.hovered && !hit.held)
            ui.tooltip(std::string(name_of(a)) + "\ndrag to another place; Alt + arrows move it");
    }
    room.cut_top(y - room.y + 24 + 16);
    return edit;
}

// ---- modifiers ----------------------------------------------------------------------------------------

// One labelled row; returns the room of its control.
// `id`: the label's entry in the glossary.
Rect modifier_row(Ui& ui, Rect& room, std::string_view label, std::string_view id) {
    Rect row = room.cut_top(28);
    room.cut_top(4);
    term(ui, row.cut_left(88).inset(0, 3), id, label, ui.style(13, Tone::secondary), kPanelTerms);
    return row.inset(0, 2);
}

template <typename Set>
MaybeEdit changed(const Scene& scene, std::string what, Set&& set) {
    Plan p = scene.plan;
    set(p);
    return PlanEdit{std::move(p), std::move(what), ""};
}

MaybeEdit modifiers_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    const Layout& l = scene.plan.layout;
    const Training& t = scene.plan.training;
    ui.section(room.cut_top(18), "MODIFIERS");
    room.cut_top(6);
    static constexpr std::string_view kOffOn[] = {"off", "on"};
    static constexpr std::string_view kZero[] = {"0", "1", "2", "3"};
    static constexpr std::string_view kRecompute[] = {"none", "selective", "full"};
    static constexpr std::string_view kCp[] = {"ring", "gather", "Ulysses"};

    const int sp = ui.segments("mod.sp", modifier_row(ui, room, "Sequence p.", "sp"), kOffOn,
                               l.sequence_parallel ? 1 : 0);
    if ((sp == 1) != l.sequence_parallel)
        edit = changed(scene, sp == 1 ? "sequence parallel on" : "sequence parallel off",
                       [&](Plan& p) { p.layout.sequence_parallel = sp == 1; });
    const int zero = ui.segments("mod.zero", modifier_row(ui, room, "ZeRO", "zero-1"), kZero, l.zero);
    if (zero != l.zero)
        edit = changed(scene, "ZeRO-" + std::to_string(zero), [&](Plan& p) { p.layout.zero = zero; });
    if (l.cp > 1) {
        const int cp =
            ui.segments("mod.cp", modifier_row(ui, room, "CP by", "cp"), kCp, static_cast<int>(l.cp_comm));
        if (cp != static_cast<int>(l.cp_comm))
            edit = changed(scene, "cp by " + std::string(kCp[cp]),
                           [&](Plan& p) { p.layout.cp_comm = static_cast<CpComm>(cp); });
    }
    {
        const Rect box = modifier_row(ui, room, "Schedule", "schedule");
        std::string label(name_of(l.schedule));
        if (l.virtual_stages > 1) label += ", " + std::to_string(l.virtual_stages) + " chunks";
        if (l.pp == 1) label = "none (pp 1)";
        if (ui.dropdown("mod.schedule", box, label)) open_menu(state, "schedule", box);
    }
    const int rec = ui.segments("mod.recompute", modifier_row(ui, room, "Recompute", "recompute"), kRecompute,
                                static_cast<int>(t.recompute));
    if (rec != static_cast<int>(t.recompute))
        edit = changed(scene, "recompute " + std::string(kRecompute[rec]),
                       [&](Plan& p) { p.training.recompute = static_cast<Recompute>(rec); });
    {
        const Rect box = modifier_row(ui, room, "Batch", "batch");
        const std::int64_t s = t.sequence_length;
        const std::string seq = s % 1024 == 0 ? std::to_string(s / 1024) + "K" : thousands(s);
        const std::string right =
            scene.evaluation.microbatches > 0 ? thousands(scene.evaluation.microbatches) + " micro" : "";
        if (ui.dropdown("mod.batch", box, thousands(t.global_batch) + " × " + seq, right))
            open_menu(state, "batch", box);
    }
    {
        const Rect box = modifier_row(ui, room, "Precision", "precision");
        std::string label(name_of(t.compute));
        label += ", grads " + std::string(name_of(t.gradients));
        if (ui.dropdown("mod.precision", box, label)) open_menu(state, "precision", box);
    }
    return edit;
}

}  // namespace

std::optional<PlanEdit> draw_plan_panel(Ui& ui, Rect panel, Scene& scene, PlanPanelState& state) {
    ui.canvas().push_clip(panel);
    Rect room = panel.inset(16, 14);
    room.y -= state.scroll;
    room.h = 4000;
    MaybeEdit edit;
    const auto keep = [&](MaybeEdit e) {
        if (e && !edit) edit = std::move(e);
    };
    const float top = room.y;
    model_block(ui, room, scene, state);
    keep(cluster_block(ui, room, scene, state));
    ui.section(room.cut_top(18), "LAYOUT", "FACTOR, SLOWEST LINK");
    room.cut_top(4);
    for (const Axis axis : kRows) {
        keep(axis_row(ui, room.cut_top(26), axis, scene, state));
        room.cut_top(4);
    }
    product_line(ui, room.cut_top(22), scene.plan);
    name_line(ui, room, scene);
    room.cut_top(10);
    keep(order_block(ui, room, scene, state));
    keep(modifiers_block(ui, room, scene, state));
    const float content = room.y - top + 28;
    const float most = std::max(0.0f, content - panel.h);
    // The wheel scrolls where no stepper took it.
    bool over_stepper = false;
    for (const Axis axis : kRows)
        if (const auto r = ui.state().rect_of("layout." + std::string(name_of(axis))))
            over_stepper = over_stepper || r->inset(-20, 0).contains(ui.frame().mouse);
    if (ui.hovers(panel) && !over_stepper) state.scroll -= ui.frame().wheel * 40;
    state.scroll = std::clamp(state.scroll, 0.0f, most);
    if (most > 0) {
        const float h = panel.h * panel.h / content;
        ui.canvas().rect({panel.right() - 4, panel.y + (panel.h - h) * state.scroll / most, 3, h},
                         ui.theme().hairline, 1.5f);
    }
    ui.canvas().pop_clip();
    return edit;
}

}  // namespace pentamesh::ui
