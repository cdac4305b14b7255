#include "app/ui/views/search/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "core/plan/factors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pentamesh::ui {

namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr float kReach = 14;
constexpr std::size_t kFewDots = 2500;  // up to so many dots are round

void limit_line(Ui& ui, const Plot& plot, double bytes, const std::string& words, Color color, Dash dash,
                bool to_the_left, float free_from, float beside) {
    const float x = plot.x.at(bytes);
    if (x <= plot.area.x || x > plot.area.right() + 1) return;
    Canvas& c = ui.canvas();
    c.line({x, plot.area.y - 4}, {x, plot.area.bottom()}, color, 1.5f, dash);
    const TextStyle s = ui.small().in(color);
    // The words stand above the plot, where no dot lies, or below the axis's title.
    const float w = c.text_width(words, s) + 2, y = plot.area.y - 18;
    const float at = to_the_left ? x - w - 5 : std::min(x - 2, plot.area.right() - w);
    if (at >= free_from)
        c.text_in({at, y, w, 16}, words, s);
    else
        c.text_in({beside, plot.area.y + (to_the_left ? 18.0f : 0.0f), w, 16}, words, s);
}

// Draws the layouts that no other beats in both as stairs: between two of them there is no layout.
void draw_front(Ui& ui, const Plot& plot, const SearchFound& found, double tokens) {
    std::vector<Vec2> stairs, corners;
    for (const FoundLayout& p : found.front) {
        if (p.step_s <= 0) continue;
        const Vec2 at = plot.at(p.memory_bytes, tokens / p.step_s);
        if (!stairs.empty()) stairs.push_back({at.x, stairs.back().y});
        stairs.push_back(at);
        corners.push_back(at);
    }
    if (stairs.size() > 1) ui.canvas().polyline(stairs, ui.theme().text, 1.2f);
    for (const Vec2 at : corners) ui.canvas().ring(at, 4, ui.theme().text, 1.2f);
}

// Writes a word next to a corner of the front, on a ground that covers dots.
void name_corner(Ui& ui, const Plot& plot, Vec2 at, const std::string& words, bool above) {
    const TextStyle style = ui.style(12, Tone::text, Face::semibold);
    const float w = ui.canvas().text_width(words, style) + 4;
    const float x = std::clamp(at.x - w / 2, plot.area.x + 2,
                               std::max(plot.area.x + 2, plot.area.right() - w)),
                y = above ? at.y - 24 : at.y + 8;
    write_plate(ui, {x, std::clamp(y, plot.area.y, plot.area.bottom() - 16), w, 16}, words, style,
                ui.theme().window.alpha(0.85f), 2);
}

// Names the ends of the front: the fastest layout, with its gain over the plan, and the one of least memory.
void name_corners(Ui& ui, const Scene& scene, const Plot& plot, const SearchFound& found, double tokens) {
    if (found.front.empty()) return;
    const auto place = [&](const FoundLayout& p) {
        return plot.at(p.memory_bytes, p.step_s > 0 ? tokens / p.step_s : 0);
    };
    const FoundLayout &fast = found.front.back(), &lean = found.front.front();
    std::string fastest = "fastest";
    if (scene.evaluation.step && fast.step_s > 0) {
        const double now = scene.evaluation.step->time_s, by = (now - fast.step_s) / now;
        if (by > 0.001) fastest += ": step −" + percent(by);
    }
    name_corner(ui, plot, place(fast), fastest, true);
    if (found.front.size() > 1) name_corner(ui, plot, place(lean), "least memory", false);
}

std::int64_t degree_of(const LayoutChoice& choice, Axis axis) {
    return axis == Axis::pp ? choice.pp : choice.tp;
}

// Returns the colour of a degree: one is near the ground, the largest is the axis' own colour.
Color color_of_degree(const Theme& theme, Axis axis, std::int64_t degree, std::int64_t most) {
    const Color full = theme.axis[static_cast<std::size_t>(axis)];
    const double k =
        most > 1 ? std::log2(static_cast<double>(degree)) / std::log2(static_cast<double>(most)) : 1;
    return mix(mix(theme.window, theme.secondary, 0.75f), full, static_cast<float>(k));
}

std::int64_t most_degree(const SearchFound& found, const SearchDots& dots, Axis axis) {
    std::int64_t most = 1;
    for (const SearchDots::Dot& d : dots.dots)
        most = std::max(most, degree_of(found.points[d.point].choice, axis));
    return most;
}

void draw_dots(Ui& ui, const SearchFound& found, const SearchDots& dots, Axis axis, std::int64_t most) {
    const bool round = dots.dots.size() <= kFewDots;
    for (const SearchDots::Dot& d : dots.dots) {
        const Color color =
            color_of_degree(ui.theme(), axis, degree_of(found.points[d.point].choice, axis), most);
        if (round)
            ui.canvas().circle(d.at, 2.2f, color);
        else
            ui.canvas().rect({d.at.x - 1.5f, d.at.y - 1.5f, 3, 3}, color);
    }
}

// Draws the switch between the axes, and a dot for each degree that is shown.
void draw_degrees(Ui& ui, Rect row, Axis& axis, std::int64_t most) {
    static constexpr std::string_view kAxes[] = {"tp", "pp"};
    Rect place = row;
    place.w = 84;
    const int picked = ui.segments("search.color", place, kAxes, axis == Axis::pp ? 1 : 0);
    axis = picked == 1 ? Axis::pp : Axis::tp;
    float x = place.right() + 12;
    for (std::int64_t degree = 1; degree <= most; degree *= 2) {
        const std::string words = thousands(degree);
        const float w = ui.canvas().text_width(words, ui.small());
        if (x + w + 20 > row.right()) break;
        ui.canvas().circle({x + 4, row.center().y}, 4, color_of_degree(ui.theme(), axis, degree, most));
        ui.canvas().text_in({x + 12, row.y, w + 2, row.h}, words, ui.small());
        x += w + 26;
    }
}

void draw_own(Ui& ui, const Scene& scene, const Plot& plot) {
    const Evaluation& e = scene.evaluation;
    if (!e.step || e.memory.stage.empty()) return;
    Canvas& c = ui.canvas();
    const Vec2 at = plot.at(e.memory.peak(), e.step->tokens_per_s);
    const Color color = ui.theme().text;
    c.line({at.x - 7, at.y}, {at.x + 7, at.y}, color, 2);
    c.line({at.x, at.y - 7}, {at.x, at.y + 7}, color, 2);
    const TextStyle s = ui.small().in(color);
    const float w = c.text_width("this plan", s) + 2;
    const bool left = at.x + 12 + w > plot.area.right();
    const Rect words{left ? at.x - 12 - w : at.x + 12, at.y - 8, w, 16};
    // The words are readable over dots and limits.
    c.rect({words.x - 2, words.y, words.w + 2, words.h}, ui.theme().window.alpha(0.8f), 2);
    c.text_in(words, "this plan", s);
}

}  // namespace

SearchAxes axes_of(const SearchFound& found, const Plan& plan, const Evaluation& e) {
    SearchAxes a;
    const double tokens = tokens_per_step(plan.training);
    double least = e.step ? e.step->tokens_per_s : std::numeric_limits<double>::infinity();
    double most = e.step ? least : 0;
    for (const FoundLayout& p : found.points) {
        if (p.step_s <= 0) continue;
        least = std::min(least, tokens / p.step_s);
        most = std::max(most, tokens / p.step_s);
    }
    if (most <= 0) least = most = 1;  // nothing to show yet
    a.memory_to =
        std::max(plan.cluster.gpu.hbm_bytes * 1.08, e.memory.stage.empty() ? 0 : e.memory.peak() * 1.08);
    const double span = std::max(most - least, most * 0.2);
    a.tokens_from = std::max(0.0, least - span * 0.06);
    a.tokens_to = most + span * 0.08;
    return a;
}

void make_dots(const SearchFound& found, double tokens, const Plot& plot, SearchDots& out) {
    out.plot = plot;
    out.dots.clear();
    out.most_layouts = 0;
    if (plot.area.empty()) return;  // the view is small
    const float side = std::max(
        3.0f, std::ceil(std::sqrt(plot.area.w * plot.area.h / static_cast<float>(SearchDots::kMost))));
    const int columns = static_cast<int>(plot.area.w / side) + 1,
              rows = static_cast<int>(plot.area.h / side) + 1;
    std::vector<int> place(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), -1);
    for (std::size_t i = 0; i < found.points.size(); ++i) {
        const FoundLayout& p = found.points[i];
        if (p.step_s <= 0) continue;
        const Vec2 at = plot.at(p.memory_bytes, tokens / p.step_s);
        const int col = std::clamp(static_cast<int>((at.x - plot.area.x) / side), 0, columns - 1),
                  row = std::clamp(static_cast<int>((at.y - plot.area.y) / side), 0, rows - 1);
        int& slot = place[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns)
                          + static_cast<std::size_t>(col)];
        if (slot < 0) {
            if (out.dots.size() >= static_cast<std::size_t>(SearchDots::kMost)) continue;
            slot = static_cast<int>(out.dots.size());
            out.dots.push_back({at, 0, i});
        }
        SearchDots::Dot& dot = out.dots[static_cast<std::size_t>(slot)];
        if (p.step_s < found.points[dot.point].step_s) dot.at = at, dot.point = i;
        out.most_layouts = std::max(out.most_layouts, ++dot.layouts);
    }
}

std::optional<LayoutChoice> draw_search_plot(Ui& ui, Rect room, const Scene& scene, const SearchFound& found,
                                             KeptDots& kept, Axis& colored_by, bool& clicked) {
    const Rect degrees = room.h > 240 ? room.cut_bottom(26) : Rect{};
    const SearchAxes axes = axes_of(found, scene.plan, scene.evaluation);
    const double tokens = tokens_per_step(scene.plan.training), hbm = scene.plan.cluster.gpu.hbm_bytes;
    PlotAxis x{.low = 0, .high = axes.memory_to, .label = [](double v) { return significant(v / kGiB); }};
    x.unit = kGiB;
    x.spacing = 64;
    PlotAxis y{
        .low = axes.tokens_from, .high = axes.tokens_to, .label = [](double v) { return count_text(v); }};
    y.title = "tokens/s, against GiB of the fullest GPU";
    const Plot plot = draw_axes(ui, room, x, y);
    const SearchDots& dots =
        kept.get({found.version, plot.area, axes.memory_to, axes.tokens_from, axes.tokens_to},
                 [&](SearchDots& out) { make_dots(found, tokens, plot, out); });
    const Hit hit = ui.area("search.plot", plot.area, 0, true, false);
    std::optional<LayoutChoice> under;
    const double limit = hbm * (1 - found.request.headroom);
    ui.canvas().rect({plot.x.at(limit), plot.area.y, plot.area.right() - plot.x.at(limit), plot.area.h},
                     ui.theme().raised.alpha(0.35f));
    const std::int64_t most = most_degree(found, dots, colored_by);
    draw_dots(ui, found, dots, colored_by, most);
    draw_front(ui, plot, found, tokens);
    if (!degrees.empty()) draw_degrees(ui, {degrees.x, degrees.y + 4, degrees.w, 22}, colored_by, most);
    // These are the end of the axis's title, and a place that no line of a limit crosses.
    const float titled = room.x + ui.canvas().text_width(y.title, ui.small()) + 8,
                beside = plot.x.at(hbm) + 5;
    if (found.request.headroom > 0)
        limit_line(ui, plot, limit, trimmed(found.request.headroom * 100) + " % free", ui.theme().amber,
                   Dash::dashed, true, titled, beside);
    limit_line(ui, plot, hbm, memory_text(hbm), ui.theme().bad, Dash::dotted, false, titled, beside);
    name_corners(ui, scene, plot, found, tokens);
    draw_own(ui, scene, plot);
    const auto mark = [&](const FoundLayout& p, float radius) {
        ui.canvas().ring(plot.at(p.memory_bytes, tokens / p.step_s), radius, ui.theme().text, 1.5f);
    };
    if (hit.hovered) {
        std::vector<Vec2> places;
        for (const FoundLayout& p : found.front)
            places.push_back(p.step_s > 0 ? plot.at(p.memory_bytes, tokens / p.step_s) : Vec2{-1e6f, -1e6f});
        const FoundLayout* at = nullptr;
        if (const auto i = nearest_point(places, ui.frame().mouse, kReach)) at = &found.front[*i];
        if (at == nullptr) {
            places.clear();
            for (const SearchDots::Dot& d : dots.dots) places.push_back(d.at);
            if (const auto i = nearest_point(places, ui.frame().mouse, kReach))
                at = &found.points[dots.dots[*i].point];
        }
        if (at != nullptr) {
            mark(*at, 6);
            under = at->choice;
        }
    }
    clicked = hit.clicked && under;
    return under;
}

void mark_in_plot(Ui& ui, const Scene& scene, const KeptDots& dots, const SearchRow& row) {
    if (row.step_s <= 0 || dots.key() == nullptr) return;
    ui.canvas().ring(dots->plot.at(row.memory_bytes, tokens_per_step(scene.plan.training) / row.step_s), 6,
                     ui.theme().text, 1.5f);
}

}  // namespace pentamesh::ui
