// Draws the plan, to be changed: model, cluster, a row per axis, the order's chips, modifiers.
#include "app/ui/panels/plan_panel.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/colors.h"
#include "core/base/text.h"
#include "core/evaluate.h"
#include "core/explain/batch_room.h"
#include "core/mesh/places.h"
#include "core/pipeline/follow.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/stand_in.h"
#include "core/teach/glossary.h"
#include "render/canvas.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kNarrow = 262;  // a row less wide has smaller controls, so that names are whole
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

std::string out_of_range(const FieldRange& range, double value) {
    return range.allows(value) ? "" : "is refused: it must be " + range_text(range) + ".";
}

std::optional<std::int64_t> plan_number(Ui& ui, Rect box, const PlanNumber& number, PlanPanelState& state) {
    const std::int64_t up = next_value(number.pointer, number.value, 1),
                       down = next_value(number.pointer, number.value, -1);
    const FieldRange range = range_of(number.pointer).value_or(FieldRange{});
    const NumberEdit edit = number_box(ui, box,
                                       {.name = number.name,
                                        .key = number.key,
                                        .shown = number.shown,
                                        .typed = std::to_string(number.value),
                                        .can_down = down != number.value,
                                        .can_up = number.can_up && up != number.value,
                                        .on = number.on,
                                        .refuse = [&](double value) { return out_of_range(range, value); }},
                                       state.numbers);
    if (edit.typed) return static_cast<std::int64_t>(*edit.typed);
    if (edit.by == 0) return std::nullopt;
    return number.next ? number.next(edit.by) : edit.by > 0 ? up : down;
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

// Words under a preset: as much as one line takes. In a low window they are in its tooltip only, which has
// all of them: what can be changed comes first.
void draw_details(Ui& ui, Rect& room, Rect box, const std::string& text) {
    if (ui.hovers(box)) ui.tooltip(text);
    if (is_low(ui)) return static_cast<void>(room.cut_top(4));
    std::string_view shown = text;
    constexpr std::string_view kBetween = " · ";
    while (ui.canvas().text_width(shown, ui.small()) > room.w)
        if (const std::size_t end = shown.rfind(kBetween); end != std::string_view::npos)
            shown = shown.substr(0, end);
        else
            break;
    ui.label(room.cut_top(18), shown, ui.small());
    room.cut_top(8);
}

// Returns true if the layout means something: it is a plan's, or that of a run's dumps.
bool lays_out(const Scene& scene) {
    return !is_stand_in(scene.plan) || (scene.run != nullptr && scene.run->hang);
}

void model_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    put_head(ui, room, 6, "MODEL");
    const Rect box = room.cut_top(28);
    if (ui.dropdown("plan.model", box, scene.plan.model.name.empty() ? "unnamed" : model_name_of(scene.plan)))
        open_menu(state, "model", box);
    room.cut_top(4);
    const Model& m = scene.plan.model;
    if (!is_known(m)) return draw_details(ui, room, box, "The run does not say it.");
    const ParameterCounts& n = scene.evaluation.parameters;
    std::string text = count_text(static_cast<double>(n.total)) + " parameters";
    if (n.active != n.total)
        text += ", " + count_text(static_cast<double>(n.active_without_embedding)) + " active ("
                + count_text(static_cast<double>(n.active)) + " with the embedding)";
    text += " · " + plural(m.layers, "layer", "layers") + " · hidden " + thousands(m.hidden) + " · "
            + plural(m.heads, "head", "heads");
    if (m.attention == AttentionKind::mla)
        text += ", latent kv";
    else if (m.attention == AttentionKind::compressed)
        text += ", compressed kv";
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
    if (cluster.tiers.size() < 2 || cluster.tiers.front().domain < 1 || !is_known(cluster))
        return std::nullopt;
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
    const PlanNumber of_nodes{.name = "plan.nodes",
                              .key = "nodes",
                              .pointer = kGpus,
                              .value = nodes,
                              .shown = thousands(nodes),
                              .can_up = fits(next_value(kGpus, nodes, 1)),
                              .on = cluster.gpus % each == 0,
                              .next = [&](int by) { return next_gpus(scene.plan, by, each) / each; }};
    if (const auto n = plan_number(ui, left, of_nodes, state)) {
        if (fits(*n))
            edit = nodes_to(*n);
        else
            state.numbers.refuse("nodes", plural(*n, "node", "nodes") + " of " + thousands(each)
                                              + " are more than " + thousands(static_cast<std::int64_t>(most))
                                              + " GPUs.");
    }
    const PlanNumber of_each{.name = "plan.gpus_per_node",
                             .key = "gpus_per_node",
                             .pointer = kGpus,
                             .value = each,
                             .can_up = each_to(next_value(kGpus, each, 1)).has_value()};
    if (const auto n = plan_number(ui, right, of_each, state)) {
        edit = each_to(*n);
        if (edit && edit->plan.cluster.tiers.front().domain != *n) {
            edit.reset();
            state.numbers.refuse("gpus_per_node",
                                 "A node has fewer GPUs than the next tier, " + cluster.tiers[1].name
                                     + ", joins: " + thousands(cluster.tiers[1].domain) + ".");
        }
    }
    number_message(ui, room, "nodes", state.numbers);
    number_message(ui, room, "gpus_per_node", state.numbers);
    return edit;
}

MaybeEdit cluster_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    put_head(ui, room, 6, "CLUSTER", "GPUS");
    Rect row = room.cut_top(28);
    const Rect count = row.cut_right(96);
    row.cut_right(8);
    if (ui.dropdown("plan.cluster", row, whole_parts(ui, scene.plan.cluster.name, row.w - 34, ui.style())))
        open_menu(state, "cluster", row);
    if (!lays_out(scene)) {
        room.cut_top(4);
        draw_details(ui, room, row, "The run does not say it.");
        return edit;
    }
    const std::int64_t gpus = scene.plan.cluster.gpus;
    const auto edit_to = [&](std::int64_t n) {
        return PlanEdit{with_spare(scene.plan, n, state), thousands(n) + " GPUs", ""};
    };
    const PlanNumber of_gpus{
        .name = "plan.gpus", .key = "gpus", .pointer = "/cluster/gpus", .value = gpus, .next = [&](int by) {
            return next_gpus(scene.plan, by, 1);
        }};
    if (const auto n = plan_number(ui, count, of_gpus, state)) edit = edit_to(*n);
    number_message(ui, room, "gpus", state.numbers);
    if (MaybeEdit nodes = nodes_row(ui, room, scene, state)) edit = std::move(nodes);
    room.cut_top(4);
    std::string text = is_known(scene.plan.cluster) ? "" : "The run does not say it.";
    if (text.empty())
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
enum class AxisName : std::uint8_t { with_words, plain, shortened };

MaybeEdit axis_toggle(Ui& ui, Rect row, Rect whole, Axis axis, const Scene& scene, AxisName form) {
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
    const std::string short_name = axis == Axis::dp_shard       ? "shard"
                                   : axis == Axis::dp_replicate ? "repl"
                                                                : name;
    write_left(ui, text, form == AxisName::shortened ? short_name : name, label);
    TextStyle sub = ui.style(12, Tone::secondary);
    if (!on) sub.color = sub.color.alpha(0.6f);
    if (form == AxisName::with_words) static_cast<void>(write_whole(ui, text, long_name(axis), sub));
    if (toggle.focused) ui.focus_ring(row, 4);
    const std::string action = !possible ? ""
                               : on      ? "click to switch off; the GPUs go to data parallelism"
                                         : "click to switch on";
    names_axis(ui, kind, row, action, ui.id("layout." + name + ".toggle"), whole, true);
    if (toggle.hovered) ui.tooltip(std::string(sentence_of(axis)) + "\n" + action);
    if (!toggle.clicked) return std::nullopt;
    const std::int64_t to = on ? 1 : factor_when_on(p, axis);
    return to == f ? std::nullopt : MaybeEdit(factor_edit(p, axis, to, !ui.frame().shift));
}

// Draws the factor, to be typed or stepped through those that the plan can have.
MaybeEdit axis_factor(Ui& ui, Rect box, Axis axis, const Plan& p, PlanPanelState& state) {
    const std::string name(name_of(axis));
    const bool keeps_gpus = !ui.frame().shift;
    const std::int64_t f = shown_factor(p, axis);
    const bool possible = is_possible(p, axis);
    const auto legal = possible ? legal_factors(p, axis) : std::vector<std::int64_t>{1};
    const auto above = std::upper_bound(legal.begin(), legal.end(), f);
    const auto below = std::lower_bound(legal.begin(), legal.end(), f);
    const std::string control = "layout." + name;
    const FieldRange range = range_of("/layout/" + name).value_or(FieldRange{});
    const NumberEdit edit = number_box(ui, box,
                                       {.name = control,
                                        .key = name,
                                        .shown = thousands(f),
                                        .typed = std::to_string(f),
                                        .can_down = below != legal.begin(),
                                        .can_up = above != legal.end(),
                                        .on = f > 1,
                                        .can_type = possible,
                                        .scrubs = true,
                                        .refuse = [&](double value) { return out_of_range(range, value); }},
                                       state.numbers);
    if (edit.typed) return factor_edit(p, axis, static_cast<std::int64_t>(*edit.typed), keeps_gpus);
    if (edit.by > 0 && above != legal.end()) return factor_edit(p, axis, *above, keeps_gpus, edit.drags);
    if (edit.by < 0 && below != legal.begin())
        return factor_edit(p, axis, *(below - 1), keeps_gpus, edit.drags);
    return std::nullopt;
}

// Draws the tier that the axis crosses; a click shows its groups. While a question is open it may be the
// answer.
void axis_badge(Ui& ui, Rect badge, Axis axis, Scene& scene) {
    const Plan& p = scene.plan;
    const bool on = shown_factor(p, axis) > 1;
    const std::string name(name_of(axis));
    const GroupKind kind = group_of(axis);
    const GroupSummary& g = scene.evaluation.groups[kind];
    const Hit pick = ui.area("layout." + name + ".badge", badge, 0, on, false);
    if (scene.asked) {
        ui.badge_off(badge.inset(0, 3), "?");
        if (pick.clicked && on) scene.selection.choose(kind);
    } else if (on && g.degree > 1 && scene.evaluation.valid) {
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
    MaybeEdit edit = axis_toggle(ui, row, whole, axis, scene, AxisName::with_words);
    if (MaybeEdit made = axis_factor(ui, box, axis, scene.plan, state)) edit = std::move(made);
    axis_badge(ui, badge, axis, scene);
    flash(ui, box, badge, axis, scene);
    return edit;
}

// Writes the names of the axes that are off; a click on one switches it on and gives it a row.
MaybeEdit off_line(Ui& ui, Rect& room, const Scene& scene, const PlanPanelState& state) {
    constexpr float kSwatch = 18, kApart = 10, kHeight = 24;
    MaybeEdit edit;
    Rect row;
    for (const Axis axis : kRows) {
        if (has_row(scene.plan, state, axis)) continue;
        const float w = kSwatch + ui.canvas().text_width(name_of(axis), ui.style()) + 2;
        if (row.w < w) {
            const bool first = row.h == 0;
            row = room.cut_top(kHeight);
            const Rect words = row.cut_left(ui.canvas().text_width("off:", ui.small()) + kApart);
            if (first) ui.canvas().text_in(words, "off:", ui.small());
        }
        const Rect place = row.cut_left(w);
        row.cut_left(kApart);
        if (MaybeEdit made = axis_toggle(ui, place, place, axis, scene, AxisName::plain))
            edit = std::move(made);
    }
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
Effects name_line(Ui& ui, Rect& room, const Scene& scene) {
    Effects out;
    const LayoutName name = layout_name(scene.plan, scene.evaluation.mesh);
    const bool stages = scene.plan.layout.pp > 1;
    if (name.name.empty() && !stages) return out;
    Rect row = room.cut_top(20);
    if (stages) {
        const std::string label = "layers per stage";
        const float w = ui.canvas().text_width(label, ui.small()),
                    named = ui.canvas().text_width(name.name, ui.style(12));
        const bool whole = named + w + 12 <= row.w;
        const std::string shown = whole ? label : "stages";
        const Rect at = row.cut_right(ui.canvas().text_width(shown, ui.small()) + 1);
        row.cut_right(8);
        if (ui.link("plan.stages", {at.x, at.y + 1}, shown)) out = Effects(Effects::Opens::stages);
    }
    ui.canvas().text_in(row, name.name, ui.style(12));
    if (ui.hovers(row)) ui.tooltip(name.name + "\n" + name.reason);
    return out;
}

}  // namespace

bool has_row(const Plan& plan, const PlanPanelState& state, Axis axis) {
    return state.all_axes || ranks_laid_out(plan) <= 1 || state.used[static_cast<std::size_t>(axis)];
}

Effects draw_plan_panel(Ui& ui, Rect panel, Scene& scene, PlanPanelState& state) {
    if (std::exchange(state.used_of, state.file) != state.file) state.used = {};
    for (const Axis axis : kRows)
        if (shown_factor(scene.plan, axis) > 1) state.used[static_cast<std::size_t>(axis)] = true;
    const float side = panel.w - 32 < kNarrow ? 12 : 16;
    ScrollArea area(ui, "plan", panel, state.scroll, {.pad = {side, 14}});
    Rect& room = area.room;
    MaybeEdit edit;
    const auto keep = [&](MaybeEdit e) {
        if (e && !edit) edit = std::move(e);
    };
    model_block(ui, room, scene, state);
    keep(cluster_block(ui, room, scene, state));
    if (!lays_out(scene)) return edit;
    put_head(ui, room, 4, "LAYOUT", "FACTOR, SLOWEST LINK");
    for (const Axis axis : kRows) {
        if (!has_row(scene.plan, state, axis)) continue;
        keep(axis_row(ui, room.cut_top(26), axis, scene, state));
        number_message(ui, room, name_of(axis), state.numbers);
        if (!is_low(ui)) room.cut_top(2);
    }
    keep(off_line(ui, room, scene, state));
    product_line(ui, room, scene.plan, state);
    Effects out;
    if (!is_stand_in(scene.plan)) out = name_line(ui, room, scene);
    room.cut_top(is_low(ui) ? 6.0f : 10.0f);
    keep(order_block(ui, room, scene, state));
    if (!is_stand_in(scene.plan)) keep(modifiers_block(ui, room, scene, state));
    if (edit) state.numbers.forget_refusal();
    out.add(std::move(edit));
    return out;
}

Effects draw_plan_rail(Ui& ui, Rect rail, Scene& scene, PlanPanelState& state) {
    if (!lays_out(scene)) return {};
    constexpr float kAxisLine = 20, kFactor = 24, kBelow = 6, kFoot = 30;
    const Rect foot = rail.cut_bottom(kFoot);
    MaybeEdit edit;
    {
        ScrollArea area(ui, "plan", rail, state.scroll, {.pad = {10, 8}});
        Rect& room = area.room;
        for (const Axis axis : kRows) {
            const Rect name = room.cut_top(kAxisLine), factor = room.cut_top(kFactor);
            const Rect whole{name.x, name.y, name.w, kAxisLine + kFactor};
            MaybeEdit toggled = axis_toggle(ui, name, whole, axis, scene, AxisName::shortened);
            MaybeEdit stepped = axis_factor(ui, factor, axis, scene.plan, state);
            if (!edit) edit = stepped ? std::move(stepped) : std::move(toggled);
            number_message(ui, room, name_of(axis), state.numbers);
            room.cut_top(kBelow);
        }
    }
    if (edit) state.numbers.forget_refusal();
    Effects out(std::move(edit));
    if (ui.link("plan.all", {foot.x + 10, foot.y + 6}, "all settings"))
        out.add(Effects(Effects::Opens::fields));
    return out;
}

// Draws the order's chips: they are dragged, or moved by Alt and the arrow keys.

namespace {

using Chips = std::array<Rect, kAxisCount>;
constexpr float kRowStep = 30, kChipHeight = 24;

// Chips of the axes that have a row flow over two or three rows.
Chips lay_chips(Ui& ui, Rect room, const Plan& plan, const PlanPanelState& state) {
    const AxisOrder& order = plan.layout.order;
    Chips chips{};
    float x = room.x, y = room.y;
    for (std::size_t i = 0; i < order.size(); ++i) {
        chips[i] = {x, y, 0, kChipHeight};
        if (!has_row(plan, state, order[i])) continue;
        const float w = ui.canvas().text_width(name_of(order[i]), ui.style(12)) + 34;
        if (x + w > room.right() && x > room.x) x = room.x, y += kRowStep;
        chips[i] = {x, y, w, kChipHeight};
        x += w + 6;
    }
    return chips;
}

// The chip that is dragged takes the place under the mouse.
MaybeEdit drag_chip(Ui& ui, const Scene& scene, PlanPanelState& state, const Chips& chips, std::size_t i,
                    const Hit& hit) {
    const AxisOrder& order = scene.plan.layout.order;
    const int axis = static_cast<int>(order[i]);
    const bool begun = std::abs(hit.drag.x) + std::abs(hit.drag.y) > 4 || state.dragged_chip == axis;
    if (!hit.held || !begun) {
        if (state.dragged_chip == axis && !ui.frame().down[0]) state.dragged_chip = -1;
        return std::nullopt;
    }
    state.dragged_chip = axis;
    for (std::size_t j = 0; j < chips.size(); ++j)
        if (j != i && chips[j].contains(ui.frame().mouse))
            return PlanEdit{with_order(scene.plan, moved(order, i, j)), "order", "order-drag"};
    return std::nullopt;
}

MaybeEdit move_chip(Ui& ui, const Scene& scene, std::size_t i) {
    const bool ctrl = ui.frame().ctrl, alt = ui.frame().alt;
    if (!ctrl && !alt) return std::nullopt;
    const AxisOrder& order = scene.plan.layout.order;
    std::size_t to = i;
    if (pressed({.key = Key::right, .ctrl = ctrl, .alt = alt}) && i + 1 < order.size()) to = i + 1;
    if (pressed({.key = Key::left, .ctrl = ctrl, .alt = alt}) && i > 0) to = i - 1;
    if (to == i) return std::nullopt;
    return PlanEdit{with_order(scene.plan, moved(order, i, to)), "order", ""};
}

void draw_chip(Ui& ui, Rect r, const Plan& plan, Axis axis, const Hit& hit, bool dragged) {
    const bool on = shown_factor(plan, axis) > 1;
    if (dragged) r.y -= 2;
    Canvas& c = ui.canvas();
    c.rect(r, dragged || hit.hovered ? ui.theme().hairline : ui.theme().raised.alpha(on ? 1.0f : 0.45f), 6);
    c.frame(r, dragged ? ui.theme().text : ui.theme().hairline.alpha(on ? 1.0f : 0.6f), 1, 6);
    const Color swatch = color_of(ui.theme(), group_of(axis));
    ui.swatch({r.x + 8, r.center().y - 4}, on ? swatch : swatch.alpha(0.45f), 8);
    c.text_in({r.x + 22, r.y, r.w - 24, r.h}, name_of(axis), ui.style(12, on ? Tone::text : Tone::faint));
    if (hit.focused) ui.focus_ring(r, 6);
    if (hit.hovered && !hit.held)
        ui.tooltip(std::string(name_of(axis)) + "\ndrag to another place; Alt + arrows move it");
}

}  // namespace

MaybeEdit order_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    Rect head = room.cut_top(18);
    const AxisOrder& order = scene.plan.layout.order;
    constexpr float kWords = 140;  // of the heading
    const bool whole = head.w - ui.canvas().text_width(order_name(order), ui.style(11)) > kWords;
    ui.section(head, whole ? "ORDER, INNER TO OUTER" : "ORDER");
    const Rect preset = head.cut_right(124);
    const Hit pick = ui.area("order.preset", preset);
    ui.canvas().text_in(preset, order_name(order), ui.style(11, pick.hovered ? Tone::text : Tone::secondary),
                        Align::right);
    if (pick.focused) ui.focus_ring(preset, 3);
    if (pick.clicked) open_menu(state, "order", preset);
    room.cut_top(6);

    MaybeEdit edit;
    const Chips chips = lay_chips(ui, room, scene.plan, state);
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (chips[i].w <= 0) continue;
        const Hit hit = ui.area("order." + std::string(name_of(order[i])), chips[i]);
        if (auto e = drag_chip(ui, scene, state, chips, i, hit)) edit = std::move(e);
        if (hit.focused)
            if (auto e = move_chip(ui, scene, i)) edit = std::move(e);
        draw_chip(ui, chips[i], scene.plan, order[i], hit, state.dragged_chip == static_cast<int>(order[i]));
    }
    room.cut_top(chips.back().bottom() - room.y + (is_low(ui) ? 10 : 16));
    return edit;
}

// Draws the plan panel's modifiers: a row each; a modifier with more than one setting opens a popover.

namespace {

constexpr std::uint64_t kPanelTerms = 100;  // tells the panel's terms from the views'

// Draws one labelled row; returns the room of its control. `id` is the label's entry in the glossary.
Rect modifier_row(Ui& ui, Rect& room, std::string_view label, std::string_view id) {
    Rect row = room.cut_top(28);
    if (!is_low(ui)) room.cut_top(4);
    term(ui, row.cut_left(88).inset(0, 3), id, label, ui.style(13, Tone::secondary), kPanelTerms);
    return row.inset(0, 2);
}

// Draws a row that opens a popover.
void opener(Ui& ui, Rect box, std::string_view menu, const std::string& label, PlanPanelState& state) {
    if (ui.dropdown("mod." + std::string(menu), box, label)) open_menu(state, menu, box);
}

MaybeEdit sharding_rows(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    const Layout& l = scene.plan.layout;
    static constexpr std::string_view kOffOn[] = {"off", "on"};
    static constexpr std::string_view kZero[] = {"0", "1", "2", "3"};
    const int sp = ui.segments("mod.sp", modifier_row(ui, room, "Sequence p.", "sp"), kOffOn,
                               l.sequence_parallel ? 1 : 0);
    if ((sp == 1) != l.sequence_parallel)
        edit = changed(scene, sp == 1 ? "sequence parallel on" : "sequence parallel off",
                       [&](Plan& p) { p.layout.sequence_parallel = sp == 1; });
    const auto over = [&](std::string_view control, std::uint64_t i) {
        const auto at = ui.rect_of(control, i);
        return at && ui.hovers(*at);
    };
    if (over("mod.sp", 0) || over("mod.sp", 1)) ui.tooltip(std::string(kSequenceParallelSentence));
    static constexpr std::string_view kRungs[] = {"zero-1", "zero-1", "zero-2", "zero-3"};
    const int rung = std::clamp(l.zero, 0, 3);
    const int zero = ui.segments("mod.zero", modifier_row(ui, room, "ZeRO", kRungs[rung]), kZero, l.zero);
    for (int i = 0; i < 4; ++i)
        if (over("mod.zero", static_cast<std::uint64_t>(i))) ui.tooltip(std::string(sentence_of_zero(i)));
    if (zero != l.zero)
        edit = changed(scene, "ZeRO-" + std::to_string(zero), [&](Plan& p) {
            p.layout.zero = zero;
            follow_software(scene.plan, p);
        });
    if (l.cp > 1)
        opener(ui, modifier_row(ui, room, "CP by", "cp"), "cp", std::string(words_of(l.cp_comm).name), state);
    return edit;
}

// Draws a choice of three words; "…" opens the modules and how many layers.
MaybeEdit recompute_row(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    const RecomputeChoice& now = scene.plan.training.recompute;
    Rect box = modifier_row(ui, room, "Recompute", "recompute");
    const Rect more = box.cut_right(24);
    box.cut_right(4);
    if (ui.button("mod.recompute_more", more, "…")) open_menu(state, "recompute", box);
    if (!now.is_plain()) {
        opener(ui, box, "recompute", words_of(now), state);
        return std::nullopt;
    }
    static constexpr std::array<std::string_view, kNames<Recompute>.size()> kShort{"none", "sel.", "full"};
    constexpr float kWholeWords = 140;
    const int kind = static_cast<int>(now.kind);
    const int to = ui.segments("mod.recompute", box, box.w < kWholeWords ? kShort : kNames<Recompute>, kind);
    if (to == kind) return std::nullopt;
    return changed(scene, "recompute " + std::string(name_of(static_cast<Recompute>(to))),
                   [&](Plan& p) { p.training.recompute = static_cast<Recompute>(to); });
}

// The micro-batches are written in the box where they have room, else below it.
void batch_row(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    const Training& t = scene.plan.training;
    const Rect box = modifier_row(ui, room, "Batch", "batch");
    const std::string label = thousands(t.global_batch) + " × " + sequence_text(t.sequence_length);
    const std::int64_t n = scene.evaluation.microbatches;
    const std::string micro = n > 0 ? thousands(n) + " micro" : "";
    Canvas& c = ui.canvas();
    const bool beside = c.text_width(label, ui.style()) + c.text_width(micro, ui.style()) + 52 < box.w;
    if (ui.dropdown("mod.batch", box, label, beside ? micro : "")) open_menu(state, "batch", box);
    if (!beside) {
        room.y -= 4;
        c.text_in({box.x, room.y, box.w, 16}, micro, ui.small(), Align::right);
        room.cut_top(20);
    }
    // It may be the answer to an open question.
    if (scene.asked || !scene.evaluation.valid) return;
    constexpr float kRoomy = 940;  // of the window
    const bool hovered = ui.hovers(box), roomy = ui.frame().size.y >= kRoomy;
    if (!hovered && !roomy) return;  // it takes evaluations, which a drag would pay for each edit
    const std::string& largest =
        state.largest.get(state.revision, [&] { return words_of(batch_rooms(scene.plan)); });
    if (largest.empty()) return;
    if (hovered) ui.tooltip("Batch\n" + largest);
    if (roomy) put_paragraph(ui, room, largest, ui.small(), 16, 6);
}

std::string overlap_text(const Overlap& o) {
    std::string s;
    for (const auto& [name, on] :
         {std::pair{"dp", o.dp}, {"pp", o.pp}, {"cp", o.cp}, {"tp", o.tp}, {"ep", o.ep}})
        if (on) s += (s.empty() ? "" : ", ") + std::string(name);
    return s.empty() ? "nothing hidden" : s;
}

// Says what lies in the host's memory: "optimizer, 4 layers".
std::string offload_text(const Offload& o) {
    std::string s;
    const auto add = [&](const std::string& part) { s += (s.empty() ? "" : ", ") + part; };
    const auto share = [](double v) {
        return v < 1 ? percent_text(v, Zeros::dropped) + " of " : std::string();
    };
    if (o.optimizer > 0) add(share(o.optimizer) + "optimizer");
    if (o.parameters > 0) add(share(o.parameters) + "weights");
    if (o.activations_layers > 0) add(plural(o.activations_layers, "layer", "layers"));
    return s.empty() ? "nothing" : s;
}

}  // namespace

MaybeEdit modifiers_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    const Layout& l = scene.plan.layout;
    const Training& t = scene.plan.training;
    ui.section(room.cut_top(18), "MODIFIERS");
    room.cut_top(6);
    MaybeEdit edit = sharding_rows(ui, room, scene, state);
    const std::string schedule = l.pp == 1 ? "none (pp 1)" : with_chunks(l.schedule, l.virtual_stages);
    opener(ui, modifier_row(ui, room, "Schedule", "schedule"), "schedule", schedule, state);
    if (auto recompute = recompute_row(ui, room, scene, state)) edit = std::move(recompute);
    batch_row(ui, room, scene, state);
    opener(ui, modifier_row(ui, room, "Precision", "precision"), "precision",
           std::string(name_of(t.compute)) + ", grads " + std::string(name_of(t.gradients)), state);
    opener(ui, modifier_row(ui, room, "Optimizer", "optimizer-state"), "optimizer",
           std::string(name_of(t.optimizer)) + ", " + std::string(name_of(t.optimizer_state)), state);
    opener(ui, modifier_row(ui, room, "Attention", "flash-attention"), "attention",
           std::string(name_of(t.attention)) + (t.dropout ? ", dropout" : ""), state);
    opener(ui, modifier_row(ui, room, "Overlap", "overlap"), "overlap", overlap_text(t.overlap), state);
    opener(ui, modifier_row(ui, room, "Offload", "offload"), "offload", offload_text(t.offload), state);
    return edit;
}

// Draws the plan panel's menus: presets of models and clusters, schedules and orders.

namespace {

// Draws a menu of entries; makes an edit from the one picked.
template <typename Make>
Effects pick(Ui& ui, PlanPanelState& state, const std::vector<MenuItem>& items, bool filter, Make&& make) {
    const MenuResult r = draw_menu(ui, "menu." + state.menu, state.menu_anchor, items, state.menu_state,
                                   filter, state.menu_anchor.w);
    Effects out;
    if (r.picked >= 0) out = make(static_cast<std::size_t>(r.picked));
    if (r.picked >= 0 || r.closed) state.menu.clear();
    return out;
}

// Lists the presets, then the sheet of all fields, then one's own presets where there are any.
template <typename Make>
Effects pick_preset(Ui& ui, const Scene& scene, PlanPanelState& state, PresetKind kind, FieldTopic section,
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
    return pick(ui, state, menu.items, true, [&](std::size_t i) -> Effects {
        if (menu.is_preset(i))
            return PlanEdit{make(menu.entry[i]->id), menu.entry[i]->name, "", kind == PresetKind::model};
        const bool adds = can_add && i == added;
        Effects out(i == sheet || adds ? Effects::Opens::fields : Effects::Opens::own_presets);
        out.topic = section;
        if (adds) out.edit = new_model_edit(scene.plan);
        return out;
    });
}

}  // namespace

PlanEdit new_model_edit(const Plan& plan) {
    Plan p = with_model(plan, plain_model(), "");
    if (!evaluate(p).valid) p = with_plain_layout(p);  // the old model's layout is no place to begin
    return {std::move(p), "a new model", "", true};
}

namespace {

Effects model_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    return pick_preset(
        ui, scene, state, PresetKind::model, FieldTopic::size, scene.plan.model_source.preset,
        [&](const std::string& id) { return with_model(scene.plan, scene.presets.model(id), id); });
}

Effects cluster_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
    return pick_preset(
        ui, scene, state, PresetKind::cluster, FieldTopic::fabric, scene.plan.cluster_source.preset,
        [&](const std::string& id) { return with_cluster(scene.plan, scene.presets.cluster(id), id); });
}

Effects schedule_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
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
        return PlanEdit{with_schedule_and_rest(scene.plan, choices[i].schedule, choices[i].chunks.chunks),
                        items[i].label, ""};
    });
}

Effects cp_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
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

Effects order_menu(Ui& ui, const Scene& scene, PlanPanelState& state) {
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

Effects draw_plan_menus(Ui& ui, Scene& scene, PlanPanelState& state) {
    if (state.menu == "model") return model_menu(ui, scene, state);
    if (state.menu == "cluster") return cluster_menu(ui, scene, state);
    if (state.menu == "schedule") return schedule_menu(ui, scene, state);
    if (state.menu == "cp") return cp_menu(ui, scene, state);
    if (state.menu == "order") return order_menu(ui, scene, state);
    return draw_plan_popover(ui, scene, state);
}

}  // namespace pentamesh::ui
