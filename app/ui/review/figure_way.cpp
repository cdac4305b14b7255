// Draws the way from one step to another: a bar of A, a bar for each part that differs, a bar of B. The axis
// begins near the lowest of them, and says so.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/figures.h"
#include "app/ui/scene/colors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kMostBars = 5;                      // parts; more are joined
constexpr double kWorthABar = 0.03;                       // of the largest part; less is joined too
constexpr std::size_t kWideLines = 2, kUprightLines = 3;  // of a cause
constexpr double kBreakFrom = 0.35;  // of the highest bar: where the lowest is less, the axis begins at 0

struct WayBar {
    std::string name, cause;
    StepSlice slice;
    double delta_s = 0;
};

// Returns the parts that differ, small ones joined, gains first.
std::vector<WayBar> way_bars(const PlanComparison& c) {
    std::vector<WayBar> out;
    for (const PartRow& r : c.why) {
        if (r.delta_s[1] == 0) continue;
        StepSlice slice;
        slice.part = r.kind, slice.group = r.group;
        std::string name = r.part;
        constexpr std::string_view kExposed = " exposed";
        if (name.ends_with(kExposed)) name.resize(name.size() - kExposed.size());
        out.push_back({std::move(name), typeset(r.brief), slice, r.delta_s[1]});
    }
    std::stable_sort(out.begin(), out.end(), [](const WayBar& a, const WayBar& b) {
        return std::abs(a.delta_s) > std::abs(b.delta_s);
    });
    std::size_t own = 0;  // bars of their own
    while (own < out.size() && std::abs(out[own].delta_s) >= kWorthABar * std::abs(out[0].delta_s)) ++own;
    if (own > kMostBars || out.size() > own + 1) {
        StepSlice slice;
        slice.part = StepPart::optimizer;
        WayBar other{"other", "", slice, 0};
        own = std::min(own, kMostBars - 1);
        for (std::size_t i = own; i < out.size(); ++i) {
            other.delta_s += out[i].delta_s;
            other.cause += (other.cause.empty() ? "" : ", ") + out[i].name;
        }
        out.resize(own);
        out.push_back(std::move(other));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const WayBar& a, const WayBar& b) { return a.delta_s < b.delta_s; });
    return out;
}

std::string change_text(double s) {
    return (s < 0 ? "−" : "+") + time_text(std::abs(s));
}

// Holds the scale from seconds to the page.
struct WayScale {
    Rect plot;
    double base = 0, top = 1;
    bool broken = false;
    [[nodiscard]] float y(double s) const {
        return plot.bottom() - static_cast<float>((s - base) / (top - base)) * plot.h;
    }
};

// `line` is the height of a label: the lowest bar leaves room for one below it.
constexpr double kBelow = 1.15;
WayScale scale_of(Rect plot, const std::vector<WayBar>& bars, double a_s, double b_s, float line) {
    double low = std::min(a_s, b_s), high = std::max(a_s, b_s), at = a_s;
    for (const WayBar& b : bars) {
        at += b.delta_s;
        low = std::min(low, at), high = std::max(high, at);
    }
    WayScale out{plot, 0, high};
    if (low < kBreakFrom * high) return out;
    const double room = std::max(1.0, static_cast<double>(plot.h) - kBelow * line),
                 a_pixel = std::max(high - low, 0.01 * high) / room;
    const double base = low - a_pixel * kBelow * line;
    if (base <= 0) return out;
    out.base = base, out.broken = true;
    return out;
}

// Returns the round numbers of seconds that the scale has lines at.
std::vector<double> ticks_of(const WayScale& scale, float line) {
    const double most = std::max(2.0, std::floor(static_cast<double>(scale.plot.h / (1.8f * line))));
    const double raw = (scale.top - scale.base) / most, ten = std::pow(10.0, std::floor(std::log10(raw)));
    double step = 10 * ten;
    for (const double k : {1.0, 2.0, 5.0})
        if (k * ten >= raw) {
            step = k * ten;
            break;
        }
    std::vector<double> out;
    for (double i = std::ceil(scale.base / step); i * step <= scale.top; ++i) out.push_back(i * step);
    return out;
}

// Draws a whole step; where the axis is broken, so is the bar.
void draw_end(ReviewSheet& sheet, const WayScale& scale, Rect column, const std::string& letter, double s,
              Color color) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line(), y = scale.y(s);
    const Rect bar{column.x, y, column.w, scale.plot.bottom() - y};
    c.rect(bar, color);
    sheet.label({column.x - column.w * 0.2f, y - line, column.w * 1.4f, line}, letter + "  " + time_text(s),
                sheet.strong(), Align::center);
    if (!scale.broken) return;
    const float tooth = column.w / 8, mid = bar.bottom() - line * 0.45f;
    std::array<Vec2, 9> zigzag;
    for (std::size_t i = 0; i < zigzag.size(); ++i)
        zigzag[i] = {bar.x + tooth * static_cast<float>(i), mid + (i % 2 == 0 ? 1.0f : -1.0f) * tooth * 0.3f};
    for (std::size_t i = 0; i + 1 < zigzag.size(); ++i)
        c.line(zigzag[i], zigzag[i + 1], sheet.theme().panel, 3);
}

void draw_change(ReviewSheet& sheet, const WayScale& scale, Rect column, const WayBar& bar, double from) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line(), y0 = scale.y(from), y1 = scale.y(from + bar.delta_s);
    const float top = std::min(y0, y1), high = std::max(1.5f, std::abs(y1 - y0));
    fill_part(c, sheet.theme(), {column.x, top, column.w, high}, bar.slice);
    TextStyle style = sheet.strong();
    style.color = bar.delta_s < 0 ? sheet.theme().good : sheet.theme().bad;
    const float at = bar.delta_s < 0 ? top + high : top - line;
    sheet.label({column.x - column.w * 0.2f, at, column.w * 1.4f, line}, change_text(bar.delta_s), style,
                Align::center);
}

// Words below the bars: in the page's type, or in its small type where a word of them is wider than a column.
struct UnderStyle {
    TextStyle name, cause;
    void shrink_to(float size) { name.size = cause.size = size; }
};
UnderStyle under_style(const ReviewSheet& sheet, const Canvas& c, const std::vector<WayBar>& bars,
                       float width) {
    UnderStyle out{sheet.strong(), sheet.faint()};
    for (const WayBar& b : bars)
        if (longest_word(c, b.name, out.name) > width || longest_word(c, b.cause, out.cause) > width)
            out.shrink_to(sheet.paper().small);
    return out;
}

// Leaves the last of a cause's facts out until it takes no more lines than there are: the table of causes has
// them all.
std::string fitting_cause(const ReviewSheet& sheet, float width, std::string cause, const TextStyle& style,
                          Canvas& c) {
    const std::size_t most = sheet.paper().wide ? kWideLines : kUprightLines;
    for (std::size_t comma = cause.rfind(", ");
         comma != std::string::npos && c.wrapped(width, cause, style).size() > most;
         comma = cause.rfind(", "))
        cause.resize(comma);
    return cause;
}

// Writes a name and the cause below it, each as wide as its column; returns how many lines they take.
std::size_t draw_under(ReviewSheet& sheet, Rect column, const std::string& name, const std::string& cause,
                       const UnderStyle& style, bool draw) {
    const float line = sheet.paper().line();
    std::size_t lines = 0;
    const auto write = [&](const std::string& text, const TextStyle& of) {
        for (const std::string_view words : sheet.canvas().wrapped(column.w, text, of)) {
            if (draw) sheet.label(column.cut_top(line), words, of, Align::center);
            ++lines;
        }
    };
    write(name, style.name);
    write(fitting_cause(sheet, column.w, cause, style.cause, sheet.canvas()), style.cause);
    return lines;
}

}  // namespace

void draw_way_figure(ReviewSheet& sheet, Rect room, const PlanComparison& comparison, double a_s,
                     double b_s) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line();
    const std::vector<WayBar> bars = way_bars(comparison);
    const std::size_t last = bars.size() + 1;
    const float axis = c.text_width("00.00 ms", sheet.faint()) + 8;
    const float pitch = (room.w - axis) / static_cast<float>(last + 1);
    const double by = b_s / a_s - 1;
    const UnderStyle style = under_style(sheet, c, bars, pitch - 6);
    const auto words_below = [&](std::size_t i, float y, bool draw) {
        const Rect at{room.x + axis + pitch * static_cast<float>(i) + 3, y, pitch - 6, room.h};
        if (i == 0) return draw_under(sheet, at, "", "the axis does not begin at 0", style, draw);
        if (i == last)
            return draw_under(sheet, at, (by < 0 ? "−" : "+") + percent(std::abs(by)), "", style, draw);
        return draw_under(sheet, at, bars[i - 1].name, bars[i - 1].cause, style, draw);
    };
    std::size_t lines = 1;
    for (std::size_t i = 0; i <= last; ++i) lines = std::max(lines, words_below(i, 0, false));
    const Rect under = room.cut_bottom(line * static_cast<float>(lines));
    room.cut_top(line * 1.1f);  // of the label over the highest bar
    const WayScale scale = scale_of({room.x + axis, room.y, room.w - axis, room.h}, bars, a_s, b_s, line);
    for (const double s : ticks_of(scale, line)) {
        const float y = scale.y(s);
        c.line({scale.plot.x, y}, {scale.plot.right(), y}, sheet.theme().hairline, 1);
        sheet.label({room.x, y - line / 2, axis - 8, line}, time_text(s), sheet.faint(), Align::right);
    }
    const auto column = [&](std::size_t i) {
        return Rect{scale.plot.x + pitch * (static_cast<float>(i) + 0.17f), scale.plot.y, pitch * 0.66f, 0};
    };
    const auto join = [&](std::size_t i, double s) {
        c.line({column(i).right(), scale.y(s)}, {column(i + 1).x, scale.y(s)}, sheet.theme().secondary, 1,
               Dash::dotted);
    };
    draw_end(sheet, scale, column(0), "A", a_s, sheet.theme().secondary);
    double at = a_s;
    for (std::size_t i = 0; i < bars.size(); ++i) {
        join(i, at);
        draw_change(sheet, scale, column(i + 1), bars[i], at);
        at += bars[i].delta_s;
    }
    join(last - 1, at);
    draw_end(sheet, scale, column(last), "B", b_s, sheet.theme().text);
    for (std::size_t i = scale.broken ? 0 : 1; i <= last; ++i) words_below(i, under.y, true);
}

}  // namespace pentamesh::ui
