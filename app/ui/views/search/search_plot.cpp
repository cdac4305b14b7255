#include "app/ui/views/search/search_plot.h"

#include "app/ui/kit/format.h"
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
    TextStyle s = ui.small();
    s.color = color;
    // The words stand above the plot, where no dot lies, or below the axis's title.
    const float w = c.text_width(words, s) + 2, y = plot.area.y - 18;
    const float at = to_the_left ? x - w - 5 : std::min(x - 2, plot.area.right() - w);
    if (at >= free_from)
        c.text_in({at, y, w, 16}, words, s);
    else
        c.text_in({beside, plot.area.y + (to_the_left ? 18.0f : 0.0f), w, 16}, words, s);
}

void draw_front(Ui& ui, const Plot& plot, const SearchFound& found, double tokens) {
    std::vector<Vec2> line;
    for (const FoundLayout& p : found.front)
        if (p.step_s > 0) line.push_back(plot.at(p.memory_bytes, tokens / p.step_s));
    if (line.size() > 1) ui.canvas().polyline(line, ui.theme().good, 1.5f);
    for (const Vec2 at : line) ui.canvas().circle(at, 3.5f, ui.theme().good);
}

void draw_dots(Ui& ui, const SearchDots& dots) {
    const Theme& t = ui.theme();
    const bool round = dots.dots.size() <= kFewDots;
    const double most = std::log2(static_cast<double>(std::max(dots.most_layouts, 1)) + 1);
    for (const SearchDots::Dot& d : dots.dots) {
        const double k = std::log2(static_cast<double>(d.layouts) + 1) / most;
        const Color color = t.secondary.alpha(0.45f + 0.5f * static_cast<float>(k));
        if (round)
            ui.canvas().circle(d.at, 1.8f, color);
        else
            ui.canvas().rect({d.at.x - 1.3f, d.at.y - 1.3f, 2.6f, 2.6f}, color);
    }
}

void draw_own(Ui& ui, const Scene& scene, const Plot& plot) {
    const Evaluation& e = scene.evaluation;
    if (!e.step || e.memory.stage.empty()) return;
    Canvas& c = ui.canvas();
    const Vec2 at = plot.at(e.memory.peak(), e.step->tokens_per_s);
    const Color color = ui.theme().link;
    c.line({at.x - 7, at.y}, {at.x + 7, at.y}, color, 2);
    c.line({at.x, at.y - 7}, {at.x, at.y + 7}, color, 2);
    TextStyle s = ui.small();
    s.color = color;
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
                                             KeptDots& kept, bool& clicked) {
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
    draw_dots(ui, dots);
    draw_front(ui, plot, found, tokens);
    // These are the end of the axis's title, and a place that no line of a limit crosses.
    const float titled = room.x + ui.canvas().text_width(y.title, ui.small()) + 8,
                beside = plot.x.at(hbm) + 5;
    if (found.request.headroom > 0)
        limit_line(ui, plot, limit, trimmed(found.request.headroom * 100) + " % free", ui.theme().amber,
                   Dash::dashed, true, titled, beside);
    limit_line(ui, plot, hbm, memory_text(hbm), ui.theme().bad, Dash::dotted, false, titled, beside);
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
