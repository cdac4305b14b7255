#include "app/tables/measured.h"
#include "app/tables/step.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/pages.h"
#include "core/base/text.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

std::string step_words(const Step& s) {
    const Band r = band_of(s.time_s, s.error);
    return "A step takes " + time_text(s.time_s, Zeros::kept) + " (" + time_text(r.low, Zeros::kept) + " to "
           + time_text(r.high, Zeros::kept) + "). " + percent_text(s.ideal_s / s.time_s)
           + " of it is the model's own work at the GPUs' peak; the rest is where time is lost. Exposed is "
             "communication that no compute hides.";
}

// Says whose idle time "bubble" means, in each of its figures.
std::string bubble_words(const Evaluation& e) {
    const Timeline& t = e.timeline;
    const Step& s = *e.step;
    if (t.empty()) return "The pipeline is too long to replay; the bubble is the schedule's closed form.";
    if (t.shape.devices <= 1) return "One stage: there is no pipeline, and no bubble in it.";
    double least = 1, most = 0;
    for (const DeviceTime& d : t.device) {
        const double idle = (t.makespan - d.busy) / t.makespan;
        least = std::min(least, idle), most = std::max(most, idle);
    }
    std::string out =
        "The schedule " + std::string(name_of(t.shape.schedule)) + " with "
        + sentence(t.shape.devices, " stages and ", t.shape.microbatches, " micro-batches takes ")
        + time_text(t.makespan, Zeros::kept) + ". The average stage idles "
        + percent_text(t.bubble_fraction()) + " of that, the busiest " + percent_text(least) + ", the idlest "
        + percent_text(most) + ". Of the step above, " + time_text(s.bubble_s, Zeros::kept)
        + " are the average stage's wait in the pipeline";
    if (s.uneven_s > 1e-6 * s.time_s)
        out += ": " + time_text(schedule_bubble_s(s), Zeros::kept)
               + " that the schedule leaves idle on the longest stage, and "
               + time_text(s.uneven_s, Zeros::kept) + " because stages are uneven";
    return out + ".";
}

// Lists what a run of the plan took, part by part, next to the estimate.
void draw_run(ReviewSheet& sheet, const runs::Measured& run) {
    const Table parts = columns_of(measured_parts_table(run),
                                   {"part", "predicted_s", "measured_s", "difference_s", "share", "why"});
    const float line = sheet.paper().line();
    sheet.head("What was measured", line * 2 + sheet.table_start(parts));
    sheet.words(typeset(run.summary));
    for (const runs::RunProblem& p : run.problems) draw_item(sheet, sheet.theme().amber, typeset(p.message));
    for (const std::string& w : run.warnings) draw_item(sheet, sheet.theme().secondary, typeset(w));
    sheet.gap(0.3f);
    sheet.table(parts);
}

}  // namespace

void time_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    const Evaluation& e = of.evaluation;
    sheet.section("Time: how long a step takes, and why");
    sheet.place(kTimePage);
    if (!e.valid) return;
    if (!e.step) {
        sheet.words("No time comes out of this plan: see the problems on the first page.");
        return;
    }
    sheet.words(step_words(*e.step), sheet.strong());
    sheet.gap(0.3f);
    const float bars = std::min(sheet.whole(), waterfall_height(sheet, *e.step));
    draw_waterfall_figure(sheet, sheet.take_grown(bars, 1.6f * bars), *e.step, e.step->time_s);
    sheet.gap(0.8f);
    if (content.request.run) draw_run(sheet, *content.request.run);
    const std::string bubble = bubble_words(e);
    const float words = sheet.words_height(bubble, sheet.width());
    const bool pipeline = !e.timeline.empty() && e.timeline.shape.devices > 1;
    // The figure stands under its heading and words, all on one page.
    const float least = sheet.paper().line() * 6, rest = sheet.whole() - words - sheet.paper().line() * 3;
    const float figure = pipeline ? std::max(least, std::min(timeline_height(sheet, e.timeline), rest)) : 0;
    sheet.head("The pipeline in one step", words + sheet.paper().line() * 0.3f + figure);
    sheet.words(bubble);
    sheet.gap(0.3f);
    if (pipeline) {
        sheet.need(std::min(figure, sheet.whole()));
        const float high = std::min(figure, sheet.left());
        draw_timeline_figure(sheet, sheet.take_grown(high, 2.5f * high), e.timeline);
        sheet.gap(0.8f);
    }
    if (const Table cost = cost_table(of.plan, &*e.step); !cost.rows.empty()) {
        sheet.head("What the training takes", sheet.table_start(cost));
        sheet.table(cost);
    }
    if (!content.sensitivity) return;
    const Sensitivity& s = *content.sensitivity;
    sheet.head("What the step depends on", sheet.paper().line() * 14);
    sheet.words(
        "By how much the time for the step's tokens changes: settings one step down and up, hardware and "
        "constants 20 %, all else equal.",
        sheet.faint());
    sheet.gap(0.3f);
    draw_tornado(sheet, of, s);
}

}  // namespace pentamesh::ui
