// The published runs that are most like the plan: what each measured, and what the program says of it.
#include "app/tables/review.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/step/view.h"
#include "core/base/text.h"
#include "core/step/constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kNearest = 6;
constexpr float kRunsHead = 22, kRunRow = 24, kRunsAxis = 20;
constexpr double kFarOff = 0.2;  // from this share on the difference is amber

// Returns "169 / 164".
std::string rates_of(const NearRunRow& run) {
    return significant(run.estimated) + " / " + significant(run.measured);
}

// The columns of a row of runs. In a narrow room the source is left out first, then both rates.
struct RunColumns {
    Rect name, source, scale, off, rates;

    RunColumns(Ui& ui, Rect room, const std::vector<NearRunRow>& rows) {
        float names = 0, rate_words = 0, sources = 0;
        for (const NearRunRow& r : rows) {
            names = std::max(names, ui.canvas().text_width(r.name, ui.style(12)));
            sources = std::max(sources, ui.canvas().text_width(r.source, ui.small()));
            rate_words = std::max(rate_words, ui.canvas().text_width(rates_of(r), ui.small()));
        }
        constexpr float kGap = 20, kOff = 60, kWithSource = 900, kWithRates = 620;
        const auto cut = [&](float w) {
            const Rect out = room.cut_left(w);
            room.cut_left(kGap);
            return out;
        };
        name = cut(std::min(names + 2, room.w * 0.36f));
        if (room.w + name.w > kWithSource) source = cut(std::min(sources + 2, room.w * 0.3f));
        if (room.w > kWithRates - name.w) rates = room.cut_right(rate_words + 2), room.cut_right(kGap);
        off = room.cut_right(kOff);
        room.cut_right(kGap);
        scale = room.inset(8, 0);
    }
};

// Draws one run: a disc at the estimate, a triangle above the line at what was measured, both joined.
void draw_run(Ui& ui, const RunColumns& columns, Rect row, const NearRunRow& run, const PlotScale& scale) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const auto in = [&](const Rect& column) { return Rect{column.x, row.y, column.w, row.h}; };
    ui.label(in(columns.name), whole_parts(ui, run.name, columns.name.w, ui.style(12)), ui.style(12));
    if (columns.source.w > 0) ui.label(in(columns.source), run.source, ui.small());
    const float y = row.center().y + 2, estimated = scale.at(run.estimated),
                measured = scale.at(run.measured);
    const bool far = std::abs(run.off()) >= kFarOff;
    c.line({columns.scale.x, y}, {columns.scale.right(), y}, theme.hairline);
    c.line({estimated, y}, {measured, y}, far ? theme.amber : theme.secondary, 3);
    c.circle({estimated, y}, 4.5f, theme.text);
    const std::array<Vec2, 3> mark{Vec2{measured - 5, y - 10}, {measured + 5, y - 10}, {measured, y - 2}};
    c.polygon(mark, theme.good);
    TextStyle difference = ui.style(12, Tone::text, far ? Face::semibold : Face::regular);
    if (far) difference.color = theme.amber;
    c.text_in(in(columns.off), difference_text(run.off(), percent), difference, Align::right);
    if (columns.rates.w > 0) c.text_in(in(columns.rates), rates_of(run), ui.small(), Align::right);
}

}  // namespace

float near_runs_height() {
    return kRunsHead + kRunRow * static_cast<float>(kNearest) + kRunsAxis;
}

void draw_near_runs(Ui& ui, Rect room, const Scene& scene, StepViewState& state, std::uint64_t revision) {
    const auto& rows = state.near.get(
        revision, [&] { return near_run_rows(published_runs(state, scene.presets), scene.plan, kNearest); });
    Canvas& c = ui.canvas();
    if (rows.empty())
        return static_cast<void>(c.paragraph(room, "No published run could be read.", ui.small(), 18));
    Rect head = room.cut_top(kRunsHead);
    const std::string title = "What was measured nearby";
    head.cut_left(c.text(head.min() + Vec2{0, 2}, title, ui.title()) + 10);
    const std::string marks = "disc: our estimate; triangle: the published run",
                      figures = marks + "; tokens a second and GPU";
    const std::array<std::string, 3> wordings{figures + ", estimated / measured", figures, marks};
    c.text_in({head.x, head.y, head.w, 20}, wording(ui, head.w, wordings, ui.small()), ui.small());
    const std::string how =
        "Nearest of " + thousands(std::ssize(state.runs->runs())) + " published runs. "
        + (scene.evaluation.step ? near_runs_words(*scene.evaluation.step) : distance_words());
    if (ui.area("step.near", head, 0, true, false).hovered) ui.tooltip(title + "\n" + how);
    // Whole rows only, the nearest first.
    const auto fit = static_cast<std::size_t>(std::max(0.0f, (room.h - kRunsAxis) / kRunRow));
    const std::size_t shown = std::min(rows.size(), fit);
    double low = rows.front().measured, high = low;
    for (std::size_t i = 0; i < shown; ++i) {
        low = std::min({low, rows[i].measured, rows[i].estimated});
        high = std::max({high, rows[i].measured, rows[i].estimated});
    }
    const RunColumns columns(ui, room, rows);
    const PlotScale scale{low / 1.2, high * 1.2, ScaleKind::logarithmic, columns.scale.x,
                          columns.scale.right()};
    const std::vector<double> ticks = round_ticks(scale, std::max(2, static_cast<int>(columns.scale.w / 70)));
    const float bottom = room.y + static_cast<float>(shown) * kRunRow;
    for (const double tick : ticks) {
        const float x = scale.at(tick);
        c.line({x, room.y}, {x, bottom}, ui.theme().hairline.alpha(0.5f));
        c.text_in({x - 40, bottom, 80, kRunsAxis}, count_text(tick), ui.style(11, Tone::secondary),
                  Align::center);
    }
    for (std::size_t i = 0; i < shown; ++i) {
        const Rect row{room.x, room.y + static_cast<float>(i) * kRunRow, room.w, kRunRow};
        const NearRunRow& run = rows[i];
        if (ui.area("step.run", row, i, true, false).hovered)
            ui.tooltip(run.name + "\n" + run.label + "\n" + run.source + "\nestimated "
                           + significant(run.estimated) + ", measured " + significant(run.measured)
                           + " tokens/s per GPU; distance " + significant(run.distance),
                       row);
        draw_run(ui, columns, row, run, scale);
    }
}

}  // namespace pentamesh::ui
