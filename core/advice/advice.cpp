#include "core/advice/advice.h"

#include "core/advice/advice_rules.h"

#include <algorithm>
#include <type_traits>

namespace pentamesh {
namespace {

struct ValueText {
    std::string operator()(std::int64_t n) const { return with_commas(n); }
    std::string operator()(double x) const { return three_digits(x); }
    std::string operator()(bool b) const { return b ? "on" : "off"; }
    std::string operator()(const std::string& s) const { return s; }
    std::string operator()(const std::vector<std::string>& list) const {
        std::string text;
        for (const std::string& s : list) text += (text.empty() ? "" : "-") + s;
        return text.empty() ? "an even split" : text;
    }
};

bool by_severity(const Problem& a, const Problem& b) {
    return a.severity < b.severity;
}

}  // namespace

Candidate Advice::candidate() const {
    const auto by = [&](GroupKind k) { return trial.comm.by_axis[static_cast<std::size_t>(k)]; };
    Candidate c;
    c.edits = edits_between(plan, changed);
    c.time_s = trial.step->time_s;
    c.bubble_s = trial.step->bubble_s;
    c.peak_bytes = trial.memory.peak();
    c.tp = by(GroupKind::tp), c.pp = by(GroupKind::pp), c.ep = by(GroupKind::ep);
    for (const GroupKind k : {GroupKind::dp_shard, GroupKind::dp_replicate, GroupKind::dp, GroupKind::dp_cp,
                              GroupKind::fsdp, GroupKind::edp})
        c.data_parallel_bytes += by(k).sent_bytes_per_rank;
    return c;
}

std::string edits_text(const std::vector<Edit>& edits) {
    std::string text;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        const std::string& path = edits[i].path;
        if (i > 0) text += i + 1 == edits.size() ? " and " : ", ";
        text += path.substr(path.rfind('/') + 1) + " = " + std::visit(ValueText{}, edits[i].value);
    }
    return text;
}

std::string Advice::said(double time_s) const {
    const bool replayed = now.step && base.step && base.step->time_s > 0;
    return time_text(replayed ? time_s / base.step->time_s * now.step->time_s : time_s);
}

void offer(const Advice& a, Problem& problem, const Candidate& candidate) {
    problem.message += sentence(" With ", edits_text(candidate.edits), " a step takes ",
                                a.said(candidate.time_s), " instead of ", a.said(a.base.step->time_s), ".");
    problem.fix = candidate.edits;
}

std::string_view tier_name(const Cluster& cluster, int tier) {
    const auto i = static_cast<std::size_t>(tier);
    return i < cluster.tiers.size() ? std::string_view(cluster.tiers[i].name) : "the network";
}

void find_advice(const Plan& plan, const Evaluation& evaluation, std::vector<Problem>& out) {
    // Advice on an impossible plan would only hide what makes it impossible.
    if (!evaluation.valid) return;
    const std::size_t first = out.size();
    Rules rules{plan, evaluation.mesh, true, out};
    check_frameworks(rules);

    Advice advice{plan, evaluation, out};
    advice.changed.model = plan.model;
    advice.changed.cluster = plan.cluster;
    evaluate(plan, advice.base, {false, false});
    if (advice.base.step && advice.base.step->time_s > 0) {
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
