// Draws what was tried, a row for each change: its step on one scale, and the memory of the fullest GPU on
// another one.
#include "app/ui/kit/format.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
