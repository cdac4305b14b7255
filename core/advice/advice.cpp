#include "core/advice/advice.h"

#include "core/advice/advice_rules.h"
#include "core/advice/advised.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

double sent_per_step(const Evaluation& e, bool data_parallel_only) {
    double sum = 0;
    for (const GroupKind k : all_of<GroupKind>())
        if (!data_parallel_only || is_data_parallel(k)) sum += e.comm.by_axis[k].sent_bytes_per_rank;
    return sum;
}

// Returns a figure of the ring of the FSDP group that gathers and reduces.
double of_ring(Measure measure, const Plan& plan, const Evaluation& e) {
    const GroupSummary& ring = e.groups[GroupKind::fsdp];
    const auto tier = static_cast<std::size_t>(ring.slowest_tier);
    double messages = 0, piece = 0;
    for (const Operation& o : e.comm.operations) {
        if (o.group_size != ring.degree || o.collective == Collective::all_reduce) continue;
        messages += o.count_per_step;
        if (piece == 0) piece = o.message_bytes / static_cast<double>(ring.degree);
    }
    if (measure == Measure::ring_piece) return piece;
    const double hop = tier < plan.cluster.tiers.size() ? plan.cluster.tiers[tier].latency_s : 0;
    const double call = static_cast<double>(ring.degree - 1) * hop;
    return measure == Measure::ring_latency_s ? call : messages * call;
}

double of_memory(Measure measure, const Memory& m) {
    if (m.stage.empty()) return 0;
    const StageMemory& s = m.stage[static_cast<std::size_t>(m.peak_stage)];
    switch (measure) {
    case Measure::memory_over: return s.total() - m.hbm;
    case Measure::memory_least: return s.least();
    case Measure::hbm: return m.hbm;
    case Measure::parameters: return s.parameters;
    case Measure::gradients: return s.gradients;
    case Measure::optimizer: return s.optimizer;
    case Measure::activations: return s.activations;
    case Measure::buffers: return s.buffers;
    case Measure::buffers_high: return s.buffers_high;
    default: return m.peak();
    }
}

double of_step(Measure measure, const Plan& plan, const Step& s) {
    switch (measure) {
    case Measure::bubble_s: return schedule_bubble_s(s);
    case Measure::bubble_share: return schedule_bubble_s(s) / s.time_s;
    case Measure::uneven_s: return s.uneven_s;
    case Measure::uneven_share: return s.uneven_s / s.time_s;
    case Measure::straggler_s: return s.straggler_s;
    case Measure::straggler_share: return s.straggler_s / (s.time_s - s.straggler_s);
    case Measure::straggler_cv: return plan.training.straggler_cv;
    case Measure::straggler_bound: return s.straggler_bound;
    default: return s.time_s;
    }
}

// Returns the measure in `e`, which has a step; a saving is against `now`. `kind` is that of
// Measure::group_*.
double measured(Measure measure, const Plan& plan, const Evaluation& now, const Evaluation& e,
                GroupKind kind) {
    switch (measure) {
    case Measure::step_saved_s: return now.step->time_s - e.step->time_s;
    case Measure::memory_saved: return now.memory.peak() - e.memory.peak();
    case Measure::sent: return sent_per_step(e, false);
    case Measure::sent_data_parallel: return sent_per_step(e, true);
    case Measure::group_sent: return e.comm.by_axis[kind].sent_bytes_per_rank;
    case Measure::group_time_s: return e.comm.by_axis[kind].time_s;
    case Measure::group_exposed_s: return e.comm.by_axis[kind].exposed_s;
    case Measure::ring_piece:
    case Measure::ring_latency_s:
    case Measure::ring_latency_step_s: return of_ring(measure, plan, e);
    default: break;
    }
    return measure < Measure::memory ? of_step(measure, plan, *e.step) : of_memory(measure, e.memory);
}

bool by_severity(const Problem& a, const Problem& b) {
    return a.severity < b.severity;
}

}  // namespace

Candidate Advice::candidate() const {
    return {needed_edits(plan, changed), trial.step->time_s, trial.memory.peak()};
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
