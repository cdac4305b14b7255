#include "app/ui/kit/format.h"
#include "app/ui/kit/row_chart.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/scale/view.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kMostTurns = 5, kMostOthers = 4, kMostValues = 6;

// Holds what the parts of the chart share.
struct Chart {
    const ScaleInk& ink;
    const Plan& plan;
    const Scale& scale;
    Plot plot;
    std::vector<ScaleCurve> curves;
    NamePlaces places;
    std::vector<ScaleCurve> outlines{};  // of A

    [[nodiscard]] float x_of(std::size_t i) const {
        return plot.x.at(static_cast<double>(scale.points[i].at));
    }
    // Returns the end of a point's range towards the next point, or towards the one before it.
    [[nodiscard]] float edge(std::size_t i, bool right) const {
        if (right) return i + 1 < scale.points.size() ? (x_of(i) + x_of(i + 1)) / 2 : plot.area.right();
        return i > 0 ? (x_of(i) + x_of(i - 1)) / 2 : plot.area.x;
    }
    [[nodiscard]] Vec2 at(std::size_t i, double s) const {
        return {x_of(i), std::min(plot.y.at(std::max(s, 1e-12)), plot.area.bottom() + 4)};
    }
};

// The larger of two plans sets each end of the axes.
Plot plot_of(const ScaleInk& ink, Rect area, std::span<const Scale* const> scales) {
    double low = 1e300, high = 0, least_step = 1e300, first = 1e300, last = 0;
    for (const Scale* scale : scales) {
        for (const ScalePoint& p : scale->points)
            if (p.possible()) least_step = std::min(least_step, p.step_s);
        for (const ScaleCurve& c : curves_of(ink.theme, *scale))
            for (const double s : c.s)
                if (s > 0) high = std::max(high, s), low = std::min(low, s);
        first = std::min(first, static_cast<double>(scale->points.front().at));
        last = std::max(last, static_cast<double>(scale->points.back().at));
    }
    if (high <= 0) low = 0.5, high = 2, least_step = 1;
    low = std::max(low, 1e-3 * least_step) * 0.7;
    Plot plot;
    plot.area = area;
    plot.y = {low, high * 1.5, ScaleKind::logarithmic, area.bottom(), area.y};
    // The ends leave room for half of a value's range, in which its words and a refusal stand.
    const float pad = std::min(ink.small * 2.6f, area.w * 0.1f);
    plot.x = {first, last > first ? last : first * 2, ScaleKind::logarithmic, area.x + pad,
              area.right() - pad};
    return plot;
}

void draw_grid(const Chart& c) {
    const ScaleInk& ink = c.ink;
    const Rect area = c.plot.area;
    const int count = std::max(2, static_cast<int>(area.h / (ink.small * 4)));
    for (const double v : round_ticks(c.plot.y, count)) {
        const float y = c.plot.y.at(v);
        ink.canvas.line({area.x, y}, {area.right(), y}, ink.theme.hairline);
        const float h = ink.line();
        ink.canvas.text_in({area.x - 90, y - h / 2, 84, h}, pentamesh::time_text(v), ink.second(),
                           Align::right);
    }
}

// Hatches a band between two heights that follow x, from corner to corner.
void hatch_between(const Chart& c, const std::vector<Vec2>& upper, const std::vector<Vec2>& lower) {
    const auto height = [](const std::vector<Vec2>& of, float x) {
        std::size_t i = 1;
        while (i + 1 < of.size() && of[i].x < x) ++i;
        const float t = std::clamp((x - of[i - 1].x) / std::max(of[i].x - of[i - 1].x, 1e-3f), 0.0f, 1.0f);
        return of[i - 1].y + t * (of[i].y - of[i - 1].y);
    };
    if (upper.size() < 2) return;
    constexpr float kEvery = 5;
    const bool falls = upper.back().y > upper.front().y;
    for (float x = upper.front().x; x <= upper.back().x; x += kEvery) {
        const float y = height(lower, x);
        if (y - height(upper, x) < 2) continue;
        const float end = falls ? upper.back().x - x : x - upper.front().x;
        float from = 0, to = std::min(y - height(upper, x), end);
        const auto place = [&](float d) { return falls ? x + d : x - d; };
        for (int i = 0; i < 12; ++i) {
            const float d = (from + to) / 2;
            (y - d > height(upper, place(d)) ? from : to) = d;
        }
        c.ink.canvas.line({x, y}, {place(from), y - from}, c.ink.theme.bad.alpha(0.75f), 0.9f);
    }
}

// Returns the runs of points at which the curve is there.
std::vector<std::vector<Vec2>> runs_of(const Chart& c, const ScaleCurve& curve) {
    std::vector<std::vector<Vec2>> out(1);
    for (std::size_t i = 0; i < curve.s.size(); ++i) {
        if (curve.s[i] > 0)
            out.back().push_back(c.at(i, curve.s[i]));
        else if (!out.back().empty())
            out.emplace_back();
    }
    if (out.back().empty()) out.pop_back();
    return out;
}

const ScaleCurve* curve_named(const Chart& c, std::string_view name) {
    const auto at = std::ranges::find(c.curves, name, &ScaleCurve::name);
    return at == c.curves.end() ? nullptr : &*at;
}
const ScaleCurve* whole_of(const Chart& c, std::string_view name) {
    const auto at = std::ranges::find(c.curves, name, &ScaleCurve::all_of);
    return at == c.curves.end() ? nullptr : &*at;
}

// Fills the band of an axis between what waits and all of it.
void draw_bands(const Chart& c) {
    for (const ScaleCurve& all : c.curves) {
        if (all.all_of.empty()) continue;
        const ScaleCurve* waits = curve_named(c, all.all_of);
        for (std::size_t i = 1; i < all.s.size(); ++i) {
            if (all.s[i - 1] <= 0 || all.s[i] <= 0) continue;
            const auto below = [&](std::size_t k) { return c.at(k, waits != nullptr ? waits->s[k] : 0); };
            c.ink.canvas.polygon({c.at(i - 1, all.s[i - 1]), c.at(i, all.s[i]), below(i), below(i - 1)},
                                 all.color.alpha(0.1f));
        }
    }
}

void draw_curves(Chart& c) {
    const Canvas::Clip clip = c.ink.canvas.clip(c.plot.area);
    draw_bands(c);
    const ScaleCurve *step = curve_named(c, "step"), *perfect = curve_named(c, "perfect");
    const auto steps = runs_of(c, *step), perfects = runs_of(c, *perfect);
    for (std::size_t i = 0; i < steps.size(); ++i) hatch_between(c, steps[i], perfects[i]);
    for (const ScaleCurve& curve : c.curves)
        for (const auto& run : runs_of(c, curve)) {
            if (run.size() > 1) c.ink.canvas.polyline(run, curve.color, curve.width, false, curve.dash);
            if (run.size() == 1) c.ink.canvas.circle(run[0], curve.width + 0.6f, curve.color);
            for (std::size_t k = 1; k < run.size(); ++k) c.places.add_line(run[k - 1], run[k]);
        }
}

void draw_refused(Chart& c) {
    const ScaleInk& ink = c.ink;
    const auto& points = c.scale.points;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (points[i].possible()) continue;
        std::size_t last = i;
        while (last + 1 < points.size() && !points[last + 1].possible()) ++last;
        const float left = c.edge(i, false), right = c.edge(last, true);
        const Rect range{left, c.plot.area.y, right - left, c.plot.area.h};
        ink.canvas.pattern(range, Pattern::hatched, ink.theme.bad.alpha(0.55f));
        const std::string why =
            points[i].code ? std::string(title_of(*points[i].code)) : std::string("no time comes out");
        const float w = std::min(range.w - 4, std::max(ink.width("refused", ink.bold()), ink.small * 11));
        const float h = ink.canvas.paragraph_height(w - 6, why, ink.second(), ink.line());
        i = last;
        if (w < ink.width("refused", ink.bold()) + 6) continue;
        Rect box{range.center().x - w / 2, range.y + range.h * 0.36f, w, ink.line() + h + 6};
        ink.canvas.rect(box, ink.theme.window, 3);
        c.places.add_box(range);
        box = box.inset(3, 3);
        ink.canvas.text_in(box.cut_top(ink.line()), "refused", ink.bold(ink.theme.bad));
        ink.canvas.paragraph(box, why, ink.second(), ink.line());
    }
}

// Draws a dotted line where a number of GPUs leaves a tier's domain.
void draw_tiers(Chart& c) {
    if (c.scale.request.over != ScaleOver::gpus) return;
    const ScaleInk& ink = c.ink;
    const Cluster& cluster = c.plan.cluster;
    float y = c.plot.area.y + 4;
    for (int t = 0; t + 1 < static_cast<int>(cluster.tiers.size()); ++t) {
        const auto domain = static_cast<double>(domain_of(cluster, t));
        if (domain <= c.plot.x.low || domain >= c.plot.x.high) continue;
        const float x = c.plot.x.at(domain);
        ink.canvas.line({x, c.plot.area.y}, {x, c.plot.area.bottom()}, ink.theme.secondary, 1.4f,
                        Dash::dotted);
        const std::string words =
            "beyond " + whole_text(domain) + ": " + std::string(tier_name(cluster, t + 1));
        const float w = ink.width(words, ink.second());
        const bool right = x + w + 8 < c.plot.area.right();
        const Rect box{right ? x + 6 : x - w - 6, y, w, ink.line()};
        ink.canvas.text_in(box, words, ink.second());
        c.places.add_box(box);
        y += ink.line();
    }
}

void draw_names(Chart& c) {
    const ScaleInk& ink = c.ink;
    for (auto it = c.curves.rbegin(); it != c.curves.rend(); ++it) {
        const ScaleCurve& curve = *it;
        std::vector<Vec2> line;
        for (const auto& run : runs_of(c, curve))
            if (run.size() > line.size()) line = run;
        if (line.size() < 2) continue;
        const bool thin = curve.dash != Dash::solid;
        const TextStyle name = thin ? ink.plain(curve.color) : ink.bold(curve.color);
        const float w = ink.width(curve.name, name);
        const float note = curve.note.empty() ? 0 : ink.width(" " + curve.note, ink.second());
        Rect box = c.places.beside(line, {w + note, ink.line()});
        if (box.empty() && note > 0) box = c.places.beside(line, {w, ink.line()});
        if (box.empty()) continue;
        ink.canvas.text_in({box.x, box.y, w, box.h}, curve.name, name);
        if (box.w > w + 1)
            ink.canvas.text_in({box.x + w, box.y, note, box.h}, " " + curve.note, ink.second());
    }
}

// Names the outlines of A where a name has room: those of what is drawn bold.
void name_outlines(Chart& c, const Scale* a) {
    if (a == nullptr) return;
    const ScaleInk& ink = c.ink;
    const Chart of_a{ink, c.plan, *a, c.plot, {}, NamePlaces({}, 0)};
    for (auto it = c.outlines.rbegin(); it != c.outlines.rend(); ++it) {
        if (it->dash != Dash::solid) continue;
        for (const auto& run : runs_of(of_a, *it)) {
            const std::string words = "A: " + it->name;
            const TextStyle style = ink.plain(it->color);
            if (run.size() < 2) continue;
            const Rect box = c.places.beside(run, {ink.width(words, style), ink.line()});
            if (box.empty()) continue;
            ink.canvas.text_in(box, words, style);
            break;
        }
    }
}

constexpr double kSameCurve = 0.02;  // as for a question of what a change does

// Returns true if a curve of A runs as that of its name does, wherever both have a point.
bool runs_alike(const Chart& c, const Scale& a, const ScaleCurve& curve) {
    const ScaleCurve* now = curve_named(c, curve.name);
    if (now == nullptr) return false;
    for (std::size_t i = 0; i < a.points.size(); ++i)
        for (std::size_t k = 0; k < c.scale.points.size(); ++k) {
            if (c.scale.points[k].at != a.points[i].at) continue;
            const double was = curve.s[i], is = now->s[k];
            if ((was > 0) != (is > 0) || std::abs(was - is) > kSameCurve * std::max(was, is)) return false;
        }
    return true;
}

// Draws the curves of A that are others now as outlines. Returns true if there is one.
bool draw_outline(Chart& c, const Scale& a) {
    const ScaleInk& ink = c.ink;
    Chart of_a{ink, c.plan, a, c.plot, {}, NamePlaces({}, 0)};
    for (ScaleCurve& curve : curves_of(ink.theme, a))
        if (curve.name != "perfect" && !runs_alike(c, a, curve)) of_a.curves.push_back(std::move(curve));
    const Canvas::Clip clip = ink.canvas.clip(c.plot.area);
    for (ScaleCurve& curve : of_a.curves) {
        const bool whole = curve.dash == Dash::solid;
        for (const auto& run : runs_of(of_a, curve)) {
            if (run.size() > 1)
                ink.canvas.polyline(run, curve.color, whole ? 1.3f : 1.0f, false,
                                    whole ? Dash::dashed : Dash::dotted);
            if (run.size() == 1) ink.canvas.ring(run[0], 3, curve.color, 1.3f);
            for (std::size_t k = 1; k < run.size(); ++k) c.places.add_line(run[k - 1], run[k]);
        }
        for (std::size_t i = 0; i < curve.s.size(); ++i)
            if (whole && curve.s[i] > 0 && a.points[i].at == a.own) {
                ink.canvas.circle(of_a.at(i, curve.s[i]), 3.6f, ink.theme.window);
                ink.canvas.ring(of_a.at(i, curve.s[i]), 3.6f, curve.color, 1.3f);
            }
    }
    c.outlines = std::move(of_a.curves);
    return !c.outlines.empty();
}

// Marks the plan's own value.
void draw_own(Chart& c) {
    const ScaleInk& ink = c.ink;
    const auto own = static_cast<double>(c.scale.own);
    if (c.scale.at(c.scale.own) == nullptr) return;
    const float x = c.plot.x.at(own);
    const Rect area = c.plot.area;
    ink.canvas.line({x, area.y - 2}, {x, area.bottom()}, ink.theme.text, 1.6f);
    const std::string words = "this plan: " + value_words(c.scale.request.over, own);
    const float w = ink.width(words, ink.bold()) + 12, h = ink.line() + 2;
    const Rect box{held_between(x - w / 2, area.x, area.right() - w), area.y - h - 2, w, h};
    ink.canvas.rect(box, ink.theme.text, 3);
    ink.canvas.text_in(box, words, ink.bold(ink.theme.window), Align::center);
    for (std::size_t i = 0; i < c.scale.points.size(); ++i) {
        if (c.scale.points[i].at != c.scale.own) continue;
        for (const ScaleCurve& curve : c.curves)
            if (curve.s[i] > 0 && curve.dash == Dash::solid && c.at(i, curve.s[i]).y <= area.bottom()) {
                ink.canvas.circle(c.at(i, curve.s[i]), 5, ink.theme.window);
                ink.canvas.circle(c.at(i, curve.s[i]), 3.6f, curve.color);
            }
    }
}

// Returns the height of a curve at a value between two points.
float height_at(const Chart& c, const ScaleCurve& curve, double at) {
    for (std::size_t i = 0; i < curve.s.size(); ++i) {
        const auto here = static_cast<double>(c.scale.points[i].at);
        if (here < at || curve.s[i] <= 0) continue;
        const Vec2 b = c.at(i, curve.s[i]);
        if (here == at || i == 0 || curve.s[i - 1] <= 0) return b.y;
        const Vec2 a = c.at(i - 1, curve.s[i - 1]);
        return a.y + (b.y - a.y) * (c.plot.x.at(at) - a.x) / std::max(b.x - a.x, 1e-3f);
    }
    return c.plot.area.bottom();
}

void draw_numbers(Chart& c) {
    const ScaleInk& ink = c.ink;
    const float r = ink.small * 0.72f;
    for (const NamedTurn& t : named_turns(c.scale)) {
        if (t.number == 0) continue;
        std::string_view name = t.of->of_axis() ? name_of(t.of->axis) : "step";
        if (t.of->turn == ScaleTurn::bubble) name = "bubble";
        const ScaleCurve* curve = curve_named(c, name);
        if (t.of->turn == ScaleTurn::passes_compute || curve == nullptr)
            if (const ScaleCurve* all = whole_of(c, name)) curve = all;
        if (curve == nullptr) continue;
        const Vec2 at{c.plot.x.at(t.of->at),
                      std::min(height_at(c, *curve, t.of->at), c.plot.area.bottom() - r)};
        ink.canvas.circle(at, r, ink.theme.window);
        ink.canvas.ring(at, r, ink.theme.text, 1.4f);
        ink.canvas.text_in({at.x - r, at.y - r, 2 * r, 2 * r}, std::to_string(t.number), ink.bold(),
                           Align::center);
        c.places.add_box({at.x - r, at.y - r, 2 * r, 2 * r});
    }
}

// Writes the values below the plot, each with its share of the best rate.
void draw_foot(const Chart& c, Rect foot, bool shares) {
    const ScaleInk& ink = c.ink;
    float free_from = -1e9f;
    const Rect values = foot.cut_top(ink.line());
    const auto words_at = [&](std::size_t i) { return with_commas(c.scale.points[i].at); };
    const auto span = [&](std::size_t i) {
        const float w = std::max(ink.width(words_at(i), ink.bold()), ink.width("99.9 %", ink.bold()));
        return Rect{c.x_of(i) - w / 2, values.y, w, values.h};
    };
    Rect own{};
    for (std::size_t i = 0; i < c.scale.points.size(); ++i)
        if (c.scale.points[i].at == c.scale.own) own = span(i);
    for (std::size_t i = 0; i < c.scale.points.size(); ++i) {
        const ScalePoint& p = c.scale.points[i];
        const bool mine = p.at == c.scale.own;
        const Rect at = span(i);
        const bool meets_own = own.w > 0 && at.x < own.right() + 6 && at.right() > own.x - 6;
        if (!mine && (at.x < free_from || meets_own)) continue;
        free_from = at.right() + 6;
        const TextStyle style = mine ? ink.bold() : ink.second();
        ink.canvas.text_in(at, words_at(i), style, Align::center);
        if (!shares || !p.possible()) continue;
        Rect bar{at.x, foot.y + 1, at.w, 4};
        const float kept = bar.w * static_cast<float>(p.of_best);
        ink.canvas.pattern(bar, Pattern::hatched, ink.theme.bad);
        bar.w = kept;
        ink.canvas.rect(bar, ink.theme.text, 1);
        ink.canvas.text_in({at.x, foot.y + 6, at.w, ink.line()}, percent_text(p.of_best), style,
                           Align::center);
    }
}

// Keeps the nearest of the refusals at each end, and the plan's own value: the others take room and say no
// more.
void drop_far_refusals(Scale& scale) {
    std::vector<ScalePoint>& p = scale.points;
    const auto is_far = [&](std::size_t at, std::size_t next) {
        return !p[at].possible() && !p[next].possible() && p[at].at != scale.own;
    };
    while (p.size() > 2 && is_far(p.size() - 1, p.size() - 2)) p.pop_back();
    while (p.size() > 2 && is_far(0, 1)) p.erase(p.begin());
}

}  // namespace

ScalePicture scale_picture_of(const Plan& plan, const ScaleRequest& request,
                              const std::atomic<bool>* cancelled) {
    ScalePicture out{scale_of(plan, request, cancelled), {}};
    drop_far_refusals(out.scale);
    for (const ScaleOver over : {ScaleOver::tp, ScaleOver::cp, ScaleOver::ep, ScaleOver::pp,
                                 ScaleOver::sequence, ScaleOver::batch}) {
        if (over == request.over || (over == ScaleOver::ep && !plan.model.moe)) continue;
        if (out.others.size() >= kMostOthers || (cancelled != nullptr && *cancelled)) break;
        Scale other = scale_of(plan, {.over = over, .most_values = kMostValues}, cancelled);
        if (other.points.size() > 1) out.others.push_back(std::move(other));
    }
    return out;
}

std::vector<NamedTurn> named_turns(const Scale& scale) {
    constexpr std::array kFirst{ScaleTurn::refused,        ScaleTurn::memory,      ScaleTurn::groups,
                                ScaleTurn::passes_compute, ScaleTurn::leaves_tier, ScaleTurn::bubble,
                                ScaleTurn::waits};
    static_assert(kFirst.size() == kNames<ScaleTurn>.size());
    std::vector<NamedTurn> out;
    for (const ScaleTurn turn : kFirst)
        for (const ScaleCrossing& c : scale.crossings)
            if (c.turn == turn && out.size() < kMostTurns) out.push_back({&c, 0});
    std::stable_sort(out.begin(), out.end(),
                     [](const NamedTurn& a, const NamedTurn& b) { return a.of->at < b.of->at; });
    int number = 0;
    for (NamedTurn& t : out)
        if (t.of->turn != ScaleTurn::refused) t.number = ++number;
    return out;
}

Plot draw_scale_plot(const ScaleInk& ink, Rect room, const Plan& plan, const ScalePicture& picture) {
    const Scale& scale = picture.scale;
    std::vector<const Scale*> scales{&scale};
    if (const Scale* beside = picture.beside_over(scale.request); beside != nullptr) scales.push_back(beside);
    const bool shares = room.h > ink.line() * 12;
    const Rect head = room.cut_top(ink.line() + 6);
    const Rect foot = room.cut_bottom(ink.line() * (shares ? 2.0f : 1.0f) + (shares ? 8.0f : 2.0f));
    float label = 0;
    for (const double v : round_ticks(plot_of(ink, room, scales).y, 8))
        label = std::max(label, ink.width(pentamesh::time_text(v), ink.second()));
    room.cut_left(label + 6);
    const Plot plot = plot_of(ink, room, scales);
    Chart c{ink, plan, scale, plot, curves_of(ink.theme, scale), NamePlaces(room, ink.small * 0.5f)};
    // The words keep clear of the label of the plan's value.
    const bool own_left =
        scale.at(scale.own) != nullptr && plot.x.at(static_cast<double>(scale.own)) < room.x + room.w * 0.5f;
    draw_grid(c);
    draw_refused(c);
    draw_tiers(c);
    draw_curves(c);
    const Scale* a = picture.outline_over(scale.request);
    const bool outlined = a != nullptr && draw_outline(c, *a);
    std::string said = "seconds of a step, both axes logarithmic";
    const Rect said_in{head.x, head.y, room.right() - head.x, ink.line()};
    if (const std::string more = said + "; thin dashes: A, before";
        outlined && ink.width(more, ink.second()) <= said_in.w)
        said = more;
    ink.canvas.text_in(said_in, said, ink.second(), own_left ? Align::right : Align::left);
    draw_own(c);
    if (ink.numbered) draw_numbers(c);
    if (c.scale.at(c.scale.own) != nullptr) {
        const float x = plot.x.at(static_cast<double>(scale.own));
        c.places.add_line({x, room.y}, {x, room.bottom()});
    }
    draw_names(c);
    name_outlines(c, a);
    draw_foot(c, {room.x, foot.y + 2, room.w, foot.h}, shares);
    return plot;
}

const Scale* ScalePicture::beside_over(const ScaleRequest& request) const {
    if (beside == nullptr) return nullptr;
    const auto is_of = [&](const Scale& s) { return s.request == request && !s.points.empty(); };
    if (is_of(beside->scale)) return &beside->scale;
    const auto at = std::ranges::find_if(beside->others, is_of);
    return at == beside->others.end() ? nullptr : &*at;
}

std::shared_ptr<const ScalePicture> scale_picture_of(const Plan& plan, const ScaleBeside& beside,
                                                     const ScaleRequest& request,
                                                     const std::shared_ptr<const ScalePicture>& known,
                                                     const std::atomic<bool>* cancelled) {
    const auto single = [&](const Plan& of) {
        for (const ScalePicture* k = known.get(); k != nullptr; k = k->beside.get())
            if (k->scale.request == request && k->plan != nullptr && *k->plan == of)
                return ScalePicture{k->scale, k->others, k->plan, nullptr, false};
        ScalePicture made = scale_picture_of(of, request, cancelled);
        made.plan = std::make_shared<const Plan>(of);
        return made;
    };
    ScalePicture out = single(plan);
    if (beside.plan != nullptr) {
        out.beside = std::make_shared<const ScalePicture>(single(*beside.plan));
        out.outlined = beside.outlined;
    }
    return std::make_shared<const ScalePicture>(std::move(out));
}

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
        if (p.possible() && pentamesh::fits(p.fit) && (fits == nullptr || p.of_best > fits->of_best))
            fits = &p;
    if (best == nullptr) return "none of these is possible";
    if (own == nullptr || !own->possible()) return value_text(s, best->at) + " is fastest";
    const auto gain = [&](const ScalePoint& p) {
        const double by = own->of_best / p.of_best - 1;
        return (by < 0 ? ": −" : ": +") + percent(std::abs(by));
    };
    const bool own_fits = pentamesh::fits(own->fit);
    if (fits != nullptr && (!own_fits || own->of_best < (1 - kNoticed) * fits->of_best))
        return value_text(s, fits->at) + (own_fits ? " is faster" + gain(*fits) : " fits" + gain(*fits));
    if (own->of_best < (1 - kNoticed) * best->of_best)
        return value_text(s, best->at) + " is faster" + gain(*best) + ", but does not fit";
    return best == own ? "this plan's value is the fastest" : "no value is noticeably faster";
}

Color color_of_scale_part(const Theme& theme, const ScalePart& p) {
    switch (p.part) {
    case StepPart::exposed: return color_of(theme, p.axis);
    case StepPart::bubble: return theme.bad;
    case StepPart::optimizer:
    case StepPart::offload:
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
    // The shards of one weight lie over cp too; where both names have no room the one that cuts is enough.
    std::string name = axis_label(part.axis);
    if (part.axis == GroupKind::fsdp && ink.width(name, style) > r.w) name = name_of(Axis::dp_shard);
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
    const bool fits = pentamesh::fits(p.fit);
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
    const ScalePicture& picture;
};

// Draws A's step at the same value over a bar, as far as the scale reaches.
void outline_bar(const BarsOf& of, Rect column, float room, const Scale& s, const ScalePoint& p) {
    const Scale* a = of.picture.outline_over(s.request);
    const ScalePoint* was = a == nullptr ? nullptr : a->at(p.at);
    if (was == nullptr || !was->possible()) return;
    const double s_was = same_tokens_s(of.plan, *was), s_is = p.possible() ? same_tokens_s(of.plan, p) : 0;
    if (std::abs(s_was - s_is) <= kSameCurve * std::max(s_was, s_is)) return;
    const float h = room * static_cast<float>(std::min(s_was / of.most_s, 1.0));
    of.ink.canvas.frame({column.x, column.bottom() - h, column.w, h}, of.ink.theme.text, 1.3f, 0,
                        Dash::dashed);
}

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
        outline_bar(of, column, room, s, p);
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
    outline_bar(of, column, room, s, p);
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
    const Ink of_lines{ink.canvas, ink.theme, ink.plain(), ink.bold(), ink.second(), row.h};
    LegendLines lines{
        .ink = of_lines, .room = row, .mark = {ink.small * 1.4f, row.h * 0.6f}, .apart = ink.small};
    for (const ScalePart& part : seen)
        lines.item(part.name, [&](Rect mark) { fill_scale_part(ink, mark, part); });
}

std::vector<ScaleBar> draw_scale_bars(const ScaleInk& ink, Rect room, const Plan& plan,
                                      const ScalePicture& picture) {
    const std::vector<Scale>& others = picture.others;
    std::vector<ScaleBar> out;
    if (others.empty()) return out;
    const float gap = ink.small * 2.5f, least = ink.small * 17;
    const auto fitting = static_cast<std::size_t>(std::max(1.0f, (room.w + gap) / (least + gap)));
    const std::size_t count = std::min(others.size(), fitting);
    double most = 0, own = 0;
    for (std::size_t i = 0; i < count; ++i)
        for (const Scale* s : {&others[i], picture.beside_over(others[i].request)}) {
            if (s == nullptr) continue;
            for (const ScalePoint& p : s->points) {
                if (!p.possible()) continue;
                most = std::max(most, same_tokens_s(plan, p));
                if (p.at == s->own) own = std::max(own, same_tokens_s(plan, p));
            }
        }
    const BarsOf of{ink, plan, own > 0 ? std::min(most, kBroken * own) : most, picture};
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
