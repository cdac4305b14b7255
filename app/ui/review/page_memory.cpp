#include "app/tables/memory.h"
#include "app/tables/review.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/pages.h"
#include "app/ui/scene/colors.h"
#include "core/base/text.h"

#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

std::string held_words(const Memory& m) {
    const StageMemory& peak = m.stage[static_cast<std::size_t>(m.peak_stage)];
    std::string s = (m.stage.size() > 1 ? "A GPU of stage " + std::to_string(m.peak_stage) + " holds most: "
                                        : "Each GPU holds ")
                    + memory_text(peak.total(), Zeros::kept) + " of " + memory_text(m.hbm, Zeros::kept);
    const double free = m.hbm - peak.total();
    if (m.fits())
        s += ", which leaves " + memory_text(free, Zeros::kept) + " (" + percent_text(free / m.hbm)
             + ") free.";
    else if (m.may_fit())
        s += ", which " + std::string(kFitsIfSmall) + ".";
    else
        s += ", which does not fit: " + memory_text(-free, Zeros::kept) + " too much.";
    return s + " With what buffers may take it is " + memory_text(peak.least(), Zeros::kept) + " to "
           + memory_text(peak.most(), Zeros::kept) + ".";
}

std::vector<SavingStep> savings_of_plan(const Reviewed& of) {
    std::vector<double> in_flight;
    for (const StageMemory& s : of.evaluation.memory.stage) in_flight.push_back(s.in_flight);
    return savings(of.plan, in_flight);
}

// Returns the way from the whole model on one GPU to the plan. The scale is logarithmic: the first may be a
// thousand times the last.
Course course_of(const ReviewSheet& sheet, const Memory& m, const std::vector<SavingStep>& steps) {
    Course out{.heads = {"after", "saved", "holds"},
               .logarithmic = true,
               .limit = m.hbm,
               .limit_words = "a GPU has " + memory_text(m.hbm, Zeros::kept)};
    for (const SavingStep& s : steps) {
        const double held = s.fullest.total();
        const Color color =
            s.what == Saving::axis ? color_of(sheet.theme(), group_of(s.axis)) : sheet.theme().secondary;
        out.rows.push_back({label_of(s),
                            std::string(reason_of(s)),
                            held,
                            {typeset(memory_text(s.saved, Zeros::kept)), memory_text(held, Zeros::kept)},
                            color,
                            held > m.hbm ? sheet.theme().bad : sheet.theme().text});
    }
    if (!out.rows.empty()) out.rows.front().figures[0].clear();
    return out;
}

// Draws it as a table below what stands on the page; where it needs a slide of its own, as a picture.
void draw_headroom(ReviewSheet& sheet, const Reviewed& of) {
    const std::vector<SavingStep> steps = savings_of_plan(of);
    const Table table =
        without(savings_table(steps), {"parameters", "gradients", "optimizer", "activations", "buffers"});
    const std::string words =
        "The fullest GPU, from the whole model on one GPU to this plan, one choice after another";
    const float line = sheet.paper().line(), behind = line + sheet.table_start(table);
    const bool joins =
        !sheet.paper().one_a_page && sheet.left() >= behind + sheet.paper().head * 1.35f + line * 0.25f;
    if (joins || !sheet.paper().wide || steps.empty()) {
        sheet.head("What leaves the headroom", behind);
        sheet.words(words + ".", sheet.faint());
        sheet.table(table);
        return;
    }
    const Course course = course_of(sheet, of.evaluation.memory, steps);
    const float high = std::min(course_height(sheet, course), sheet.whole() - 4 * line);
    sheet.head("What leaves the headroom", line + high);
    sheet.words(words + ". The scale is logarithmic.", sheet.faint());
    draw_course(sheet, sheet.take_grown(high, 1.8f * high), course);
}

}  // namespace

Table stages_of(const Memory& m) {
    Table t = columns_of(memory_table(m), {"stage", "layers", "parameters", "gradients", "optimizer",
                                           "activations", "buffers", "total", "in_flight_microbatches"});
    const Table free = columns_of(headroom_table(m), {"free", "free_share", "free_at_most"});
    t.columns.insert(t.columns.end(), free.columns.begin(), free.columns.end());
    for (std::size_t i = 0; i < t.rows.size(); ++i)
        t.rows[i].insert(t.rows[i].end(), free.rows[i].begin(), free.rows[i].end());
    std::vector<Table::Row> joined;
    for (const StageRun& run : stage_runs(m)) {
        joined.push_back(t.rows[run.first]);
        joined.back()[0] = name_of(run);
    }
    t.rows = std::move(joined);
    return t;
}

void memory_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    sheet.section("Memory: what each GPU holds");
    sheet.place(kMemoryPage);
    const Memory& m = of.evaluation.memory;
    if (!of.evaluation.valid || m.stage.empty()) return;
    sheet.words(held_words(m), sheet.strong());
    sheet.gap(0.3f);
    draw_memory_bars(sheet, of);
    const Table stages = stages_of(m);
    const float line = sheet.paper().line();
    sheet.head("By stage and category", line + sheet.table_start(stages));
    sheet.words("In flight: micro-batches that are held at the peak. Free: with the usual buffers, and with "
                "the largest.",
                sheet.faint());
    sheet.table(stages);
    draw_headroom(sheet, of);
}

}  // namespace pentamesh::ui
