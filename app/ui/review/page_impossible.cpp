// The first page of the review of a plan that cannot be built: what forbids it, and what it would be with the
// smallest changes that the rules name.
#include "app/tables/review.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"
#include "core/advice/advice.h"
#include "core/explain/verdict.h"
#include "core/plan/edit_words.h"
#include "core/plan/edits.h"

#include <algorithm>

namespace pentamesh::ui {

std::optional<MendedPlan> mended_plan(const Plan& plan) {
    constexpr int kMostFixes = 4;
    Plan at = plan;
    for (int i = 0; i < kMostFixes; ++i) {
        const Evaluation e = evaluate(at, {.timeline = false});
        if (e.valid) break;
        const auto error = std::find_if(e.problems.begin(), e.problems.end(), [](const Problem& p) {
            return p.severity == Severity::error && !p.fix.empty();
        });
        if (error == e.problems.end() || !apply_in_core(at, error->fix)) return std::nullopt;
    }
    Evaluation e = assess(at);
    if (!e.valid) return std::nullopt;
    return MendedPlan{std::move(at), std::move(e)};
}

std::string impossible_decision(const ReviewContent& content) {
    const std::string& own = content.plans[0].review.decision;
    if (!own.empty()) return own;
    if (!content.mended) return "It cannot be built.";
    const Evaluation& then = content.mended->evaluation;
    return "It cannot be built as it is. With "
           + words_of(needed_edits(content.plans[0], content.mended->plan)) + " it can"
           + (then.step && fit_of_plan(then) != MemoryFit::yes ? ", but " + fit_words(then) : "") + ".";
}

void impossible_page(ReviewSheet& sheet, const ReviewContent& content) {
    sheet.begin(impossible_decision(content));
    sheet.head("Problems", sheet.paper().line() * 2);
    draw_problem_list(sheet, content.evaluations[0]);
    sheet.gap();
    if (!content.mended) return;
    const MendedPlan& then = *content.mended;
    sheet.head("With " + words_of(needed_edits(content.plans[0], then.plan)), sheet.paper().line() * 4);
    const PlanVerdict verdict = verdict_of(then.evaluation);
    draw_verdict(sheet, &then.evaluation, verdict.sentence + " " + verdict.reason);
    sheet.table(key_figures_table(then.plan, then.evaluation));
    sheet.gap();
}

}  // namespace pentamesh::ui
