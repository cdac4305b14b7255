#include "app/tables/step.h"
#include "app/ui/review/figures.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/timeline/timeline_rows.h"
#include "core/base/text.h"
#include "core/pipeline/timeline_blocks.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kMostBlocks_px = 6000;  // blocks of a whole figure

std::string slice_figure(double time_s, double step_s) {
    return time_text(time_s, Zeros::kept) + "  " + percent_text(time_s / step_s, Zeros::kept);
}

float waterfall_row(const ReviewSheet& sheet) {
    return sheet.paper().line() * 1.15f;
}

// Maps a time to its place on the page.
struct TimeAxis {
    Rect plot;
    double whole_s = 1;
    [[nodiscard]] float x(double t) const {
        return plot.x + static_cast<float>(std::clamp(t / whole_s, 0.0, 1.0)) * plot.w;
    }
};

void draw_merged(ReviewSheet& sheet, const TimeAxis& axis, Rect row, const Block& b) {
    const Theme& t = sheet.theme();
    const double all = std::max(b.work.all(), 1e-300);
    const auto strength = static_cast<float>(std::clamp(b.density(), 0.0, 1.0));
    const float x0 = axis.x(b.from), w = std::max(0.5f, axis.x(b.to) - x0);
    float y = row.y;
    const auto part = [&](double work, Color color) {
        const float h = row.h * static_cast<float>(work / all);
        if (h > 0) sheet.canvas().rect({x0, y, w, h}, mix(t.panel, color, strength));
        y += h;
    };
    part(b.work.forward, t.forward);
    part(b.work.backward, t.backward);
    part(b.work.weight, t.weight_grad);
}

void draw_op(ReviewSheet& sheet, const TimeAxis& axis, Rect row, const Timeline& t, std::size_t i) {
    Canvas& c = sheet.canvas();
    const Op& op = t.order.ops[i];
    const int chunks = chunks_of(t.shape);
    const float x0 = axis.x(t.start[i]), x1 = axis.x(t.end[i]);
    const Rect r{x0, row.y, std::max(0.8f, x1 - x0 - (x1 - x0 > 4 ? 1.0f : 0.0f)), row.h};
    if (op.kind == OpKind::FB) {
        Op forth = op, back = op;
        forth.kind = OpKind::F;
        back.kind = OpKind::B, back.chunk = op.backward_chunk;
        c.rect({r.x, r.y, r.w, r.h / 2}, shade_of(sheet.theme(), forth, chunks));
        c.rect({r.x, r.y + r.h / 2, r.w, r.h / 2}, shade_of(sheet.theme(), back, chunks));
        return;
    }
    const Color color = shade_of(sheet.theme(), op, chunks);
    c.rect(r, color);
    TextStyle style{Face::regular, sheet.paper().small, ink_on(color), 0};
    const std::string number = std::to_string(op.microbatch % t.shape.microbatches);
    if (r.h >= style.size * 1.1f && c.text_width(number, style) + 3 <= r.w)
        sheet.label(r, number, style, Align::center);
}

void draw_timeline_foot(ReviewSheet& sheet, Rect row, const TimeAxis& axis, const Timeline& t) {
    Canvas& c = sheet.canvas();
    const TextStyle style = sheet.faint();
    const std::string end = time_text(t.makespan, Zeros::kept);
    sheet.label({axis.plot.x, row.y, axis.plot.w, row.h}, end, style, Align::right);
    std::array<bool, 5> has{};
    for (const Op& op : t.order.ops) has[static_cast<std::size_t>(op.kind)] = true;
    const float mark = sheet.paper().small * 0.8f;
    float x = row.x;
    for (std::size_t k = 0; k < has.size(); ++k) {
        const auto kind = static_cast<OpKind>(k);
        if (!has[k] || kind == OpKind::FB) continue;
        c.rect({x, row.center().y - mark / 2, mark, mark}, color_of(sheet.theme(), kind));
        x += mark + 6;
        const std::string words(name_of(kind));
        const float w = c.text_width(words, style);
        sheet.label({x, row.y, w + 1, row.h}, words, style);
        x += w + sheet.paper().small * 1.2f;
    }
    if (has[static_cast<std::size_t>(OpKind::FB)]) {
        const std::string words = "pairs: forward above backward";
        sheet.label({x, row.y, c.text_width(words, style) + 1, row.h}, words, style);
    }
}

}  // namespace

float waterfall_height(const ReviewSheet& sheet, const Step& step) {
    return waterfall_row(sheet) * static_cast<float>(waterfall(step).size() + 1);
}

void draw_waterfall_figure(ReviewSheet& sheet, Rect room, const Step& step, double whole_s) {
    Canvas& c = sheet.canvas();
    const std::vector<StepSlice> slices = waterfall(step);
    const float row_h = std::max(waterfall_row(sheet), room.h / static_cast<float>(slices.size() + 1));
    float label = c.text_width("step", sheet.strong()), figure = 0;
    for (const StepSlice& s : slices) {
        label = std::max(label, c.text_width(label_of(s), sheet.plain()));
        figure = std::max(figure, c.text_width(slice_figure(s.time_s, step.time_s), sheet.strong()));
    }
    figure = std::max(figure, c.text_width(slice_figure(step.time_s, step.time_s), sheet.strong()));
    label += sheet.paper().body * 0.8f, figure += sheet.paper().body * 0.8f;
    const float w = std::max(10.0f, room.w - label - figure);
    const auto x_of = [&](double t) { return room.x + label + static_cast<float>(t / whole_s) * w; };
    for (const StepSlice& s : slices) {
        const Rect row = room.cut_top(row_h);
        sheet.label({row.x, row.y, label, row.h}, label_of(s), sheet.plain());
        const float x = x_of(s.from_s), len = std::max(1.5f, x_of(s.from_s + s.time_s) - x);
        const Rect bar{x, row.y + row.h * 0.14f, len, row.h * 0.72f};
        fill_part(c, sheet.theme(), bar, s);
        c.line({x + len, bar.bottom()}, {x + len, row.bottom() + row_h * 0.14f}, sheet.theme().hairline);
        sheet.label({row.right() - figure, row.y, figure, row.h}, slice_figure(s.time_s, step.time_s),
                    sheet.plain(), Align::right);
    }
    const Rect last = room.cut_top(row_h);
    c.line({x_of(0), last.y + 1}, {x_of(step.time_s), last.y + 1}, sheet.theme().secondary, 1.5f);
    sheet.label({last.x, last.y, label, last.h}, "step", sheet.strong());
    sheet.label({last.right() - figure, last.y, figure, last.h}, slice_figure(step.time_s, step.time_s),
                sheet.strong(), Align::right);
}

float timeline_height(const ReviewSheet& sheet, const Timeline& timeline) {
    const auto rows = static_cast<float>(timeline.device.size());
    const float room = sheet.whole() * 0.72f;
    return std::clamp(room / rows, 3.0f, sheet.paper().line() * 1.3f) * rows + sheet.paper().line() * 1.4f;
}

void draw_timeline_figure(ReviewSheet& sheet, Rect room, const Timeline& t) {
    Canvas& c = sheet.canvas();
    const auto n = static_cast<int>(t.device.size());
    if (n == 0 || t.makespan <= 0) return;
    const TextStyle style = sheet.faint();
    const float line = sheet.paper().line();
    const Rect foot = room.cut_bottom(line * 1.3f);
    const float label = c.text_width("stage " + std::to_string(n - 1), style) + sheet.paper().body * 0.6f;
    TimeAxis axis{room, t.makespan};
    axis.plot.cut_left(label);
    const float row_h = room.h / static_cast<float>(n);
    const int every = std::max(1, static_cast<int>(std::ceil(line * 0.95f / row_h)));
    WorkIndex index;
    build_work_index(t, index);
    const float pixels = static_cast<float>(n) * axis.plot.w;
    std::vector<Block> blocks;
    for (int d = 0; d < n; ++d) {
        Rect row{axis.plot.x, room.y + static_cast<float>(d) * row_h, axis.plot.w, row_h};
        if (d % every == 0)
            sheet.label({room.x, row.y + (row_h - line) / 2 * (row_h >= line ? 1.0f : 0.0f), label,
                         std::max(line, row_h * (row_h >= line ? 0.0f : 1.0f))},
                        "stage " + std::to_string(d), style);
        row.h -= row_h > 6 ? 2.0f : row_h * 0.15f;
        c.rect(row, mix(sheet.theme().panel, sheet.theme().hairline, 0.35f));
        visible_blocks(t, index, d, 0, t.makespan, static_cast<double>(axis.plot.w), blocks,
                       {.least_px = std::clamp(static_cast<double>(pixels / kMostBlocks_px), 1.5, 16.0)});
        for (const Block& b : blocks) {
            if (b.merged())
                draw_merged(sheet, axis, row, b);
            else
                draw_op(sheet, axis, row, t, b.first);
        }
    }
    draw_timeline_foot(sheet, foot, axis, t);
}

}  // namespace pentamesh::ui
