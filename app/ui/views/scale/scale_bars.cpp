#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/scale/view.h"
#include "core/plan/factors.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr double kNoticed = 0.005;  // a smaller difference is not named
constexpr double kBroken = 3;       // times the plan's own step: a longer bar is broken

// Returns the seconds for as many tokens as a step of the plan has.
double same_tokens_s(const Plan& plan, const ScalePoint& p) {
    return tokens_per_step(plan.training) / p.tokens_per_s;
}

// Writes a value of the field that is scaled: sequences are so long that bars have no room for all digits.
std::string value_text(const Scale& s, std::int64_t value) {
    return s.request.over == ScaleOver::sequence ? sequence_text(value) : with_commas(value);
}

// Says which value is the fastest, first of those that fit.
std::string best_words(const Scale& s) {
    const ScalePoint *own = s.at(s.own), *best = s.best(), *fits = nullptr;
    for (const ScalePoint& p : s.points)
        if (p.possible() && p.fit == MemoryFit::yes && (fits == nullptr || p.of_best > fits->of_best))
            fits = &p;
    if (best == nullptr) return "none of these is possible";
    if (own == nullptr || !own->possible()) return value_text(s, best->at) + " is fastest";
    const auto gain = [&](const ScalePoint& p) {
        const double by = own->of_best / p.of_best - 1;
        return (by < 0 ? ": −" : ": +") + percent(std::abs(by));
    };
    const bool own_fits = own->fit == MemoryFit::yes;
    if (fits != nullptr && (!own_fits || own->of_best < (1 - kNoticed) * fits->of_best))
        return value_text(s, fits->at) + (own_fits ? " is faster" + gain(*fits) : " fits" + gain(*fits));
    if (own->of_best < (1 - kNoticed) * best->of_best)
        return value_text(s, best->at) + " is faster" + gain(*best) + ", but does not fit";
    return "this plan's value is the fastest";
}

Color color_of_scale_part(const Theme& theme, const ScalePart& p) {
    switch (p.part) {
    case StepPart::exposed: return color_of(theme, p.axis);
    case StepPart::bubble: return theme.bad;
    case StepPart::optimizer:
    case StepPart::straggler: return mix(theme.text, theme.secondary, 0.6f);
    default: return theme.forward;
    }
}

void fill_scale_part(const ScaleInk& ink, Rect r, const ScalePart& part) {
    const Color color = color_of_scale_part(ink.theme, part);
    if (part.part == StepPart::bubble)
        ink.canvas.pattern(r, Pattern::hatched, color, mix(ink.theme.window, color, 0.22f));
    else if (part.part == StepPart::exposed && ink.paper)
        fill_axis(ink.canvas, ink.theme, r, part.axis);
    else
        ink.canvas.rect(r, color);
}

// Names an axis in its part of a bar, where it has room; on paper the legend does.
void name_axis(const ScaleInk& ink, Rect r, const ScalePart& part) {
    if (part.part != StepPart::exposed || ink.paper) return;
    const TextStyle style = ink.plain(ink_on(color_of(ink.theme, part.axis)));
    const std::string_view name = name_of(part.axis);
    if (r.h >= ink.line() && ink.width(name, style) <= r.w) ink.canvas.text_in(r, name, style, Align::center);
}

// Stacks the parts from the bottom: compute, then what the step waits for.
void draw_stack(const ScaleInk& ink, Rect bar, const ScalePoint& p) {
    float bottom = bar.bottom();
    for (const ScalePart& part : parts_of(p)) {
        const float h = bar.h * static_cast<float>(part.time_s / p.step_s);
        const Rect r{bar.x, bottom - h, bar.w, h};
        fill_scale_part(ink, r, part);
        if (ink.paper && bottom < bar.bottom())
            ink.canvas.line({r.x, bottom}, {r.right(), bottom}, ink.theme.window, 1);
        name_axis(ink, r, part);
        bottom -= h;
    }
}

void draw_strip(const ScaleInk& ink, Rect row, const Plan& plan, const ScalePoint& p) {
    const double hbm = plan.cluster.gpu.hbm_bytes;
    if (hbm <= 0) return;
    const bool fits = p.fit == MemoryFit::yes;
    Rect bar = row.cut_top(4);
    ink.canvas.rect(bar, ink.theme.hairline);
    bar.w *= static_cast<float>(std::min(p.memory_bytes / hbm, 1.0));
    ink.canvas.rect(bar, fits ? ink.theme.memory[1] : ink.theme.bad);
    ink.canvas.text_in({row.x - 8, row.y, row.w + 16, row.h}, gib(p.memory_bytes),
                       fits ? ink.second() : ink.plain(ink.theme.bad), Align::center);
}

struct BarsOf {
    const ScaleInk& ink;
    const Plan& plan;
    double most_s;
};

ScaleBar draw_bar(const BarsOf& of, Rect column, const Scale& s, const ScalePoint& p) {
    const ScaleInk& ink = of.ink;
    const float line = ink.line();
    const bool mine = p.at == s.own;
    const ScaleBar out{column, &s, &p};
    const Rect strip = column.cut_bottom(line + 6);
    const Rect value = column.cut_bottom(line);
    ink.canvas.text_in({value.x - 14, value.y, value.w + 28, value.h}, value_text(s, p.at),
                       mine ? ink.bold() : ink.second(), Align::center);
    const float room = column.h - line;
    if (!p.possible()) {
        const Rect bar{column.x, column.bottom() - room * 0.4f, column.w, room * 0.4f};
        ink.canvas.pattern(bar, Pattern::hatched, ink.theme.bad.alpha(0.6f));
        // The first of several has the word.
        if (&p == &s.points.front() || (&p - 1)->possible())
            ink.canvas.text_in({bar.x - 4, bar.y - line, ink.width("refused", ink.second()), line}, "refused",
                               ink.plain(ink.theme.bad));
        return out;
    }
    const double s_same = same_tokens_s(of.plan, p);
    const bool broken = s_same > of.most_s;
    const float h = room * static_cast<float>(std::min(s_same / of.most_s, 1.0));
    const Rect bar{column.x, column.bottom() - h, column.w, h};
    draw_stack(ink, bar, p);
    if (broken) ink.canvas.rect({bar.x - 1, bar.y + h * 0.14f, bar.w + 2, 4}, ink.theme.window);
    if (mine) ink.canvas.frame(bar.inset(-3), ink.theme.text, 1.6f, 3);
    ink.canvas.text_in({bar.x - 12, bar.y - line - 3, bar.w + 24, line}, three_digits(s_same, Zeros::kept),
                       mine ? ink.bold() : ink.second(), Align::center);
    draw_strip(ink, {strip.x, strip.y + 2, strip.w, strip.h - 2}, of.plan, p);
    return out;
}

}  // namespace

void draw_scale_legend(const ScaleInk& ink, Rect row, const std::vector<Scale>& others) {
    std::vector<ScalePart> seen;
    for (const Scale& s : others)
        for (const ScalePoint& p : s.points) {
            if (!p.possible()) continue;
            for (const ScalePart& part : parts_of(p))
                if (part.time_s > 0 && std::none_of(seen.begin(), seen.end(), [&](const ScalePart& known) {
                        return known.name == part.name;
                    }))
                    seen.push_back(part);
        }
    // As they stand in a bar, from below.
    const auto order = [](const ScalePart& p) {
        return p.part == StepPart::compute ? 0 : p.part == StepPart::exposed ? 1 : 2;
    };
    std::stable_sort(seen.begin(), seen.end(), [&](const ScalePart& a, const ScalePart& b) {
        return std::pair(order(a), a.axis) < std::pair(order(b), b.axis);
    });
    const float mark = ink.small * 1.4f;
    for (const ScalePart& part : seen) {
        const std::string name(part.name);
        Rect item = row.cut_left(mark + 6 + ink.width(name, ink.second()) + ink.small);
        const Rect sample = item.cut_left(mark);
        fill_scale_part(ink, {sample.x, sample.y + row.h * 0.2f, mark, row.h * 0.6f}, part);
        item.cut_left(6);
        ink.canvas.text_in(item, name, ink.second());
    }
}

std::vector<ScaleBar> draw_scale_bars(const ScaleInk& ink, Rect room, const Plan& plan,
                                      const std::vector<Scale>& others) {
    std::vector<ScaleBar> out;
    if (others.empty()) return out;
    const float gap = ink.small * 2.5f, least = ink.small * 17;
    const auto fitting = static_cast<std::size_t>(std::max(1.0f, (room.w + gap) / (least + gap)));
    const std::size_t count = std::min(others.size(), fitting);
    double most = 0, own = 0;
    for (std::size_t i = 0; i < count; ++i)
        for (const ScalePoint& p : others[i].points) {
            if (!p.possible()) continue;
            most = std::max(most, same_tokens_s(plan, p));
            if (p.at == others[i].own) own = same_tokens_s(plan, p);
        }
    const BarsOf of{ink, plan, own > 0 ? std::min(most, kBroken * own) : most};
    const float width = (room.w - gap * static_cast<float>(count - 1)) / static_cast<float>(count);
    for (std::size_t i = 0; i < count; ++i) {
        const Scale& s = others[i];
        Rect panel = room.cut_left(width);
        room.cut_left(gap);
        const std::string name =
            s.request.over == ScaleOver::sequence ? "sequence length" : std::string(name_of(s.request.over));
        ink.canvas.text_in(panel.cut_top(ink.line()), name, ink.head());
        ink.canvas.text_in(panel.cut_top(ink.line()), best_words(s), ink.second());
        panel.cut_top(ink.small * 0.6f);
        const float pitch = panel.w / static_cast<float>(s.points.size());
        const float bar = std::min(pitch * 0.62f, ink.small * 3);
        for (const ScalePoint& p : s.points) {
            const Rect column = panel.cut_left(pitch);
            out.push_back(draw_bar(of, {column.center().x - bar / 2, column.y, bar, column.h}, s, p));
        }
    }
    return out;
}

}  // namespace pentamesh::ui
