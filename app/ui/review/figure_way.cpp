#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/review/figures.h"
#include "app/ui/review/pages.h"
#include "app/ui/scene/colors.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/step/constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

std::string signed_time(double s) {
    return (s < 0 ? "−" : "+") + time_text(std::abs(s), Zeros::kept);
}

// Returns a constant in its unit, a setting as it is written.
std::string value_words(const std::vector<Constant>& constants, const SensitivityRow& row,
                        const std::string& value) {
    if (row.kind != SensitivityRow::Kind::constant) return value;
    const auto number = parse_double(value);
    for (const Constant& c : constants)
        if (c.id == row.id && number) return constant_text(c.unit, *number);
    return value;
}

// Behind a change's time; what it means stands below.
constexpr std::array<std::string_view, 3> kFitMarks{"", "**", "*"};
using ByFit = std::array<bool, 3>;

struct TornadoRow {
    const SensitivityRow* of = nullptr;
    std::string name, words;  // the changed field; its new value, and the effect
    ByFit has{};              // whether one of its changes fits so
};

TornadoRow row_of(const std::vector<Constant>& constants, const SensitivityRow& r, double step_s) {
    TornadoRow out{&r, r.name + " " + value_words(constants, r, r.value), "", {}};
    const auto effect = [&](const Nudge& n) {
        out.has[static_cast<std::size_t>(n.fit)] = true;
        return signed_time(n.same_tokens_s - step_s)
               + std::string(kFitMarks[static_cast<std::size_t>(n.fit)]);
    };
    if (!r.down && r.up && r.up->valid()) {  // one of several choices
        out.name += " → " + value_words(constants, r, r.up->value);
        out.words = effect(*r.up);
        return out;
    }
    for (const auto* n : {&r.down, &r.up})
        if (*n && (*n)->valid())
            out.words += (out.words.empty() ? "" : ",  ") + value_words(constants, r, (*n)->value) + ": "
                         + effect(**n);
    return out;
}

// Returns by how much the best of its changes that fit makes the step shorter; nullopt: none fits.
std::optional<double> best_gain(const SensitivityRow& r, double step_s) {
    std::optional<double> out;
    for (const auto* n : {&r.down, &r.up})
        if (*n && (*n)->valid() && (*n)->fit == MemoryFit::yes)
            out = std::max(out.value_or(step_s - (*n)->same_tokens_s), step_s - (*n)->same_tokens_s);
    return out;
}

// Returns what may be chosen: rows with a change that fits, what gains most first, then the widest.
std::vector<std::size_t> choices_of(const Sensitivity& of, std::size_t most) {
    std::vector<std::size_t> out;
    for (const std::size_t i : of.by_reach())
        if (of.rows[i].kind != SensitivityRow::Kind::constant && best_gain(of.rows[i], of.step_s))
            out.push_back(i);
    std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
        return std::max(0.0, *best_gain(of.rows[a], of.step_s))
               > std::max(0.0, *best_gain(of.rows[b], of.step_s));
    });
    if (out.size() > most) out.resize(most);
    return out;
}

std::vector<std::size_t> constants_of(const Sensitivity& of, std::size_t most) {
    std::vector<std::size_t> out;
    for (const std::size_t i : of.by_reach())
        if (of.rows[i].kind == SensitivityRow::Kind::constant && out.size() < most) out.push_back(i);
    return out;
}

// Holds the scale that all bars share, and the widths of their words.
struct TornadoScale {
    double slower = 0, faster = 0, step_s = 0;
    float name = 0, words = 0;
    bool below = false;  // the words stand below the name
};

void draw_row(ReviewSheet& sheet, Rect row, const TornadoRow& r, const TornadoScale& scale) {
    const float line = sheet.paper().line(), gap = sheet.paper().body;
    const Rect bars_words =
        scale.below ? Rect{row.x + gap, row.y + line, row.w - gap, line} : row.cut_right(scale.words);
    Rect top = scale.below ? Rect{row.x, row.y, row.w, line} : row;
    sheet.label(top.cut_left(scale.name + 1), r.name, sheet.plain());
    top.cut_left(gap);
    if (!scale.below) top.cut_right(gap);
    const auto x_of = [&](double d) {
        return top.x + static_cast<float>((d + scale.faster) / (scale.slower + scale.faster)) * top.w;
    };
    for (const auto* n : {&r.of->down, &r.of->up}) {
        if (!*n || !(*n)->valid()) continue;
        const double d = (*n)->same_tokens_s - scale.step_s;
        const float x0 = std::min(x_of(0), x_of(d)), x1 = std::max(x_of(0), x_of(d));
        sheet.canvas().rect({x0, top.y + top.h * 0.18f, std::max(1.0f, x1 - x0), top.h * 0.64f},
                            d > 0 ? sheet.theme().amber : sheet.theme().good);
    }
    sheet.canvas().line({x_of(0), top.y}, {x_of(0), top.bottom()}, sheet.theme().secondary);
    sheet.label(bars_words, r.words, scale.below ? sheet.faint() : sheet.plain());
}

}  // namespace

void draw_tornado(ReviewSheet& sheet, const Reviewed& reviewed, const Sensitivity& of) {
    constexpr std::size_t kChoices = 8, kConstants = 5;
    const std::vector<Constant> constants = list_constants(reviewed.plan, reviewed.presets);
    const auto rows_of = [&](const std::vector<std::size_t>& which) {
        std::vector<TornadoRow> out;
        for (const std::size_t i : which) {
            out.push_back(row_of(constants, of.rows[i], of.step_s));
            if (out.back().words.empty()) out.pop_back();
        }
        return out;
    };
    const std::array<std::vector<TornadoRow>, 2> panels{rows_of(choices_of(of, kChoices)),
                                                        rows_of(constants_of(of, kConstants))};
    TornadoScale scale{.step_s = of.step_s};
    ByFit has{};
    for (const auto& rows : panels)
        for (const TornadoRow& r : rows) {
            for (const auto* n : {&r.of->down, &r.of->up})
                if (*n && (*n)->valid()) {
                    scale.slower = std::max(scale.slower, (*n)->same_tokens_s - of.step_s);
                    scale.faster = std::max(scale.faster, of.step_s - (*n)->same_tokens_s);
                }
            for (std::size_t f = 0; f < has.size(); ++f) has[f] = has[f] || r.has[f];
            scale.name = std::max(scale.name, sheet.canvas().text_width(r.name, sheet.plain()));
            scale.words = std::max(scale.words, sheet.canvas().text_width(r.words, sheet.plain()));
        }
    if (scale.slower + scale.faster <= 0) {
        sheet.words("No single change moves the time for the step's tokens.");
        return;
    }
    // If both leave no room for bars, the words go below their row's name.
    scale.below = scale.name + scale.words + 2 * sheet.paper().body > sheet.width() * 0.8f;
    scale.name = std::min(scale.name, sheet.width() * 0.45f);
    const float row_h = sheet.paper().line() * (scale.below ? 2.2f : 1.1f);
    for (std::size_t k = 0; k < panels.size(); ++k) {
        if (panels[k].empty()) continue;
        const float high = row_h * static_cast<float>(panels[k].size());
        sheet.need(std::min(sheet.whole(), high + sheet.paper().line()));
        sheet.words(k == 0 ? "What may be chosen, what gains most first" : "What it rests on",
                    sheet.strong());
        Rect rows = sheet.take_grown(high, 1.7f * high);
        const float each = rows.h / static_cast<float>(panels[k].size());
        for (const TornadoRow& r : panels[k]) draw_row(sheet, rows.cut_top(each), r, scale);
    }
    for (const MemoryFit f : {MemoryFit::no, MemoryFit::if_small})
        if (has[static_cast<std::size_t>(f)])
            sheet.words(std::string(kFitMarks[static_cast<std::size_t>(f)]) + " " + std::string(name_of(f))
                            + ".",
                        sheet.faint());
}

// Draws what was tried, a row for each change: its step on one scale, and the memory of the fullest GPU on
// another one.

namespace {

struct TriedRow {
    std::string name;
    double step_s = 0, bytes = 0;
    bool own = false, proposed = false, fits = true;
};

std::vector<TriedRow> tried_rows(const ReviewContent& content) {
    const Reviewed of = content.first();
    const SearchResult* proposed = proposal_of(content);
    const Evaluation& e = of.evaluation;
    const bool fits = fit_of_plan(e) == MemoryFit::yes;
    std::vector<TriedRow> out{
        {content.comparison ? "plan A" : "this plan", e.step->time_s, e.memory.peak(), true, false, fits}};
    for (const SearchResult& r : content.tried)
        out.push_back({change_words(of.plan, r.choice), r.step_s, r.memory_bytes, false, &r == proposed});
    for (const SearchResult& r : content.unfit)
        out.push_back({change_words(of.plan, r.choice) + ": does not fit", r.step_s, r.memory_bytes, false,
                       false, false});
    return out;
}

// Holds the columns of a row, and what their widths stand for.
struct TriedColumns {
    float name = 0, step = 0, gain = 0, memory = 0, gap = 0;
    float gain_bars = 0, memory_bars = 0;
    double shorter = 0, longer = 0, bytes = 0;
};

std::string gain_text(double share) {
    return (share < 0 ? "−" : "+") + percent(std::abs(share));
}

TriedColumns tried_columns(ReviewSheet& sheet, float width, const std::vector<TriedRow>& rows, double hbm) {
    Canvas& c = sheet.canvas();
    TriedColumns out{.step = c.text_width("00.00 ms", sheet.strong()) + 4,
                     .gain = c.text_width("+0.000 %", sheet.strong()) + 4,
                     .memory = c.text_width("fullest GPU", sheet.strong()) + 4,
                     .gap = sheet.paper().body * 0.6f,
                     .bytes = hbm};
    for (const TriedRow& r : rows) {
        out.name = std::max(out.name, c.text_width(r.name, sheet.strong()) + 2);
        const double share = r.step_s / rows.front().step_s - 1;
        out.shorter = std::max(out.shorter, -share), out.longer = std::max(out.longer, share);
        out.bytes = std::max(out.bytes, r.bytes);
    }
    out.name = std::min(out.name, width * 0.32f);
    const float bars = width - out.name - out.step - out.gain - out.memory - 5 * out.gap;
    // The memory has its figures only if both would be too small to read.
    const bool both = bars >= sheet.paper().body * 14;
    out.gain_bars = both ? bars * 0.5f : bars + out.gap, out.memory_bars = both ? bars * 0.5f : 0;
    return out;
}

float change_height(ReviewSheet& sheet, const TriedRow& r, const TriedColumns& columns) {
    const float line = sheet.paper().line();
    return sheet.canvas().paragraph_height(columns.name, r.name, sheet.strong(), line) + line * 0.1f;
}

void draw_gain(ReviewSheet& sheet, Rect bars, double share, const TriedColumns& columns) {
    Canvas& c = sheet.canvas();
    const double whole = std::max(columns.shorter + columns.longer, 1e-9);
    const auto x_of = [&](double s) {
        return bars.x + static_cast<float>((s + columns.shorter) / whole) * bars.w;
    };
    const float x0 = std::min(x_of(0), x_of(share)), x1 = std::max(x_of(0), x_of(share));
    if (x1 > x0)
        c.rect({x0, bars.y + bars.h * 0.2f, std::max(1.0f, x1 - x0), bars.h * 0.6f},
               share > 0 ? sheet.theme().amber : sheet.theme().good);
    c.line({x_of(0), bars.y}, {x_of(0), bars.bottom()}, sheet.theme().secondary);
}

void draw_change_memory(ReviewSheet& sheet, Rect bars, double bytes, double hbm,
                        const TriedColumns& columns) {
    Canvas& c = sheet.canvas();
    const auto x_of = [&](double b) { return bars.x + static_cast<float>(b / columns.bytes) * bars.w; };
    const Rect bar{bars.x, bars.y + bars.h * 0.2f, x_of(bytes) - bars.x, bars.h * 0.6f};
    c.rect({bar.x, bar.y, std::min(bar.right(), x_of(hbm)) - bar.x, bar.h}, sheet.theme().memory[1]);
    if (bytes > hbm) {
        const Rect over{x_of(hbm), bar.y, std::max(2.0f, bar.right() - x_of(hbm)), bar.h};
        c.pattern(over, Pattern::hatched, sheet.theme().bad, sheet.theme().panel);
        c.frame(over, sheet.theme().bad, 1.2f, 0);
    }
    c.line({x_of(hbm), bars.y}, {x_of(hbm), bars.bottom()}, sheet.theme().bad, 1.5f, Dash::dashed);
}

void draw_change(ReviewSheet& sheet, Rect row, const TriedRow& r, double own_s, double hbm,
                 const TriedColumns& columns) {
    const Theme& t = sheet.theme();
    if (r.proposed) sheet.canvas().rect(row.inset(-4, 0), mix(t.panel, t.good, 0.14f), 3);
    const TextStyle style = r.proposed || r.own ? sheet.strong() : sheet.plain();
    TextStyle memory = style;
    if (!r.fits) memory.color = t.bad;
    Rect name = row.cut_left(columns.name);
    const float line = sheet.paper().line();
    const float high = sheet.canvas().paragraph_height(name.w, r.name, style, line);
    name.y += std::max(0.0f, (name.h - high) / 2);
    sheet.canvas().paragraph(name, r.name, style, line);
    const double share = r.step_s / own_s - 1;
    sheet.label(row.cut_left(columns.step + columns.gap), time_text(r.step_s), style, Align::right);
    sheet.label(row.cut_left(columns.gain + columns.gap), r.own ? "" : gain_text(share), style, Align::right);
    row.cut_left(columns.gap);
    draw_gain(sheet, row.cut_left(columns.gain_bars), share, columns);
    sheet.label(row.cut_left(columns.memory + columns.gap), memory_text(r.bytes), memory, Align::right);
    if (columns.memory_bars <= 0) return;
    row.cut_left(columns.gap);
    draw_change_memory(sheet, row, r.bytes, hbm, columns);
}

}  // namespace

float tried_height(ReviewSheet& sheet, float width, const ReviewContent& content) {
    const std::vector<TriedRow> rows = tried_rows(content);
    const TriedColumns columns = tried_columns(sheet, width, rows, content.evaluations[0].memory.hbm);
    float out = sheet.paper().line() * 1.1f;
    for (const TriedRow& r : rows) out += change_height(sheet, r, columns);
    return out;
}

void draw_tried(ReviewSheet& sheet, Rect room, const ReviewContent& content) {
    const double hbm = content.evaluations[0].memory.hbm;
    const std::vector<TriedRow> rows = tried_rows(content);
    const TriedColumns columns = tried_columns(sheet, room.w, rows, hbm);
    const float more = (room.h - tried_height(sheet, room.w, content)) / static_cast<float>(rows.size());
    Rect head = room.cut_top(sheet.paper().line() * 1.1f);
    sheet.label(head.cut_left(columns.name), "change", sheet.faint());
    sheet.label(head.cut_left(columns.step + columns.gap), "step", sheet.faint(), Align::right);
    head.cut_left(columns.gain + 2 * columns.gap + columns.gain_bars);
    sheet.label(head.cut_left(columns.memory + columns.gap), "fullest GPU", sheet.faint(), Align::right);
    if (columns.memory_bars > 0) sheet.label(head, "of " + memory_text(hbm), sheet.faint(), Align::right);
    for (const TriedRow& r : rows)
        draw_change(sheet, room.cut_top(change_height(sheet, r, columns) + std::max(0.0f, more)), r,
                    rows.front().step_s, hbm, columns);
}

// Draws the way from one step to another: a bar of A, a bar for each part that differs, a bar of B. The axis
// begins near the lowest of them, and says so.

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
        out.push_back({r.name, typeset(r.brief), slice, r.delta_s[1]});
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
