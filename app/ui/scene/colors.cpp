#include "app/ui/scene/colors.h"

#include "app/ui/kit/format.h"
#include "core/base/containers.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

Color color_of(const Theme& theme, GroupKind kind) {
    const auto axis = [&](Axis a) { return theme.axis[static_cast<std::size_t>(a)]; };
    switch (kind) {
    case GroupKind::tp: return axis(Axis::tp);
    case GroupKind::cp:
    case GroupKind::tp_cp: return axis(Axis::cp);
    case GroupKind::pp:
    case GroupKind::mp: return axis(Axis::pp);
    case GroupKind::dp_shard:
    case GroupKind::fsdp:
    case GroupKind::gtp_remat:
    case GroupKind::edp_shard: return axis(Axis::dp_shard);
    case GroupKind::dp_replicate:
    case GroupKind::dp:
    case GroupKind::dp_cp:
    case GroupKind::dp_without_gtp_remat:
    case GroupKind::dp_cp_without_gtp_remat:
    case GroupKind::edp:
    case GroupKind::edp_replicate: return axis(Axis::dp_replicate);
    case GroupKind::ep:
    case GroupKind::etp_ep: return axis(Axis::ep);
    case GroupKind::etp: return theme.etp;
    }
    return theme.text;
}

Color color_of(const Theme& theme, OpKind op) {
    switch (op) {
    case OpKind::F: return theme.forward;
    case OpKind::B:
    case OpKind::I: return theme.backward;
    case OpKind::W: return theme.weight_grad;
    case OpKind::FB: return mix(theme.forward, theme.backward, 0.5f);
    }
    return theme.forward;
}

Color color_of_part(const Theme& t, const StepSlice& s) {
    switch (s.part) {
    case StepPart::ideal:
    case StepPart::compute: return t.forward;
    case StepPart::products: return t.backward;
    case StepPart::attention: return mix(t.backward, t.window, 0.2f);
    case StepPart::moving: return mix(t.backward, t.window, 0.4f);
    case StepPart::starts: return mix(t.backward, t.window, 0.55f);
    case StepPart::recompute: return t.secondary;
    case StepPart::slowed: return mix(t.backward, color_of(t, GroupKind::dp_shard), 0.5f);
    case StepPart::exposed: return color_of(t, s.group);
    case StepPart::bubble:
    case StepPart::uneven:
    case StepPart::straggler: return t.bad;
    case StepPart::optimizer: return mix(t.text, t.secondary, 0.6f);
    case StepPart::offload: return mix(t.text, t.window, 0.4f);
    }
    return t.faint;
}

void fill_part(Canvas& canvas, const Theme& theme, Rect bar, const StepSlice& slice) {
    const Color color = color_of_part(theme, slice);
    if (slice.part == StepPart::bubble || slice.part == StepPart::uneven)
        canvas.pattern(bar, Pattern::hatched, color, mix(theme.window, color, 0.22f));
    else
        canvas.rect(bar, color);
}

namespace {

constexpr float kAxisHatch = 5;  // from line to line

// Lines from the upper left to the lower right, within a bar.
void draw_falling_lines(Canvas& canvas, Rect bar, Color color) {
    for (float c = std::ceil((bar.x - bar.bottom()) / kAxisHatch) * kAxisHatch; c < bar.right() - bar.y;
         c += kAxisHatch) {
        const float x0 = std::max(bar.x, c + bar.y), x1 = std::min(bar.right(), c + bar.bottom());
        if (x1 > x0) canvas.line({x0, x0 - c}, {x1, x1 - c}, color, 1);
    }
}

}  // namespace

void fill_axis(Canvas& canvas, const Theme& theme, Rect bar, GroupKind axis) {
    canvas.rect(bar, color_of(theme, axis));
    const Color ink = theme.window.alpha(0.6f);
    switch (axis) {
    case GroupKind::tp: return;
    case GroupKind::pp:
    case GroupKind::mp:
        for (float x = std::ceil(bar.x / kAxisHatch) * kAxisHatch; x < bar.right(); x += kAxisHatch)
            canvas.line({x, bar.y}, {x, bar.bottom()}, ink, 1);
        return;
    case GroupKind::cp:
    case GroupKind::tp_cp: return canvas.pattern(bar, Pattern::dotted, ink);
    case GroupKind::ep:
    case GroupKind::etp_ep: return draw_falling_lines(canvas, bar, ink);
    case GroupKind::etp:
    case GroupKind::edp:
    case GroupKind::edp_replicate: return canvas.pattern(bar, Pattern::cross_hatched, ink);
    default: return canvas.pattern(bar, Pattern::hatched, ink);
    }
}

void draw_axis_mark(Canvas& canvas, Vec2 at, float radius, GroupKind axis, Color color) {
    const auto polygon = [&](auto... points) {
        const std::array<Vec2, sizeof...(points)> corners{(at + points * radius)...};
        canvas.polygon(corners, color);
    };
    switch (axis) {
    case GroupKind::dp_shard:
    case GroupKind::fsdp:
    case GroupKind::gtp_remat:
    case GroupKind::ep:
    case GroupKind::etp_ep: return polygon(Vec2{-1, -1}, Vec2{1, -1}, Vec2{1, 1}, Vec2{-1, 1});
    case GroupKind::dp_replicate:
    case GroupKind::dp:
    case GroupKind::dp_cp:
    case GroupKind::dp_without_gtp_remat:
    case GroupKind::dp_cp_without_gtp_remat:
    case GroupKind::edp:
    case GroupKind::edp_replicate:
        return polygon(Vec2{0, -1.4f}, Vec2{1.4f, 0}, Vec2{0, 1.4f}, Vec2{-1.4f, 0});
    case GroupKind::pp:
    case GroupKind::mp: return polygon(Vec2{0, -1.4f}, Vec2{1.4f, 1}, Vec2{-1.4f, 1});
    case GroupKind::cp:
    case GroupKind::tp_cp:
    case GroupKind::edp_shard:  // no mesh has both: the experts' has no cp
        return canvas.frame(Rect{at.x, at.y, 0, 0}.inset(-radius - 0.5f), color, radius * 0.5f,
                            radius + 0.5f);
    case GroupKind::tp:
    case GroupKind::etp: return canvas.circle(at, radius, color);
    }
}

TierMark mark_of_tier(const Theme& theme, const Cluster& cluster, int tier) {
    // Green, amber and red are verdicts: a tier is known by its line, and by how light its grey is.
    if (tier <= 0) return {theme.secondary, Dash::solid};
    const auto index = static_cast<std::size_t>(tier);
    const bool slowest = index + 1 == cluster.tiers.size();
    const bool shared = index < cluster.tiers.size() && cluster.tiers[index].oversubscription > 1;
    // The tier lies across the spine: a third level, or a level that is oversubscribed.
    if (shared || (slowest && tier >= 2)) return {theme.text, Dash::dotted};
    return {mix(theme.secondary, theme.text, 0.5f), Dash::dashed};
}

std::string_view words_of(Dash dash) {
    switch (dash) {
    case Dash::solid: return "solid";
    case Dash::dashed: return "dashed";
    case Dash::dotted: return "dotted";
    }
    return "";
}

void names_axis(Ui& ui, GroupKind kind, Rect r, std::string action, Id control, Rect clear, bool whole) {
    for (const Axis axis : all_of<Axis>()) {
        if (group_of(axis) != kind) continue;
        ui.names({static_cast<int>(axis), r, clear.h > 0 ? clear : r, std::move(action), control, ui.layer(),
                  whole});
        return;
    }
}

std::uint64_t index_of(const StepSlice& slice) {
    return static_cast<std::uint64_t>(slice.part) * 64 + static_cast<std::uint64_t>(slice.group);
}

DrawnSlice drawn_slice(const Ui& ui, std::string_view name, const StepSlice& slice) {
    const std::uint64_t begin = 2 * index_of(slice), length = begin + 1;
    DrawnSlice out{slice, std::nullopt};
    out.now.from_s = ui.glide(name, slice.from_s, begin);
    out.now.time_s = ui.glide(name, slice.time_s, length);
    if (const auto time = ui.before(name, length)) {
        out.before = slice;
        out.before->from_s = ui.before(name, begin).value_or(slice.from_s);
        out.before->time_s = *time;
    }
    return out;
}

ChangeFigures change_figures(const Plan& plan, const Evaluation& e) {
    ChangeFigures out;
    for (const Axis axis : all_of<Axis>()) out.factor[axis] = factor_in_force(plan, axis);
    out.layout = layout_name(plan, e.mesh).name;
    if (plan.layout.zero > 0 && plan.cluster.gpus > 1 && zero_in_force(plan) == 0)
        out.shares_for_nothing =
            "ZeRO " + std::to_string(plan.layout.zero) + " shares nothing: its group, dp_shard, is 1";
    if (!e.step || e.memory.stage.empty()) return out;
    out.any = true;
    out.step_s = e.step->time_s;
    out.memory = e.memory.peak();
    for (std::size_t i = 0; i < plan.cluster.tiers.size(); ++i) {
        double bytes = 0;
        for (const Operation& op : e.comm.operations)
            if (op.tier == static_cast<int>(i) && !op.on_other_stage) bytes += op.sent_bytes_per_rank;
        out.wires.emplace_back(tier_label(plan.cluster, static_cast<int>(i)), bytes);
    }
    return out;
}

std::optional<Axis> PlanChange::paid() const {
    for (const Axis axis : all_of<Axis>())
        if (touched && axis != *touched && changed(axis)) return axis;
    return std::nullopt;
}

double difference(double now, double was) {
    constexpr double kRounding = 1e-9;
    return std::abs(now - was) <= kRounding * std::max(std::abs(now), std::abs(was)) ? 0 : now - was;
}

std::string difference_text(double by, std::string (*text)(double)) {
    if (by == 0) return "";
    return (by < 0 ? "−" : "+") + text(std::abs(by));
}

std::string points_text(double share) {
    return significant(share * 100) + " points";
}

Color color_of_difference(const Theme& theme, double by, bool less_is_better) {
    return (by < 0) == less_is_better ? theme.good : theme.bad;
}

void draw_difference(Ui& ui, Rect& row, double by, bool less_is_better, std::string (*text)(double),
                     float keep) {
    constexpr float kBack = 14, kAfter = 18;  // over the gap that the figure left behind it
    const std::string words = difference_text(by, text);
    if (words.empty()) return;
    TextStyle s = ui.style(12);
    s.color = color_of_difference(ui.theme(), by, less_is_better);
    const float w = ui.canvas().text_width(words, s) + 1;
    if (w - kBack + kAfter > row.w - keep) return;
    ui.canvas().text_in({row.x - kBack, row.y, w, row.h}, words, s);
    row.cut_left(w - kBack + kAfter);
}

}  // namespace pentamesh::ui
