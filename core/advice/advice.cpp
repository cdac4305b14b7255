#include "core/advice/advice.h"

#include "core/advice/advice_rules.h"

#include <algorithm>

namespace pentamesh {
namespace {

bool by_severity(const Problem& a, const Problem& b) {
    return a.severity < b.severity;
}

}  // namespace

Candidate Advice::candidate() const {
    const auto by = [&](GroupKind k) { return trial.comm.by_axis[k]; };
    Candidate c;
    c.edits = edits_between(plan, changed);
    c.time_s = trial.step->time_s;
    c.bubble_s = schedule_bubble_s(*trial.step);
    c.peak_bytes = trial.memory.peak();
    c.tp = by(GroupKind::tp), c.pp = by(GroupKind::pp), c.ep = by(GroupKind::ep);
    for (int k = 0; k < kGroupKindCount; ++k)
        if (is_data_parallel(static_cast<GroupKind>(k)))
            c.data_parallel_bytes += by(static_cast<GroupKind>(k)).sent_bytes_per_rank;
    return c;
}

Candidate Advice::as_shown(const Candidate& c) {
    if (now.timeline.empty()) return c;
    Plan applied = plan;
    if (!apply_in_core(applied, c.edits)) return c;
    changed.layout = applied.layout;
    changed.training = applied.training;
    changed.cluster.gpus = applied.cluster.gpus;
    evaluate(changed, trial, {true, false});
    return trial.valid && trial.step ? candidate() : c;
}

namespace {

// Without the edits that do nothing for the step or for memory.
Candidate without_idle(Advice& a, Candidate c) {
    for (std::size_t i = 0; c.edits.size() > 1 && i < c.edits.size();) {
        std::vector<Edit> fewer = c.edits;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        Plan applied = a.plan;
        const bool works = apply_in_core(applied, fewer) && a.works([&](Plan& q) {
            q.layout = applied.layout, q.training = applied.training;
            q.cluster.gpus = applied.cluster.gpus;
        });
        ++i;
        if (!works) continue;
        const Candidate less = a.as_shown(a.candidate());
        if (less.time_s > c.time_s || less.peak_bytes > c.peak_bytes || less.edits.size() >= c.edits.size())
            continue;
        c = less;
        i = 0;
    }
    return c;
}

}  // namespace

void offer(Advice& a, Problem& problem, const Candidate& candidate) {
    const Candidate shown = without_idle(a, a.as_shown(candidate));
    if (shown.time_s >= a.step().time_s) return;
    problem.message += sentence(" With ", words_of(shown.edits), " a step takes ", time_text(shown.time_s),
                                " instead of ", time_text(a.step().time_s), ".");
    problem.fix = shown.edits;
}

void find_advice(const Plan& plan, const Evaluation& evaluation, std::vector<Problem>& out) {
    // Advice on an impossible plan would only hide what makes it impossible.
    if (!evaluation.valid) return;
    const std::size_t first = out.size();
    Rules rules{plan, evaluation.mesh, true, out};
    check_frameworks(rules);
    check_notices(rules);

    Advice advice{plan, evaluation, out};
    advice.changed.model = plan.model;
    advice.changed.cluster = plan.cluster;
    evaluate(plan, advice.base, {false, false});
    if (advice.base.step && advice.base.step->time_s > 0) {
        advise_experts(advice);
        advise_memory(advice);
        advise_placement(advice);
        advise_sharding(advice);
        advise_step(advice);
    }
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), by_severity);
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
