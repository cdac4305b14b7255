#include "app/ui/review/report_pictures.h"

#include "app/ui/review/pages.h"
#include "render/page.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kReportWidth = 960, kTallest = 60000;  // the figure ends where it ends

bool has_figure(const Evaluation& e, ReportFigure figure) {
    if (!e.valid) return false;
    switch (figure) {
    case ReportFigure::placement: return !axes_in_use(e).empty();
    case ReportFigure::memory: return !e.memory.stage.empty();
    case ReportFigure::time: return e.step.has_value();
    case ReportFigure::pipeline: return !e.timeline.empty() && e.timeline.shape.devices > 1;
    }
    return false;
}

void draw_report_figure(ReviewSheet& sheet, const Reviewed& of, ReportFigure figure) {
    const Evaluation& e = of.evaluation;
    switch (figure) {
    case ReportFigure::placement: draw_axes_grid(sheet, of, axes_in_use(e)); break;
    case ReportFigure::memory: draw_memory_bars(sheet, of); break;
    case ReportFigure::time:
        draw_waterfall_figure(sheet, sheet.take(waterfall_height(sheet, *e.step)), *e.step, e.step->time_s);
        break;
    case ReportFigure::pipeline: {
        const float row = sheet.paper().line() * 1.2f;
        const float most = row * 24;  // lower rows where there are many
        draw_timeline_figure(
            sheet, sheet.take(std::min(most, row * static_cast<float>(e.timeline.device.size())) + row),
            e.timeline);
        break;
    }
    }
}

}  // namespace

std::string report_figure(const Presets& presets, const Plan& plan, const Evaluation& e, ReportFigure figure,
                          const FontFiles& fonts) {
    if (!has_figure(e, figure)) return {};
    return figure_svg(fonts, [&](ReviewSheet& sheet) {
        draw_report_figure(sheet, {plan, e, presets}, figure);
    });
}

std::string figure_svg(const FontFiles& fonts, const std::function<void(ReviewSheet&)>& draw) {
    Paper paper = paper_of(PaperKind::a4);
    paper.size = {kReportWidth, kTallest};
    paper.margin = 16;
    PageSpec spec{PageFormat::none, paper.size, load_faces(fonts), "", {}, 1, nullptr};
    // The figure is drawn twice: first to learn its height, then for the file.
    std::string svg;
    for (const PageFormat format : {PageFormat::none, PageFormat::svg}) {
        spec.format = format, spec.size = paper.size;
        Page page(spec);
        ReviewSheet sheet({[&](const std::string&) { return Canvas(nullptr, 1, &page); }, 0}, paper,
                          theme_of(ThemeId::light), "", "", "");
        sheet.begin_bare();
        draw(sheet);
        paper.size.y = std::ceil(paper.size.y - sheet.left()) + 1;
        if (format == PageFormat::svg) svg = page.finish();
    }
    return svg;
}

}  // namespace pentamesh::ui
