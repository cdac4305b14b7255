#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/search/view.h"
#include "core/plan/edits.h"
#include "core/plan/problem.h"
#include "core/step/constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

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
    const float x = held_between(at.x - w / 2, plot.area.x + 2, plot.area.right() - w),
                y = above ? at.y - 24 : at.y + 8;
    write_plate(ui, {x, held_between(y, plot.area.y, plot.area.bottom() - 16), w, 16}, words, style,
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

// Returns the colour of a degree: one is near the ground, the largest beyond the axis' own colour, so that
// each step between can be seen in grey too.
Color color_of_degree(const Theme& theme, Axis axis, std::int64_t degree, std::int64_t most) {
    const Color full = theme.axis[static_cast<std::size_t>(axis)];
    const double k =
        most > 1 ? std::log2(static_cast<double>(degree)) / std::log2(static_cast<double>(most)) : 1;
    constexpr float kLeast = 0.3f, kBeyond = 0.35f;
    const auto at = static_cast<float>(k);
    return at < 0.5f ? mix(mix(theme.window, full, kLeast), full, 2 * at)
                     : mix(full, mix(full, theme.text, kBeyond), 2 * at - 1);
}

// Marks a layout by its degree: a dot, a ring, a triangle, a diamond, a square from 16 on.
void draw_degree(Canvas& c, Vec2 at, float r, Color color, std::int64_t degree) {
    const auto corners = [&](std::initializer_list<Vec2> of) {
        std::vector<Vec2> points;
        for (const Vec2 p : of) points.push_back(at + p * r);
        c.polygon(points, color);
    };
    if (degree <= 1) return c.circle(at, 0.75f * r, color);
    if (degree == 2) return c.frame(Rect{at.x, at.y, 0, 0}.inset(-0.9f * r), color, 0.4f * r, 0.9f * r);
    if (degree <= 4) return corners({{0, -1.3f}, {1.2f, 0.9f}, {-1.2f, 0.9f}});
    if (degree <= 8) return corners({{0, -1.4f}, {1.4f, 0}, {0, 1.4f}, {-1.4f, 0}});
    corners({{-1, -1}, {1, -1}, {1, 1}, {-1, 1}});
}

std::int64_t most_degree(const SearchFound& found, const SearchDots& dots, Axis axis) {
    std::int64_t most = 1;
    for (const SearchDots::Dot& d : dots.dots)
        most = std::max(most, degree_of(found.points[d.point].choice, axis));
    return most;
}

void draw_dots(Ui& ui, const SearchFound& found, const SearchDots& dots, Axis axis, std::int64_t most) {
    const bool shaped = dots.dots.size() <= kFewDots;
    for (const SearchDots::Dot& d : dots.dots) {
        const std::int64_t degree = degree_of(found.points[d.point].choice, axis);
        const Color color = color_of_degree(ui.theme(), axis, degree, most);
        if (shaped)
            draw_degree(ui.canvas(), d.at, 2.6f, color, degree);
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
    if (ui.state().for_picture)
        x = row.x + ui.canvas().text(row.min() + Vec2{0, 3}, name_of(axis), ui.small()) + 12;
    for (std::int64_t degree = 1; degree <= most; degree *= 2) {
        const std::string words = thousands(degree);
        const float w = ui.canvas().text_width(words, ui.small());
        if (x + w + 20 > row.right()) break;
        draw_degree(ui.canvas(), {x + 4, row.center().y}, 4, color_of_degree(ui.theme(), axis, degree, most),
                    degree);
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

namespace {

constexpr float kRow = 24, kGap = 8;
constexpr float kStep = 54, kTokens = 58, kMemory = 44, kMark = 15, kNumber = 22, kSecond = 72, kDays = 50;

// Returns a short title for a column.
std::string_view column_name(Varied v) {
    switch (v) {
    case Varied::virtual_stages: return "v";
    case Varied::dp_shard: return "shard";
    case Varied::dp_replicate: return "repl";
    case Varied::micro_batch: return "mb";
    default: return chip_name(v);
    }
}

// Returns the columns: fields in which the results differ.
std::vector<Varied> differing(const std::vector<SearchRow>& rows, const LayoutChoice& own) {
    std::vector<Varied> out;
    for (const Varied v : all_of<Varied>())
        if (std::any_of(rows.begin(), rows.end(),
                        [&](const SearchRow& r) { return value_text(r.choice, v) != value_text(own, v); }))
            out.push_back(v);
    return out;
}

struct Columns {
    std::vector<Varied> fields;  // empty: the layout is one text
    std::vector<Size> size;
    std::string same;         // values shared by all results, in no column: "schedule zb-v, micro-batch 1"
    std::string_view second;  // the title of the second goal's column; empty: it has no such column
    bool days = false;        // a column has what the training takes
};

Columns columns_of_results(Ui& ui, float room, const std::vector<SearchRow>& rows, const LayoutChoice& own,
                           Second then, bool days) {
    Columns out{differing(rows, own), {}, {}, {}, days};
    if (then == Second::robust) out.second = "slowed";
    if (then == Second::simple) out.second = "edits";
    const TextStyle s = ui.style(12);
    float all =
        kNumber + kStep + kTokens + kMemory + kMark + (out.second.empty() ? 0 : kSecond) + (days ? kDays : 0);
    for (const Varied v : out.fields) {
        float w = std::max(ui.canvas().text_width(column_name(v), ui.small()),
                           ui.canvas().text_width(value_text(own, v), s));
        for (const SearchRow& r : rows) w = std::max(w, ui.canvas().text_width(value_text(r.choice, v), s));
        out.size.push_back(px(w + kGap));
        all += w + kGap;
    }
    // If that is too wide, fields that the results share go into a line below.
    for (std::size_t i = out.fields.size(); i-- > 0 && all > room && !rows.empty();) {
        const Varied v = out.fields[i];
        const std::string value = value_text(rows.front().choice, v);
        if (std::any_of(rows.begin(), rows.end(),
                        [&](const SearchRow& r) { return value_text(r.choice, v) != value; }))
            continue;
        const std::string own_value = value_text(own, v);
        out.same = std::string(chip_name(v)) + " " + value
                   + (own_value == value ? "" : " (this plan: " + own_value + ")")
                   + (out.same.empty() ? "" : ", ") + out.same;
        all -= out.size[i].px;
        out.fields.erase(out.fields.begin() + static_cast<std::ptrdiff_t>(i));
        out.size.erase(out.size.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (all > room) out = {{}, {}, {}, out.second, days};
    return out;
}

// Writes a line: a result's, or the titles. The layout is one text where it has no columns.
void draw_line(Ui& ui, Rect row, const Columns& columns, const std::string& number, const TextStyle& faint,
               const std::vector<std::string>& fields, const std::array<std::string, 5>& figures,
               const TextStyle& plain, const TextStyle& step, const TextStyle& memory) {
    std::vector<Words> cells{{number, px(kNumber), faint}};
    for (std::size_t i = 0; i < fields.size(); ++i)
        cells.push_back({fields[i], columns.fields.empty() ? share() : columns.size[i], plain});
    cells.push_back({{}, columns.fields.empty() ? px(8) : share()});
    constexpr std::array kWidth{kStep, kTokens, kDays, kMemory, kSecond};
    const std::array<bool, kWidth.size()> has{true, true, columns.days, true, !columns.second.empty()};
    for (std::size_t i = 0; i < kWidth.size(); ++i)
        if (has[i])
            cells.push_back({figures[i], px(kWidth[i]),
                             i == 0   ? step
                             : i == 3 ? memory
                                      : plain,
                             Align::right});
    cells.push_back(space(kMark));
    text_row(ui, row, cells);
}

void draw_head(Ui& ui, Rect row, const Columns& columns) {
    ui.canvas().line({row.x, row.bottom()}, {row.right(), row.bottom()}, ui.theme().hairline);
    std::vector<std::string> titles;
    for (const Varied v : columns.fields) titles.emplace_back(column_name(v));
    if (titles.empty()) titles = {"layout"};
    draw_line(ui, row, columns, "", ui.small(), titles,
              {"step", "tokens/s", "days", "GiB", std::string(columns.second)}, ui.small(), ui.small(),
              ui.small());
}

void draw_result(Ui& ui, Rect row, const Scene& scene, const Columns& columns, const SearchRow& r,
                 const std::string& number, const std::string& second) {
    const bool own = r.choice == choice_of(scene.plan);
    if (own) ui.canvas().frame(row, ui.theme().text, 1, 4);
    std::vector<std::string> fields;
    for (const Varied v : columns.fields) fields.push_back(value_text(r.choice, v));
    if (fields.empty()) fields = {words_of(r.choice, scene.plan.model.moe.has_value())};  // the card has all
    const double tokens_per_s = r.step_s > 0 ? tokens_per_step(scene.plan.training) / r.step_s : 0;
    const std::optional<double> days = pentamesh::cost_of(scene.plan, tokens_per_s).days;
    draw_line(ui, row.inset(6, 0), columns, number, ui.small(own ? Tone::text : Tone::secondary), fields,
              {time_text(r.step_s), count_text(tokens_per_s), days ? three_digits(*days) : "",
               gib(r.memory_bytes), second},
              ui.style(12), ui.style(12, Tone::text, Face::semibold),
              r.fit == MemoryFit::yes ? ui.style(12) : ui.style(12).in(color_of(ui.theme(), r.fit)));
    if (r.pareto) ui.canvas().circle({row.right() - 12, row.center().y}, 3.5f, ui.theme().good);
}

std::string_view words_of_goal(const SearchFound& found) {
    // A layout is called the best only where no other may be as good.
    const bool best = found.report && !found.report->cancelled && found.report->ties.count < 2;
    switch (found.request.goal) {
    case Goal::tokens: return best ? "BEST, MOST TOKENS PER SECOND" : "MOST TOKENS PER SECOND";
    case Goal::memory: return "BEST, LEAST MEMORY";
    case Goal::cost: return best ? "BEST, LEAST COST PER TOKEN" : "LEAST COST PER TOKEN";
    }
    return "";
}

// Returns how many of the rows, from the first on, are of layouts that cannot be distinguished.
std::size_t tied_rows(const SearchFound& found, const std::vector<SearchRow>& rows) {
    if (!found.report || found.report->ties.count < 2) return 0;
    std::size_t n = 0;
    while (n < rows.size() && rows[n].tied) ++n;
    return n;
}

// Draws the heading of the tied rows and the switch of what orders them.
void draw_tie_head(Ui& ui, Rect& room, const SearchTies& ties, Second& then) {
    ui.section(room.cut_top(20),
               (ties.all ? "" : "AT LEAST ") + thousands(ties.count) + " CANNOT BE TOLD APART",
               "within " + percent(ties.within));
    static constexpr std::string_view kThen[] = {"step", "memory", "robust", "fewest changes"};
    static_assert(std::size(kThen) == kNames<Second>.size());
    if (ui.state().for_picture) return;
    Rect row = room.cut_top(24);
    room.cut_top(4);
    const Rect place = row.cut_left(std::min(row.w, segments_width(ui, kThen)));
    const int now = static_cast<int>(then);
    const int picked = ui.segments("search.then", place, kThen, now);
    if (ui.hovers(place))
        ui.tooltip(
            "Second goal\norders layouts that the estimate cannot tell apart: by the step after all, by the "
            "memory of the fullest GPU, by the longer of two steps ("
            + std::string("the slowest link carries 10 % less; one stage takes 25 % longer")
            + "), or by how many fields of this plan change");
    then = static_cast<Second>(picked);
}

// Returns what the second goal says of a row: "7.02 s" of the harder step, "3 changes".
std::string second_words(const SearchRow& r, Second then) {
    if (then == Second::robust && r.slow_link_s > 0)
        return time_text(std::max(r.slow_link_s, r.slow_stage_s));
    if (then == Second::simple) return plural(r.changes, "change", "changes");
    return "";
}

void draw_row(Ui& ui, Rect row, const Scene& scene, const Columns& columns, const SearchRow& r, std::size_t i,
              const std::string& second, SearchPick& pick,
              const std::optional<LayoutChoice>& highlighted_row) {
    const Hit hit = ui.area("search.row", row, i);
    row_ground(ui, row, hit, highlighted_row && *highlighted_row == r.choice);
    draw_result(ui, row, scene, columns, r, std::to_string(i + 1), second);
    const bool by_keys = hit.focused && ui.state().focus_visible && !pick.hovered;
    if (hit.hovered || by_keys) pick.hovered = r.choice, pick.row = r;
    if (hit.hovered) pick.at = ui.frame().mouse;
    if (by_keys) pick.at = row.center();
    if (hit.clicked) pick.clicked = r.choice;
}

// Returns the place of the plan among rows that do not list it: before the first that is worse by the goal.
std::size_t place_of_own(const Evaluation& e, Goal goal, const std::vector<SearchRow>& rows,
                         std::size_t from) {
    while (from < rows.size()
           && (goal == Goal::memory ? rows[from].memory_bytes <= e.memory.peak()
                                    : rows[from].step_s <= e.step->time_s))
        ++from;
    return from;
}

}  // namespace

float results_height(std::size_t rows) {
    return 20 + 22 + kRow * static_cast<float>(rows + 2) + 28 + 20 + 28;
}

void draw_results(Ui& ui, Rect& room, const Scene& scene, const SearchFound& found,
                  const std::vector<SearchRow>& rows, const ListChoice& choice, SearchPick& pick) {
    const std::optional<LayoutChoice> highlighted_row = pick.hovered;  // in the plot, which is drawn first
    const std::size_t tied = tied_rows(found, rows);
    if (tied > 0)
        draw_tie_head(ui, room, found.report->ties, choice.then);
    else
        ui.section(room.cut_top(20), words_of_goal(found),
                   found.report && !found.report->cancelled ? "" : "so far");
    const std::size_t shown = choice.all_rows ? rows.size() : std::min(rows.size(), choice.most);
    const std::vector<SearchRow> listed(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown));
    const LayoutChoice own = choice_of(scene.plan);
    Columns columns = columns_of_results(ui, room.w - 12, listed, own, tied > 0 ? choice.then : Second::step,
                                         scene.plan.training.tokens_total > 0);
    draw_head(ui, room.cut_top(20).inset(6, 0), columns);
    room.cut_top(2);
    const Evaluation& e = scene.evaluation;
    const bool has_own = e.step && !e.memory.stage.empty();
    const bool own_listed =
        std::any_of(listed.begin(), listed.end(), [&](const auto& r) { return r.choice == own; });
    // Tied rows may stand in another order than that of the step: the plan's row comes after them.
    const bool among = choice.then == Second::step;
    const std::size_t own_at = has_own && !own_listed ? place_of_own(e, found.request.goal, listed,
                                                                     among ? 0 : std::min(tied, shown))
                                                      : shown + 1;
    const auto draw_own = [&] {
        const SearchRow row{
            .choice = own, .step_s = e.step->time_s, .memory_bytes = e.memory.peak(), .fit = e.memory.fit()};
        draw_result(ui, room.cut_top(kRow), scene, columns, row, "", "");
    };
    const float top = room.y;
    for (std::size_t i = 0; i < shown; ++i) {
        if (i == own_at) draw_own();
        if (i == tied && tied > 0)
            ui.canvas().text_in(room.cut_top(20).inset(6, 0), "slower, on less memory", ui.small());
        const std::string second = i < tied ? second_words(rows[i], choice.then) : "";
        draw_row(ui, room.cut_top(kRow), scene, columns, rows[i], i, second, pick, highlighted_row);
        if (i + 1 == std::min(tied, shown))
            ui.canvas().rect({room.x - 2, top, 2, room.y - top}, ui.theme().secondary);
    }
    if (own_at == shown && has_own) draw_own();
    if (!columns.same.empty())
        ui.label(room.cut_top(20).inset(6, 0), "all that are listed: " + columns.same, ui.small());
    if (rows.size() > choice.most) {
        const Rect row = room.cut_top(kRow);
        const std::size_t more = rows.size() - choice.most;
        if (ui.state().for_picture)
            ui.canvas().text_in(row.inset(6, 0), and_more(more), ui.small());
        else if (ui.link("search.all", {row.x + 6, row.y + 4},
                         choice.all_rows ? "fewer" : "all " + std::to_string(rows.size())))
            choice.all_rows = !choice.all_rows;
    }
    room.cut_top(14);
}

float rejected_height(const SearchFound& found) {
    return 24 + kRow * static_cast<float>(found.report ? found.report->rejected.size() + 1 : 1);
}

void draw_rejected(Ui& ui, Rect& room, const SearchFound& found, SearchPick& pick, float bottom) {
    const SearchCounts& n = found.counts;
    const std::int64_t others = n.invalid + n.too_big + (found.report ? n.skipped : 0);
    ui.section(room.cut_top(20), "WHY THE OTHERS ARE NOT HERE",
               thousands(others)
                   + (n.left_out > 0 ? ", and " + thousands(n.left_out) + " that are not run" : ""));
    room.cut_top(4);
    struct Reason {
        std::string words, about;
        std::int64_t count;
        const Plan* example;
        bool bad;
    };
    std::vector<Reason> reasons;
    if (found.report) {
        for (const Rejection& r : found.report->rejected) {
            const bool big = r.code == ProblemCode::out_of_memory;
            reasons.push_back({std::string(reason_words(r.code)), r.message, r.count, &r.example, big});
        }
        if (n.skipped > 0)
            reasons.push_back(
                {found.report->cancelled ? "not looked at" : "proved no better, without a look",
                 found.report->cancelled
                     ? "The search was stopped."
                     : "The least time and memory that they can take is beaten by a layout that "
                       "was found.",
                 n.skipped, nullptr, false});
    } else {
        if (n.too_big > 0)
            reasons.push_back(
                {std::string(reason_words(ProblemCode::out_of_memory)), "", n.too_big, nullptr, true});
        if (n.invalid > 0) reasons.push_back({"break a rule", "", n.invalid, nullptr, false});
    }
    std::sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
    std::int64_t most = 1;
    for (const Reason& r : reasons) most = std::max(most, r.count);
    Canvas& c = ui.canvas();
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        const Reason& r = reasons[i];
        const Rect row = room.cut_top(kRow);
        const bool last = i + 1 == reasons.size();
        if (row.bottom() + (last ? 0 : kRow) > bottom) {
            const std::size_t more = reasons.size() - i;
            if (row.bottom() <= bottom) c.text_in(row, and_more(more), ui.small());
            return;
        }
        const Hit hit = ui.area("search.reason", row, i, r.example != nullptr);
        row_ground(ui, row, hit);
        if (ui.hovers(row) && !r.about.empty())
            ui.tooltip(r.words + "\n"
                       + (r.example != nullptr
                              ? "for example "
                                    + words_of(choice_of(*r.example), r.example->model.moe.has_value())
                                    + ":\n"
                              : "")
                       + r.about + (r.example != nullptr ? "\nclick: open that example" : ""));
        const auto [words, bar, count] =
            columns(row, {share(), px(std::min(220.0f, (row.w - 84) * 0.4f)), px(84)});
        ui.label({words.x, words.y, words.w - 8, words.h}, r.words, ui.style(12));
        const auto part = static_cast<float>(static_cast<double>(r.count) / static_cast<double>(most));
        c.rect({bar.x, bar.center().y - 5, std::max(1.0f, bar.w * part), 10},
               r.bad ? ui.theme().bad : ui.theme().faint);
        c.text_in(count, thousands(r.count), ui.small(), Align::right);
        if (hit.clicked) pick.example = r.example;
    }
}

}  // namespace pentamesh::ui
