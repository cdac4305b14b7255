#include "app/ui/scene/colors.h"

#include <algorithm>
#include <array>
#include <cmath>

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
    case GroupKind::gtp_remat: return axis(Axis::dp_shard);
    case GroupKind::dp_replicate:
    case GroupKind::dp:
    case GroupKind::dp_cp:
    case GroupKind::dp_without_gtp_remat:
    case GroupKind::dp_cp_without_gtp_remat:
    case GroupKind::edp: return axis(Axis::dp_replicate);
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
    case StepPart::exposed: return color_of(t, s.group);
    case StepPart::bubble:
    case StepPart::uneven:
    case StepPart::straggler: return t.bad;
    case StepPart::optimizer: return mix(t.text, t.secondary, 0.6f);
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
    case GroupKind::edp: return canvas.pattern(bar, Pattern::cross_hatched, ink);
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
    case GroupKind::edp: return polygon(Vec2{0, -1.4f}, Vec2{1.4f, 0}, Vec2{0, 1.4f}, Vec2{-1.4f, 0});
    case GroupKind::pp:
    case GroupKind::mp: return polygon(Vec2{0, -1.4f}, Vec2{1.4f, 1}, Vec2{-1.4f, 1});
    case GroupKind::cp:
    case GroupKind::tp_cp:
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

}  // namespace pentamesh::ui
