// Draws the plan, to be changed: model, cluster, a row per axis, the order's chips, modifiers.
#include "app/ui/panels/plan_panel.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/panels/plan_blocks.h"
#include "app/ui/scene/axis_name.h"
#include "core/base/quantity.h"
#include "core/mesh/layout_name.h"
#include "core/plan/changes.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/plan/ranges.h"
#include "core/plan/title.h"
#include "core/teach/axis_sentences.h"
#include "render/reworded.h"

#include <algorithm>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kNarrow = 232;  // a row less wide has smaller controls, so that names are whole
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

}  // namespace

std::int64_t shown_factor(const Plan& plan, Axis axis) {
    return std::max<std::int64_t>(factor_in_force(plan, axis), 1);
}

std::optional<std::int64_t> typed_number(Ui& ui, std::string_view key, std::string_view pointer, Rect box,
                                         PlanPanelState& state) {
    const bool fresh = std::exchange(state.edit_fresh, false);
    const Ui::Typing typing = ui.typed_value("edit." + std::string(key), box, state.edit_text, fresh);
    if (typing == Ui::Typing::goes_on) return std::nullopt;
    state.editing.clear();
    if (typing == Ui::Typing::dropped || state.edit_text == state.edit_before) return std::nullopt;
    const std::optional<FieldRange> range = range_of(pointer);
    const Quantity typed = parse_quantity(state.edit_text, Dimension::count);
    if (typed.value && range && range->allows(*typed.value)) return static_cast<std::int64_t>(*typed.value);
    state.refused = key;
    state.refusal = typed.value && range
                        ? "\"" + state.edit_text + "\" is refused: it must be " + range_text(*range) + "."
                        : typed.refusal + ".";
    return std::nullopt;
}

void start_editing(PlanPanelState& state, std::string_view key, std::int64_t value) {
    state.editing = key;
    state.edit_text = state.edit_before = std::to_string(value);
    state.edit_fresh = true;
    state.refused.clear();
}

void field_message(Ui& ui, Rect& room, std::string_view key, const PlanPanelState& state) {
    if (state.refused != key) return;
    TextStyle bad = ui.small();
    bad.color = ui.theme().bad;
    room.cut_top(2);
    put_paragraph(ui, room, state.refusal, bad, 16, 2);
}

void open_menu(PlanPanelState& state, std::string_view name, Rect anchor) {
    state.menu = name;
    state.menu_anchor = anchor;
    state.menu_state = {};
}

PlanEdit factor_edit(const Plan& p, Axis a, std::int64_t f, bool keep_gpus, bool drags) {
    const std::string name(name_of(a));
    return {.plan = with_factor(p, a, f, keep_gpus),
            .what = name + " " + thousands(f),
            .merge_key = drags ? "drag " + name : "",
            .touched = a};
}

namespace {

// An axis that gave or took GPUs for the last edit says so for a moment, in the place of its factor.
void flash(Ui& ui, Rect step_box, Rect badge, Axis axis, const Scene& scene) {
    const PlanChange* change = scene.change;
    const Motion& motion = ui.state().motion;
    const bool shown = motion.moves() || (ui.state().reduced_motion && motion.has_outlines());
    if (change == nullptr || !shown || !change->changed(axis) || change->touched == axis) return;
    const std::int64_t from = change->before.factor[axis], to = change->now.factor[axis];
    const Color color = color_of(ui.theme(), group_of(axis));
    Canvas& c = ui.canvas();
    c.rect(step_box, color, 4);
    TextStyle style = ui.style(12, Tone::text, Face::semibold);
    style.color = ink_on(color);
    c.text_in(step_box, thousands(from) + " → " + thousands(to), style, Align::center);
    const std::int64_t more = std::max(from, to), less = std::min(from, to);
    if (less < 1 || more % less != 0) return;
    c.rect(badge.inset(0, 3), ui.theme().panel, 9);
    ui.badge_off(badge.inset(0, 3), (to < from ? "gave " : "took ") + thousands(more / less));
}

// ---- model and cluster --------------------------------------------------------------------------------

// Words under a preset. In a low window they are its tooltip: what can be changed comes first.
void draw_details(Ui& ui, Rect& room, Rect box, const std::string& text) {
    if (!is_low(ui))
        put_paragraph(ui, room, text, ui.small(), 18, 8);
    else if (ui.hovers(box))
        ui.tooltip(text);
    if (is_low(ui)) room.cut_top(4);
}

void model_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    put_head(ui, room, 6, "MODEL");
    const Rect box = room.cut_top(28);
    if (ui.dropdown("plan.model", box, scene.plan.model.name.empty() ? "unnamed" : model_name_of(scene.plan)))
        open_menu(state, "model", box);
    room.cut_top(4);
    const Model& m = scene.plan.model;
    const ParameterCounts& n = scene.evaluation.parameters;
    std::string text = count_text(static_cast<double>(n.total)) + " parameters";
    if (n.active != n.total)
        text += ", " + count_text(static_cast<double>(n.active_without_embedding)) + " active ("
                + count_text(static_cast<double>(n.active)) + " with the embedding)";
    text += " · " + plural(m.layers, "layer", "layers") + " · hidden " + thousands(m.hidden) + " · "
            + plural(m.heads, "head", "heads");
    if (m.attention == AttentionKind::mla)
        text += ", latent kv";
    else if (m.kv_heads != m.heads)
        text += ", " + thousands(m.kv_heads) + " kv";
    if (m.moe) text += " · " + thousands(m.moe->experts) + " experts, top " + thousands(m.moe->top_k);
    draw_details(ui, room, box, text);
}

// GPUs that come or go change shards or replicas, as the link next to the product of the factors says.
Plan with_spare(const Plan& plan, std::int64_t gpus, const PlanPanelState& state) {
    return state.spare_replicates ? with_gpus_as_replicas(plan, gpus) : with_gpus(plan, gpus);
}

// Draws "[64] nodes of [8]", where the first tier is not the whole cluster.
MaybeEdit nodes_row(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    const Cluster& cluster = scene.plan.cluster;
    if (cluster.tiers.size() < 2 || cluster.tiers.front().domain < 1) return std::nullopt;
    constexpr std::string_view kGpus = "/cluster/gpus";
    const std::int64_t each = cluster.tiers.front().domain, nodes = divide_up(cluster.gpus, each);
    const auto nodes_to = [&](std::int64_t n) {
        return PlanEdit{with_spare(scene.plan, n * each, state), plural(n, "node", "nodes"), ""};
    };
    const auto each_to = [&](std::int64_t n) -> MaybeEdit {
        Plan to = with_gpus_per_node(scene.plan, n);
        if (to == scene.plan) return std::nullopt;
        return PlanEdit{std::move(to), plural(n, "GPU", "GPUs") + " a node", ""};
    };
    MaybeEdit edit;
    room.cut_top(4);
    Rect row = room.cut_top(24);
    const Rect right = row.cut_right(72), left = row.cut_left(86);
    ui.canvas().text_in(row, "nodes of", ui.small(), Align::center);
    const double most = range_of(kGpus)->most;
    const auto fits = [&](std::int64_t n) {
        return static_cast<double>(n) * static_cast<double>(each) <= most;
    };
    if (state.editing == "nodes") {
        const auto n = typed_number(ui, "nodes", kGpus, left, state);
        if (n && fits(*n)) edit = nodes_to(*n);
        if (n && !fits(*n)) {
            state.refused = "nodes";
            state.refusal = plural(*n, "node", "nodes") + " of " + thousands(each) + " are more than "
                            + thousands(static_cast<std::int64_t>(most)) + " GPUs.";
        }
    } else {
        const std::int64_t up = next_value(kGpus, nodes, 1), down = next_value(kGpus, nodes, -1);
        // The GPUs would follow from the nodes, so these are hidden too.
        const bool hidden = is_reworded(thousands(cluster.gpus));
        const Ui::Step step = ui.stepper("plan.nodes", left, hidden ? "?" : thousands(nodes), down != nodes,
                                         up != nodes && fits(up), cluster.gpus % each == 0);
        if (step.edit_requested) start_editing(state, "nodes", nodes);
        if (step.by != 0) edit = nodes_to(step.by > 0 ? up : down);
    }
    if (state.editing == "gpus_per_node") {
        const auto n = typed_number(ui, "gpus_per_node", kGpus, right, state);
        if (n) edit = each_to(*n);
        if (n && edit && edit->plan.cluster.tiers.front().domain != *n) {
            edit.reset();
            state.refused = "gpus_per_node";
            state.refusal = "A node has fewer GPUs than the next tier, " + cluster.tiers[1].name
                            + ", joins: " + thousands(cluster.tiers[1].domain) + ".";
        }
    } else {
        const std::int64_t up = next_value(kGpus, each, 1), down = next_value(kGpus, each, -1);
        const Ui::Step step = ui.stepper("plan.gpus_per_node", right, thousands(each), down != each,
                                         each_to(up).has_value(), true);
        if (step.edit_requested) start_editing(state, "gpus_per_node", each);
        if (step.by != 0) edit = each_to(step.by > 0 ? up : down);
    }
    field_message(ui, room, "nodes", state);
    field_message(ui, room, "gpus_per_node", state);
    return edit;
}

MaybeEdit cluster_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    put_head(ui, room, 6, "CLUSTER", "GPUS");
    Rect row = room.cut_top(28);
    const Rect count = row.cut_right(96);
    row.cut_right(8);
    if (ui.dropdown("plan.cluster", row, scene.plan.cluster.name)) open_menu(state, "cluster", row);
    const std::int64_t gpus = scene.plan.cluster.gpus;
    const auto edit_to = [&](std::int64_t n) {
        return PlanEdit{with_spare(scene.plan, n, state), thousands(n) + " GPUs", ""};
    };
    if (state.editing == "gpus") {
        if (const auto n = typed_number(ui, "gpus", "/cluster/gpus", count, state)) edit = edit_to(*n);
    } else {
        const std::int64_t up = next_value("/cluster/gpus", gpus, 1),
                           down = next_value("/cluster/gpus", gpus, -1);
        const Ui::Step step = ui.stepper("plan.gpus", count, thousands(gpus), down != gpus, up != gpus, true);
        if (step.edit_requested) start_editing(state, "gpus", gpus);
        if (step.by != 0) edit = edit_to(step.by > 0 ? up : down);
    }
    field_message(ui, room, "gpus", state);
    if (MaybeEdit nodes = nodes_row(ui, room, scene, state)) edit = std::move(nodes);
    room.cut_top(4);
    std::string text;
    for (const Tier& t : scene.plan.cluster.tiers) {
        if (!text.empty()) text += " · ";
        text += t.name + " " + bandwidth_text(t.bytes_per_s);
        if (t.domain > 0) text += " to " + thousands(t.domain);
        if (t.nics > 0)
            text += ", " + plural(t.nics, "NIC", "NICs") + " of "
                    + bandwidth_text(t.bytes_per_s * gpus_per_nic(scene.plan.cluster)) + " a "
                    + std::string(domain_name(scene.plan.cluster));
        if (t.oversubscription > 1) text += ", 1 : " + trimmed(t.oversubscription);
    }
    draw_details(ui, room, row, text);
    return edit;
}

// ---- axes ---------------------------------------------------------------------------------------------

bool is_possible(const Plan& plan, Axis axis) {
    return axis != Axis::ep || plan.model.moe.has_value();
}

// Draws the name, which switches the axis on and off. `whole`: the row with its factor and badge.
MaybeEdit axis_toggle(Ui& ui, Rect row, Rect whole, Axis axis, const Scene& scene) {
    Canvas& c = ui.canvas();
    const Plan& p = scene.plan;
    const std::int64_t f = shown_factor(p, axis);
    const bool possible = is_possible(p, axis), on = f > 1, narrow = whole.w < kNarrow;
    const std::string name(name_of(axis));
    const Hit toggle = ui.area("layout." + name + ".toggle", row, 0, possible);
    const GroupKind kind = group_of(axis);
    Color color = color_of(ui.theme(), kind);
    if (!on) color = color.alpha(0.45f);
    if (scene.selection.group == kind && on) c.rect({row.x - 8, row.y + 5, 2, row.h - 10}, color, 1);
    ui.swatch({row.x, row.center().y - 6}, color, 12);
    Rect text = row;
    text.cut_left(narrow ? 18 : 22);
    TextStyle label = on ? ui.title() : ui.style();
    if (!on) label.color = toggle.hovered ? ui.theme().secondary : ui.theme().faint;
    write_left(ui, text, name, label);
    TextStyle sub = ui.style(12, Tone::secondary);
    if (!on) sub.color = sub.color.alpha(0.6f);
    if (text.w > 30) c.text_in(text, long_name(axis), sub);
    if (toggle.focused) ui.focus_ring(row, 4);
    const std::string action = !possible ? ""
                               : on      ? "click to switch off; the GPUs go to data parallelism"
                                         : "click to switch on";
    names_axis(ui, kind, row, action, ui.id("layout." + name + ".toggle"), whole);
    if (toggle.hovered) ui.tooltip(std::string(sentence_of(axis)) + "\n" + action);
    if (!toggle.clicked) return std::nullopt;
    const std::int64_t to = on ? 1 : factor_when_on(p, axis);
    return to == f ? std::nullopt : MaybeEdit(factor_edit(p, axis, to, !ui.frame().shift));
}

// Draws the factor, to be typed or stepped through those that the plan can have.
MaybeEdit axis_factor(Ui& ui, Rect box, Axis axis, const Plan& p, PlanPanelState& state) {
    const std::string name(name_of(axis));
    const bool keeps_gpus = !ui.frame().shift;
    if (state.editing == name) {
        const auto n = typed_number(ui, name, "/layout/" + name, box, state);
        return n ? MaybeEdit(factor_edit(p, axis, *n, keeps_gpus)) : std::nullopt;
    }
    const std::int64_t f = shown_factor(p, axis);
    const bool possible = is_possible(p, axis);
    const auto legal = possible ? legal_factors(p, axis) : std::vector<std::int64_t>{1};
    const auto above = std::upper_bound(legal.begin(), legal.end(), f);
    const auto below = std::lower_bound(legal.begin(), legal.end(), f);
    const Ui::Step step = ui.stepper("layout." + name, box, thousands(f), below != legal.begin(),
                                     above != legal.end(), f > 1, true, true);
    if (step.edit_requested && possible) start_editing(state, name, f);
    if (step.by > 0 && above != legal.end()) return factor_edit(p, axis, *above, keeps_gpus, step.drags);
    if (step.by < 0 && below != legal.begin())
        return factor_edit(p, axis, *(below - 1), keeps_gpus, step.drags);
    return std::nullopt;
}

// Draws the tier that the axis crosses; a click shows its groups.
void axis_badge(Ui& ui, Rect badge, Axis axis, Scene& scene) {
    const Plan& p = scene.plan;
    const bool on = shown_factor(p, axis) > 1;
    const std::string name(name_of(axis));
    const GroupKind kind = group_of(axis);
    const GroupSummary& g = scene.evaluation.groups[kind];
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
        ui.badge_off(badge.inset(0, 3), on ? "—" : is_possible(p, axis) ? "off" : "dense");
    }
}

MaybeEdit axis_row(Ui& ui, Rect row, Axis axis, Scene& scene, PlanPanelState& state) {
    const Rect whole = row;
    const bool narrow = row.w < kNarrow;
    const Rect badge = row.cut_right(narrow ? 62 : 76);
    row.cut_right(narrow ? 4 : 6);
    const float digits = ui.canvas().text_width(thousands(shown_factor(scene.plan, axis)), ui.style());
    const Rect box = row.cut_right(narrow ? std::max(58.0f, digits + 38) : std::max(70.0f, digits + 46));
    row.cut_right(4);  // the factor is shown whole
    MaybeEdit edit = axis_toggle(ui, row, whole, axis, scene);
    if (MaybeEdit made = axis_factor(ui, box, axis, scene.plan, state)) edit = std::move(made);
    axis_badge(ui, badge, axis, scene);
    flash(ui, box, badge, axis, scene);
    return edit;
}

// If a plan shards, more GPUs may be more shards or more replicas: a link chooses, in the product's row or
// below it.
void spare_link(Ui& ui, Rect row, Rect& room, float from, const Plan& p, PlanPanelState& state) {
    if (p.layout.dp_shard < 2 || ui.state().for_picture) return;
    const std::string_view label = state.spare_replicates ? "more: replicas" : "more: shards";
    const float w = ui.canvas().text_width(label, ui.small());
    if (from + w > row.w) row = room.cut_top(20);
    const Rect at{row.right() - w - 1, row.y + 1, w, 18};
    if (ui.link("plan.spare", at.min(), label)) state.spare_replicates = !state.spare_replicates;
    if (ui.hovers(at))
        ui.tooltip(std::string("More GPUs become ") + (state.spare_replicates ? "replicas" : "shards")
                   + "\nGPUs that come or go change " + (state.spare_replicates ? "dp_replicate" : "dp_shard")
                   + ". Click for the other.");
}

// Writes "8·1·64·16·1 = 8,192 all GPUs"; a product that is not the cluster says so, and why.
void product_line(Ui& ui, Rect& room, const Plan& p, PlanPanelState& state) {
    Canvas& c = ui.canvas();
    const Layout& l = p.layout;
    const std::int64_t ranks = ranks_laid_out(p), gpus = p.cluster.gpus;
    std::string factors;
    for (const std::int64_t f : {l.tp, l.cp, l.dp_shard, shown_factor(p, Axis::dp_replicate), l.pp})
        factors += (factors.empty() ? "" : "·") + std::to_string(f);
    const Rect row = room.cut_top(22);
    float x = c.text(row.min() + Vec2{0, 2}, factors + (ranks > 0 ? " = " : ": "), ui.mono(Tone::secondary));
    const bool all = ranks == gpus;
    TextStyle verdict = ui.mono();
    verdict.color = all ? ui.theme().good : ui.theme().bad;
    std::string text = is_low(ui) ? "" : "all GPUs";
    if (all)
        x += c.text(row.min() + Vec2{x, 2}, thousands(ranks) + " ", ui.mono());
    else if (ranks == 0)
        text = "no whole number of replicas";
    else
        text = (ranks < kManyRanks ? thousands(ranks) : "over 10^12") + " of " + thousands(gpus) + " GPUs";
    c.text_in({row.x + x, row.y, row.w - x, 18}, text, verdict);
    spare_link(ui, row, room, x + c.text_width(text, verdict) + 12, p, state);
    if (all) return;
    std::string why = "Too many: the factors ask for more ranks than the cluster has GPUs.";
    if (ranks == 0)
        why = thousands(gpus) + " GPUs do not divide by tp × cp × pp × dp_shard.";
    else if (ranks < gpus)
        why = thousands(gpus - ranks) + " GPUs get no rank.";
    TextStyle reason = ui.small();
    reason.color = ui.theme().bad;
    put_paragraph(ui, room, why, reason, 18);
}

// Writes the usual name of this layout; the reason appears on hover.
// Next to it a link leads to the layers of each stage.
void name_line(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    const LayoutName name = layout_name(scene.plan, scene.evaluation.mesh);
    const bool stages = scene.plan.layout.pp > 1;
    if (name.name.empty() && !stages) return;
    Rect row = room.cut_top(20);
    if (stages) {
        const std::string label = "layers per stage";
        const float w = ui.canvas().text_width(label, ui.small()),
                    named = ui.canvas().text_width(name.name, ui.style(12));
        const bool whole = named + w + 12 <= row.w;
        const std::string shown = whole ? label : "stages";
        const Rect at = row.cut_right(ui.canvas().text_width(shown, ui.small()) + 1);
        row.cut_right(8);
        if (ui.link("plan.stages", {at.x, at.y + 1}, shown)) state.wants_stages = true;
    }
    ui.canvas().text_in(row, name.name, ui.style(12));
    if (ui.hovers(row)) ui.tooltip(name.name + "\n" + name.reason);
}

}  // namespace

std::optional<PlanEdit> draw_plan_panel(Ui& ui, Rect panel, Scene& scene, PlanPanelState& state) {
    const float side = panel.w - 32 < kNarrow ? 12 : 16;
    ScrollArea area(ui, "plan", panel, state.scroll, {.pad = {side, 14}});
    Rect& room = area.room;
    MaybeEdit edit;
    const auto keep = [&](MaybeEdit e) {
        if (e && !edit) edit = std::move(e);
    };
    model_block(ui, room, scene, state);
    keep(cluster_block(ui, room, scene, state));
    put_head(ui, room, 4, "LAYOUT", "FACTOR, SLOWEST LINK");
    for (const Axis axis : kRows) {
        keep(axis_row(ui, room.cut_top(26), axis, scene, state));
        field_message(ui, room, name_of(axis), state);
        if (!is_low(ui)) room.cut_top(2);
    }
    product_line(ui, room, scene.plan, state);
    name_line(ui, room, scene, state);
    room.cut_top(is_low(ui) ? 6.0f : 10.0f);
    keep(order_block(ui, room, scene, state));
    keep(modifiers_block(ui, room, scene, state));
    if (edit) state.refused.clear();
    return edit;
}

}  // namespace pentamesh::ui
