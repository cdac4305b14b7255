#include "core/advice/advice.h"

#include "core/advice/advice_rules.h"
#include "core/advice/measured.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

bool by_severity(const Problem& a, const Problem& b) {
    return a.severity < b.severity;
}

}  // namespace

Candidate Advice::candidate() const {
    return {edits_between(plan, changed), trial.step->time_s, trial.memory.peak()};
}

bool Advice::show(const std::vector<Edit>& edits) {
    shown_edits = edits;
    changed.layout = plan.layout;
    changed.training = plan.training;
    changed.cluster.gpus = plan.cluster.gpus;
    if (!apply_in_core(changed, edits)) return false;
    evaluate(changed, shown, {!now.timeline.empty(), false});
    return shown.valid && shown.step.has_value();
}

Stated Advice::before(Measure measure, GroupKind kind) const {
    return {measure, measured(measure, plan, now, now, kind), {}, static_cast<int>(kind)};
}
Stated Advice::after(Measure measure, GroupKind kind) const {
    return {measure, measured(measure, plan, now, shown, kind), shown_edits, static_cast<int>(kind)};
}

namespace {

// Returns the edits without those that do nothing for the step or for memory. The edit of the field which the
// problem is about stays: without it the problem would.
std::vector<Edit> without_idle(Advice& a, std::vector<Edit> edits, std::string_view pointer) {
    if (!a.show(edits)) return edits;
    double time_s = a.shown.step->time_s, peak = a.shown.memory.peak();
    for (std::size_t i = 0; edits.size() > 1 && i < edits.size();) {
        std::vector<Edit> fewer = edits;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        const bool idle = edits[i].path != pointer && a.show(fewer) && a.shown.step->time_s <= time_s
                          && a.shown.memory.peak() <= peak;
        if (idle) {
            time_s = a.shown.step->time_s, peak = a.shown.memory.peak();
            edits = std::move(fewer);
            i = 0;
        } else {
            ++i;
        }
    }
    return edits;
}

}  // namespace

bool offer(Advice& a, Advised& problem, const Candidate& candidate) {
    const std::vector<Edit> edits = without_idle(a, candidate.edits, problem.pointer);
    if (!a.show(edits) || !a.shown_is_faster() || !a.shown_memory_allows()) return false;
    const std::size_t from = problem.message.size();
    say(problem, " With ", words_of(edits), " a step takes ", a.after(Measure::step_s), " instead of ",
        a.before(Measure::step_s), ".");
    set_fix(problem, edits, from);
    return true;
}

void offer_or_withdraw(Advice& a, Advised& problem, const Candidate& candidate) {
    if (!offer(a, problem, candidate)) a.out.pop_back();
}

void say_price(Advice& a, Advised& problem) {
    constexpr double kSame = 1e-3;
    const Stated sent = a.before(Measure::sent), then = a.after(Measure::sent);
    if (std::abs(then.value - sent.value) <= kSame * sent.value)
        say(problem, " for the same bytes on the wire");
    else
        say(problem, "; each GPU then sends ", then, " a step instead of ", sent);
    const Stated time = a.before(Measure::step_s), takes = a.after(Measure::step_s);
    if (std::abs(takes.value - time.value) > kSame * time.value)
        say(problem, ", and a step takes ", takes, " instead of ", time);
}

std::vector<Advised> advise(const Plan& plan, const Evaluation& evaluation) {
    std::vector<Advised> out;
    // Advice on an impossible plan would only hide the errors.
    if (!evaluation.valid) return out;
    std::vector<Problem> found;
    const ResolvedPlan resolved(plan, evaluation.mesh, evaluation.groups);
    Rules rules{resolved, true, found};
    check_frameworks(rules);
    check_notices(rules);
    for (Problem& p : found) out.push_back({std::move(p), {}});

    Advice advice{plan, evaluation, out};
    advice.changed.model = plan.model;
    advice.changed.cluster = plan.cluster;
    evaluate(plan, advice.base, {false, false});
    if (evaluation.step && advice.base.step && advice.base.step->time_s > 0) {
        advise_experts(advice);
        advise_memory(advice);
        advise_placement(advice);
        advise_sharding(advice);
        advise_step(advice);
    }
    std::stable_sort(out.begin(), out.end(), by_severity);
    return out;
}

void find_advice(const Plan& plan, const Evaluation& evaluation, std::vector<Problem>& out) {
    for (Advised& p : advise(plan, evaluation)) out.push_back(std::move(static_cast<Problem&>(p)));
}

void assess(const Plan& plan, Evaluation& out, const EvaluateOptions& options) {
    evaluate(plan, out, options);
    find_advice(plan, out, out.problems);
}

Evaluation assess(const Plan& plan, const EvaluateOptions& options) {
    Evaluation out;
    assess(plan, out, options);
    return out;
}

}  // namespace pentamesh
