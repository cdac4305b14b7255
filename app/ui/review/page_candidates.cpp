// The page that decides among more than two plans: what to take and why, and each plan in a row: its step in
// parts, its memory, all on one scale.
#include "app/tables/compare.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/compare/compare_shown.h"
#include "core/mesh/layout_name.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

struct CandidateScale {
    double step_s = 0, bytes = 0;
    float name = 0;  // width of the first column
};

// Writes which plan it is: its letter and title, and below it what distinguishes it from A.
void draw_name(ReviewSheet& sheet, Rect room, const ReviewContent& content, std::size_t i) {
    const PlanComparison& c = *content.comparison;
    const float line = sheet.paper().line();
    const Rect letter = room.cut_left(sheet.paper().body * 1.3f);
    sheet.label({letter.x, letter.y, letter.w, line}, plan_letter(i), sheet.strong());
    std::string change;
    for (const FieldDifference& f : c.fields)
        if (f.values[i] != f.values[0])
            change += (change.empty() ? "" : ", ") + field_name(f.pointer) + " " + field_value(f.values[i]);
    const std::string text = i == 0 ? c.plans[0] : change.empty() ? "as A" : change;
    Canvas& canvas = sheet.canvas();
    const auto lines = canvas.wrapped(room.w, text, sheet.plain());
    std::size_t drawn = 0;
    for (const std::string_view words : lines) {
        if (room.h < line) break;
        const bool last = room.h < 2 * line && drawn + 1 < lines.size();
        sheet.label(room.cut_top(line), last ? "and more, in the table below" : words,
                    i == 0 ? sheet.strong() : sheet.plain());
        ++drawn;
    }
}

void draw_step_bar(ReviewSheet& sheet, Rect room, const Step& step, double whole_s) {
    const float line = sheet.paper().line();
    Rect words = room.cut_top(line);
    sheet.label(words, time_text(step.time_s) + "  ·  MFU " + percent(step.mfu), sheet.strong());
    Rect bar{room.x, room.y, static_cast<float>(step.time_s / whole_s) * room.w, line * 0.9f};
    for (const StepSlice& s : joined(waterfall(step), is_below_peak, StepPart::products)) {
        const auto x = [&](double t) { return bar.x + static_cast<float>(t / step.time_s) * bar.w; };
        fill_part(sheet.canvas(), sheet.theme(),
                  {x(s.from_s), bar.y, std::max(0.5f, x(s.from_s + s.time_s) - x(s.from_s)), bar.h}, s);
    }
}

void draw_memory_of(ReviewSheet& sheet, Rect room, const Evaluation& e, double whole) {
    const Memory& m = e.memory;
    const MemoryFit fit = fit_of_plan(e);
    const float line = sheet.paper().line();
    TextStyle style = sheet.strong();
    style.color = fit == MemoryFit::yes  ? sheet.theme().text
                  : fit == MemoryFit::no ? sheet.theme().bad
                                         : sheet.theme().amber;
    sheet.label(room.cut_top(line), gib(m.peak()) + " GiB  ·  " + std::string(name_of(fit)), style);
    room.h = line * 0.9f;
    draw_memory_bar(sheet, room, m.stage[static_cast<std::size_t>(m.peak_stage)], m.hbm, whole);
}

void draw_candidate(ReviewSheet& sheet, const ReviewContent& content, std::size_t i,
                    const CandidateScale& scale, bool taken) {
    const Evaluation& e = content.evaluations[i];
    const float line = sheet.paper().line(), apart = sheet.paper().body * 1.4f;
    Rect row = sheet.take(line * 2.4f);
    if (i == 0)
        sheet.canvas().rect(
            {row.x - 6, row.y - 3, row.w + 12, row.h - 2},
            mix(sheet.theme().panel, taken ? sheet.theme().good : sheet.theme().secondary, 0.12f), 4);
    draw_name(sheet, row.cut_left(scale.name), content, i);
    row.cut_left(apart);
    if (!e.step) {
        const std::string why = "cannot be built: " + first_error(e.problems);
        sheet.canvas().paragraph(row, why, sheet.plain(), line);
        return;
    }
    const float w = (row.w - apart) * 0.55f;
    draw_step_bar(sheet, row.cut_left(w), *e.step, scale.step_s);
    row.cut_left(apart);
    draw_memory_of(sheet, row, e, scale.bytes);
}

}  // namespace

void candidates_page(ReviewSheet& sheet, const ReviewContent& content) {
    sheet.begin(decision_of(content, nullptr));
    const auto taken = better_of(content);
    const std::string reason = reason_of(content, nullptr);
    draw_verdict(sheet, taken ? MemoryFit::yes : MemoryFit::no,
                 reason + "A is the plan under review; the rows are on one scale.");
    candidate_figures(sheet, content);
}

void candidate_figures(ReviewSheet& sheet, const ReviewContent& content) {
    const auto taken = better_of(content);
    CandidateScale scale{.name = sheet.width() * 0.34f};
    for (const Evaluation& e : content.evaluations) {
        if (!e.step) continue;
        scale.step_s = std::max(scale.step_s, e.step->time_s);
        scale.bytes = std::max({scale.bytes, e.memory.hbm,
                                e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)].most()});
    }
    for (std::size_t i = 0; i < content.plans.size(); ++i)
        draw_candidate(sheet, content, i, scale, taken && *taken == i);
    sheet.gap();
}

}  // namespace pentamesh::ui
