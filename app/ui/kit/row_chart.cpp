#include "app/ui/kit/row_chart.h"

#include "app/ui/kit/ui.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

const TextStyle& style_in(const Ink& ink, const RowChart::Row& row, const RowChart::Cell& cell) {
    return cell.style.size > 0 ? cell.style : row.style.size > 0 ? row.style : ink.plain;
}

}  // namespace

Ink ink_of(Ui& ui) {
    return {ui.canvas(),
            ui.theme(),
            ui.small(),
            ui.style(12, Tone::text, Face::semibold),
            ui.small(),
            18,
            [&ui](Rect r, std::string_view text, const TextStyle& s, Align a) { ui.label(r, text, s, a); }};
}

PlacedChart place_chart(const Ink& ink, Rect room, RowChart& chart) {
    PlacedChart out;
    float left = room.w, shares = 0;
    std::vector<float> width;
    for (std::size_t k = 0; k < chart.columns.size(); ++k) {
        RowChart::Column& column = chart.columns[k];
        float w = column.width;
        if (!column.head.empty()) w = std::max(w, ink.canvas.text_width(column.head, ink.faint) + 2);
        for (const RowChart::Row& row : chart.rows) {
            const RowChart::Cell& cell = row.cells[k];
            for (const RowChart::Mark& m : cell.marks) {
                column.low = std::min({column.low, m.from, m.to});
                column.high = std::max({column.high, m.from, m.to});
            }
            if (column.share > 0 || column.width > 0 || cell.words.empty()) continue;
            const TextStyle& style = chart.measured.size > 0 ? chart.measured : style_in(ink, row, cell);
            w = std::max(w, ink.canvas.text_width(cell.words, style) + 2);
        }
        if (column.share > 0) w = 0;
        if (column.high <= column.low) column.high = column.low + 1;
        width.push_back(std::min(w, room.w * column.most));
        left -= width.back() + column.gap, shares += column.share;
    }
    float x = room.x;
    for (std::size_t k = 0; k < chart.columns.size(); ++k) {
        const RowChart::Column& column = chart.columns[k];
        const float w = column.share > 0 ? std::max(0.0f, left) * column.share / shares : width[k];
        out.column.push_back({x + column.gap, room.y, w, room.h});
        x += column.gap + w;
    }
    return out;
}

float chart_row_height(const Ink& ink, const PlacedChart& at, const RowChart::Row& row) {
    float out = ink.line;
    for (std::size_t k = 0; k < row.cells.size(); ++k)
        if (const RowChart::Cell& cell = row.cells[k]; cell.wraps)
            out = std::max(out, ink.canvas.paragraph_height(at.column[k].w, cell.words,
                                                            style_in(ink, row, cell), ink.line));
    return out;
}

void draw_chart_head(const Ink& ink, const PlacedChart& at, Rect row, const RowChart& chart) {
    for (std::size_t k = 0; k < chart.columns.size(); ++k)
        if (const RowChart::Column& column = chart.columns[k]; !column.head.empty())
            ink.label(at.cell(k, row), column.head, ink.faint, column.align);
}

void draw_chart_row(const Ink& ink, const PlacedChart& at, Rect row, const RowChart& chart, std::size_t i) {
    const RowChart::Row& of = chart.rows[i];
    if (of.under) of.under(row);
    for (std::size_t k = 0; k < of.cells.size(); ++k) {
        const RowChart::Column& column = chart.columns[k];
        const RowChart::Cell& cell = of.cells[k];
        const TextStyle& style = style_in(ink, of, cell);
        Rect box = at.cell(k, row);
        if (box.w <= 0) continue;
        if (cell.wraps) {
            const float high = ink.canvas.paragraph_height(box.w, cell.words, style, ink.line);
            box.y += std::max(0.0f, (box.h - high) / 2);
            ink.canvas.paragraph(box, cell.words, style, ink.line);
        } else if (!cell.words.empty()) {
            ink.label(box, cell.words, style, column.align);
        }
        const auto draw_rules = [&](bool below) {
            for (const RowChart::Rule& r : column.rules) {
                const float x = at.x(chart, k, r.at);
                if (r.below == below)
                    ink.canvas.line({x, row.y}, {x, row.bottom()}, r.color, r.width, r.dash);
            }
        };
        draw_rules(true);
        for (const RowChart::Mark& m : cell.marks) {
            const float x0 = at.x(chart, k, std::min(m.from, m.to)),
                        x1 = at.x(chart, k, std::max(m.from, m.to));
            m.paint({x0, row.y + row.h * (1 - column.bar) / 2, std::max(column.least, x1 - x0),
                     row.h * column.bar});
        }
        draw_rules(false);
    }
}

void draw_chart(const Ink& ink, Rect room, RowChart& chart) {
    const PlacedChart at = place_chart(ink, room, chart);
    const float high = room.h / static_cast<float>(std::max<std::size_t>(1, chart.rows.size()));
    for (std::size_t i = 0; i < chart.rows.size(); ++i) draw_chart_row(ink, at, room.cut_top(high), chart, i);
}

std::optional<Rect> LegendLines::next(float width) {
    if (end > 0 && end + width > room.w) ++lines, end = 0;
    const Rect at{room.x + end, room.y + static_cast<float>(lines - 1) * ink.line,
                  std::min(width, room.w - end), ink.line};
    end += at.w + apart;
    if (!draw || at.bottom() > room.bottom() + 1) return std::nullopt;
    return at;
}

void LegendLines::item(std::string_view name, const RowChart::Paint& paint) {
    const auto at = next(ink.canvas.text_width(name, ink.faint) + mark.x + 6);
    if (!at) return;
    paint({at->x, at->center().y - mark.y / 2, mark.x, mark.y});
    ink.canvas.text_in({at->x + mark.x + 5, at->y, at->w - mark.x - 5, at->h}, name, ink.faint);
}

}  // namespace pentamesh::ui
