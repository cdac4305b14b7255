// The page that decides among more than two plans: what to take and why, and each plan in a row: its step in
// parts, its memory, all on one scale.
#include "app/tables/compare.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/signs.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/compare/view.h"
#include "core/explain/verdict.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <optional>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr float kLeastPlan = 2.4f, kPlainPlan = 3.1f, kMostPlan = 5;  // lines of a plan

struct CandidateScale {
    double step_s = 0, bytes = 0;
    float row = 0, bar = 0;    // the heights of a plan and of its bars
    float name = 0, cost = 0;  // widths of the first and the last column
    std::optional<std::size_t> taken{};
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
    const auto write = [&](const std::string& text, const TextStyle& style) {
        const auto lines = sheet.canvas().wrapped(room.w, text, style);
        for (std::size_t k = 0; k < lines.size() && room.h >= line; ++k) {
            const bool last = room.h < 2 * line && k + 1 < lines.size();
            sheet.label(room.cut_top(line), last ? "and more, in the table" : lines[k], style);
        }
    };
    if (i == 0 || c.plans[i] != c.plans[0]) write(c.plans[i], sheet.strong());
    if (i > 0) write(change.empty() ? "as A" : change, sheet.faint());
}

void fill_on_paper(ReviewSheet& sheet, Rect bar, const StepSlice& s) {
    if (s.part == StepPart::exposed)
        fill_axis(sheet.canvas(), sheet.theme(), bar, s.group);
    else
        fill_part(sheet.canvas(), sheet.theme(), bar, s);
}

// Returns the parts that the bars have, each once, as the first plan has them.
std::vector<StepSlice> parts_of_all(const ReviewContent& content) {
    std::vector<StepSlice> out;
    for (const Evaluation& e : content.evaluations) {
        if (!e.step) continue;
        for (const StepSlice& s : joined(waterfall(*e.step), is_below_peak, StepPart::products))
            if (std::none_of(out.begin(), out.end(), [&](const StepSlice& known) {
                    return known.part == s.part && (s.part != StepPart::exposed || known.group == s.group);
                }))
                out.push_back(s);
    }
    return out;
}

// Names the parts in as many lines as they need, and returns how many; without `draw` it counts only.
std::size_t parts_legend(ReviewSheet& sheet, const std::vector<StepSlice>& parts, bool draw) {
    const float line = sheet.paper().line(), mark = sheet.paper().body * 1.4f;
    const TextStyle style{Face::regular, sheet.paper().small, sheet.theme().secondary, 0};
    const auto new_row = [&] { return draw ? sheet.take(line) : Rect{0, 0, sheet.width(), line}; };
    Rect row = new_row();
    std::size_t rows = 1;
    for (const StepSlice& s : parts) {
        const std::string name = part_name(s);
        const float w = mark + 6 + sheet.canvas().text_width(name, style) + 2;
        if (w > row.w) row = new_row(), ++rows;
        Rect item = row.cut_left(w);
        row.cut_left(sheet.paper().small);
        if (!draw) continue;
        const Rect sample = item.cut_left(mark);
        fill_on_paper(sheet, {sample.x, sample.y + line * 0.2f, mark, line * 0.6f}, s);
        item.cut_left(6);
        sheet.label(item, name, style);
    }
    return rows;
}

// Returns true if a plan fits with the usual buffers only, which a line says.
bool any_nearly_full(const ReviewContent& content) {
    return std::any_of(content.evaluations.begin(), content.evaluations.end(),
                       [](const Evaluation& e) { return e.step && verdict_of(e).nearly_full; });
}

// Returns the height of what stands below the plans.
float height_below(ReviewSheet& sheet, const ReviewContent& content) {
    const std::size_t lines =
        parts_legend(sheet, parts_of_all(content), false) + (any_nearly_full(content) ? 1 : 0);
    return sheet.paper().line() * (static_cast<float>(lines) + 0.2f);
}

void draw_step_bar(ReviewSheet& sheet, Rect room, const Step& step, const CandidateScale& scale) {
    const float line = sheet.paper().line();
    Rect words = room.cut_top(line);
    sheet.label(words, time_text(step.time_s) + "  ·  MFU " + percent(step.mfu), sheet.strong());
    Rect bar{room.x, room.y, static_cast<float>(step.time_s / scale.step_s) * room.w, scale.bar};
    for (const StepSlice& s : joined(waterfall(step), is_below_peak, StepPart::products)) {
        const auto x = [&](double t) { return bar.x + static_cast<float>(t / step.time_s) * bar.w; };
        fill_on_paper(sheet,
                      {x(s.from_s), bar.y, std::max(0.5f, x(s.from_s + s.time_s) - x(s.from_s)), bar.h}, s);
    }
}

void draw_memory_of(ReviewSheet& sheet, Rect room, const Evaluation& e, const CandidateScale& scale) {
    const Memory& m = e.memory;
    const float line = sheet.paper().line();
    TextStyle style = sheet.strong();
    if (const auto sign = verdict_of(e).sign(); sign != MemoryFit::yes)
        style.color = color_of(sheet.theme(), sign);
    const bool full = verdict_of(e).nearly_full;
    sheet.label(room.cut_top(line),
                gib(m.peak()) + " GiB  ·  " + std::string(name_of(fit_of_plan(e))) + (full ? "*" : ""),
                style);
    room.h = scale.bar;
    draw_memory_bar(sheet, room, m.stage[static_cast<std::size_t>(m.peak_stage)], m.hbm, scale.bytes);
}

// Writes what a billion tokens or the training take.
void draw_cost(ReviewSheet& sheet, Rect room, const ReviewContent& content, std::size_t i) {
    const bool whole = std::all_of(content.plans.begin(), content.plans.end(),
                                   [](const Plan& p) { return p.training.tokens_total > 0; });
    const CostWords cost = cost_words(content.of(i), whole);
    const float line = sheet.paper().line();
    sheet.label(room.cut_top(line), cost.head, sheet.strong(), Align::right);
    sheet.label(room.cut_top(line), cost.rest.empty() ? "for a billion tokens" : cost.rest, sheet.faint(),
                Align::right);
}

void draw_candidate(ReviewSheet& sheet, const ReviewContent& content, std::size_t i,
                    const CandidateScale& scale) {
    const Evaluation& e = content.evaluations[i];
    const Theme& t = sheet.theme();
    const float line = sheet.paper().line(), apart = sheet.paper().body * 1.4f;
    Rect row = sheet.take(scale.row);
    const bool taken = scale.taken && *scale.taken == i;
    if (i == 0 || taken)
        sheet.canvas().rect({row.x - 6, row.y - 3, row.w + 12, row.h - 2},
                            mix(t.panel, taken ? t.good : t.secondary, 0.12f), 4);
    draw_name(sheet, row.cut_left(scale.name), content, i);
    row.cut_left(apart);
    if (!e.step) {
        sheet.canvas().paragraph(row, "cannot be built: " + first_error(e.problems), sheet.plain(), line);
        return;
    }
    Rect below = row;
    below.cut_top(1.15f * line + scale.bar);
    draw_cost(sheet, row.cut_right(scale.cost), content, i);
    row.cut_right(apart);
    const float w = (row.w - apart) * 0.55f;
    draw_step_bar(sheet, row.cut_left(w), *e.step, scale);
    row.cut_left(apart);
    draw_memory_of(sheet, row, e, scale);
    const Evaluation& a = content.evaluations[0];
    if (i == 0 || !a.step || below.h < line) return;
    const std::string why = main_parts_text(*a.step, *e.step);
    if (!why.empty() && sheet.canvas().text_width("than A: " + why, sheet.faint()) <= below.w)
        sheet.label(below.cut_top(line), "than A: " + why, sheet.faint());
}

}  // namespace

void candidates_page(ReviewSheet& sheet, const ReviewContent& content) {
    sheet.begin(decision_of(content, nullptr));
    const auto taken = better_of(content);
    draw_verdict(sheet, taken ? &content.evaluations[*taken] : nullptr, reason_of(content, nullptr));
    candidate_figures(sheet, content);
    if (taken) draw_open(sheet, content);
}

float candidates_height(ReviewSheet& sheet, const ReviewContent& content) {
    return sheet.paper().line() * kLeastPlan * static_cast<float>(content.plans.size())
           + height_below(sheet, content);
}

void candidate_figures(ReviewSheet& sheet, const ReviewContent& content) {
    const auto n = static_cast<float>(content.plans.size());
    const float line = sheet.paper().line();
    // The bars are thicker where the page has room beyond the legend and the open questions.
    const auto taken = better_of(content);
    const float free = (sheet.left() - (taken ? 9 : 4) * line) / n;
    const float row = std::clamp(
        std::max(std::min((sheet.left() - height_below(sheet, content)) / n, kPlainPlan * line), free),
        kLeastPlan * line, kMostPlan * line);
    CandidateScale scale{.row = row,
                         .bar = 0.9f * line + std::max(0.0f, 0.7f * (row - kPlainPlan * line)),
                         .name = sheet.width() * 0.28f,
                         .cost = sheet.canvas().text_width("00,000 GPU-hours", sheet.strong()) + 4,
                         .taken = taken};
    for (const Evaluation& e : content.evaluations) {
        if (!e.step) continue;
        scale.step_s = std::max(scale.step_s, e.step->time_s);
        scale.bytes = std::max({scale.bytes, e.memory.hbm,
                                e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)].most()});
    }
    for (std::size_t i = 0; i < content.plans.size(); ++i) draw_candidate(sheet, content, i, scale);
    parts_legend(sheet, parts_of_all(content), true);
    if (any_nearly_full(content))
        sheet.words("* with the usual buffers, not with the largest that were measured", sheet.faint());
    sheet.gap();
}

}  // namespace pentamesh::ui
