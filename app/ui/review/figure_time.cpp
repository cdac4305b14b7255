#include "app/tables/step.h"
#include "app/ui/review/figures.h"
#include "app/ui/scene/colors.h"
#include "core/base/text.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

std::string slice_figure(double time_s, double step_s) {
    return time_text(time_s, Zeros::kept) + "  " + percent_text(time_s / step_s, Zeros::kept);
}

float waterfall_row(const ReviewSheet& sheet) {
    return sheet.paper().line() * 1.15f;
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

}  // namespace pentamesh::ui
