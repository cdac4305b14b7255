// Draws what a figure becomes, one choice after another. A row has the choice's name and reason, below them
// its bar on the scale that all rows share.
#include "app/ui/review/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace pentamesh::ui {

namespace {

constexpr float kLeastRow = 2.1f, kHead = 1.25f;  // in lines
constexpr double kBeyond = 0.05;                  // of the scale, left and right of the values

// Maps the values to the page's width.
struct CourseScale {
    Rect plot;
    double low = 0, high = 1;
    bool logarithmic = false;
    [[nodiscard]] double place(double v) const { return logarithmic ? std::log(std::max(v, 1e-300)) : v; }
    [[nodiscard]] float x(double v) const {
        return plot.x + static_cast<float>((place(v) - low) / (high - low)) * plot.w;
    }
};

CourseScale scale_of(Rect plot, const Course& course) {
    CourseScale out{plot, 0, 1, course.logarithmic};
    double low = out.place(course.rows.front().to), high = low;
    const auto hold = [&](double v) {
        low = std::min(low, out.place(v)), high = std::max(high, out.place(v));
    };
    for (const Course::Row& r : course.rows) hold(r.to);
    if (course.limit) hold(*course.limit);
    const double beyond = std::max((high - low) * kBeyond, 1e-9 * std::abs(high));
    out.low = low - beyond, out.high = high + beyond;
    return out;
}

// Writes the name, the reason behind it where it has room, and draws the bar below them.
void draw_choice(ReviewSheet& sheet, Rect row, const Course::Row& r, double from, const CourseScale& scale,
                 std::optional<double> limit) {
    Canvas& c = sheet.canvas();
    const Theme& t = sheet.theme();
    Rect words = row.cut_top(std::min(row.h * 0.5f, sheet.paper().line() * 1.1f));
    sheet.label(words.cut_left(c.text_width(r.name, sheet.strong()) + sheet.paper().body), r.name,
                sheet.strong());
    if (c.text_width(r.why, sheet.faint()) <= words.w) sheet.label(words, r.why, sheet.faint());
    const float high = std::min(row.h * 0.7f, sheet.paper().line() * 1.2f), y = row.y + high / 2;
    const float x0 = std::min(scale.x(from), scale.x(r.to)), x1 = std::max(scale.x(from), scale.x(r.to));
    c.line({scale.plot.x, y}, {scale.plot.right(), y}, t.hairline, 1);
    if (x1 > x0) c.rect({x0, y - high / 2, x1 - x0, high}, r.color);
    if (limit) {  // it does not cross the words
        const float x = scale.x(*limit);
        c.line({x, row.y}, {x, row.y + high}, t.bad, 1.5f, Dash::dashed);
    }
    c.circle({scale.x(r.to), y}, high * 0.32f, t.text);
}

}  // namespace

float course_height(const ReviewSheet& sheet, const Course& course) {
    return sheet.paper().line() * (kHead + kLeastRow * static_cast<float>(course.rows.size()));
}

void draw_course(ReviewSheet& sheet, Rect room, const Course& course) {
    Canvas& c = sheet.canvas();
    std::array<float, 2> wide{};
    for (std::size_t k = 0; k < wide.size(); ++k) {
        wide[k] = c.text_width(course.heads[k + 1], sheet.faint());
        for (const Course::Row& r : course.rows)
            wide[k] = std::max(wide[k], c.text_width(r.figures[k], sheet.strong()));
        wide[k] += sheet.paper().body * 1.4f;
    }
    const auto columns = [&](Rect row) {
        const Rect last = row.cut_right(wide[1]), before = row.cut_right(wide[0]);
        return std::array<Rect, 3>{row, before, last};
    };
    Rect head = room.cut_top(sheet.paper().line() * kHead);
    head.h = sheet.paper().line();
    const std::array<Rect, 3> heads = columns(head);
    for (std::size_t k = 0; k < heads.size(); ++k)
        sheet.label(heads[k], course.heads[k], sheet.faint(), k == 0 ? Align::left : Align::right);
    Rect plot = room;
    plot.cut_right(wide[0] + wide[1]);
    const CourseScale scale = scale_of(plot, course);
    if (course.limit) {
        const float x = scale.x(*course.limit);
        TextStyle style = sheet.faint();
        style.color = sheet.theme().bad;
        const float w = c.text_width(course.limit_words, style) + 2;
        // The head of the names stands at the left.
        const float first = plot.x + c.text_width(course.heads[0], sheet.faint()) + sheet.paper().body;
        const float at = std::clamp(x - w / 2, first, std::max(first, plot.right() - w));
        sheet.label({at, head.y, w, head.h}, course.limit_words, style);
    }
    const float row_h = room.h / static_cast<float>(course.rows.size());
    double from = course.rows.front().to;
    for (const Course::Row& r : course.rows) {
        const Rect row = room.cut_top(row_h);
        const std::array<Rect, 3> cells = columns(row);
        draw_choice(sheet, cells[0], r, from, scale, course.limit);
        TextStyle last = sheet.strong();
        last.color = r.ink;
        sheet.label(cells[1], r.figures[0], sheet.plain(), Align::right);
        sheet.label(cells[2], r.figures[1], last, Align::right);
        from = r.to;
    }
}

}  // namespace pentamesh::ui
