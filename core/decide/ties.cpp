#include "core/decide/ties.h"

#include "core/base/text.h"
#include "core/plan/factors.h"
#include "core/step/bubble.h"

#include <algorithm>
#include <tuple>

namespace pentamesh {
namespace {

bool differ(const LayoutChoice& a, const LayoutChoice& b, Varied v) {
    switch (v) {
    case Varied::tp: return a.tp != b.tp;
    case Varied::cp: return a.cp != b.cp;
    case Varied::pp: return a.pp != b.pp;
    case Varied::virtual_stages: return a.virtual_stages != b.virtual_stages;
    case Varied::schedule: return a.schedule != b.schedule;
    case Varied::ep: return a.ep != b.ep;
    case Varied::etp: return a.etp != b.etp;
    case Varied::dp_shard: return a.dp_shard != b.dp_shard;
    case Varied::dp_replicate: return a.dp_replicate != b.dp_replicate;
    case Varied::zero: return a.zero != b.zero;
    case Varied::micro_batch: return a.micro_batch != b.micro_batch;
    case Varied::recompute: return !(a.recompute == b.recompute);
    case Varied::order: return a.order != b.order;
    }
    return false;
}

// Returns the larger of the steps under which a layout is tried.
double hard_step(const SearchResult& r) {
    return std::max(r.slow_link_s, r.slow_stage_s);
}

bool sooner(Second then, const SearchResult& a, const SearchResult& b) {
    const auto by = [&](const auto& first) {
        return std::tuple(first(a), a.step_s, a.memory_bytes)
               < std::tuple(first(b), b.step_s, b.memory_bytes);
    };
    switch (then) {
    case Second::step: break;
    case Second::memory: return by([](const SearchResult& r) { return r.memory_bytes; });
    case Second::robust: return by(hard_step);
    case Second::simple: return by([](const SearchResult& r) { return r.changes; });
    }
    return by([](const SearchResult& r) { return r.step_s; });
}

}  // namespace

LayoutChoice choice_of(const Plan& plan) {
    const Layout& l = plan.layout;
    LayoutChoice c;
    c.tp = l.tp, c.cp = l.cp, c.pp = l.pp, c.virtual_stages = l.virtual_stages;
    c.ep = l.ep, c.etp = plan.model.moe ? l.etp.value_or(l.tp) : 1, c.dp_shard = l.dp_shard;
    c.dp_replicate = replicas_in_force(plan), c.micro_batch = plan.training.micro_batch;
    c.schedule = l.schedule, c.zero = l.zero, c.recompute = plan.training.recompute, c.order = l.order;
    return c;
}

std::vector<Varied> changed_choices(const Plan& plan, const LayoutChoice& to) {
    const LayoutChoice from = choice_of(plan);
    std::vector<Varied> out;
    for (const Varied v : all_of<Varied>()) {
        if (!plan.model.moe && (v == Varied::ep || v == Varied::etp)) continue;
        if (v == Varied::etp && !plan.layout.etp && to.etp == to.tp) continue;
        if (v != Varied::dp_shard && differ(from, to, v)) out.push_back(v);
    }
    return out;
}

double step_with_slow_link(const Plan& plan) {
    Plan slow = plan;
    if (slow.cluster.tiers.empty()) return 0;
    slow.cluster.tiers.back().bytes_per_s *= kSlowLink;
    const Evaluation e = evaluate(slow);
    return e.step ? e.step->time_s : 0;
}

double step_with_slow_stage(const Plan& plan) {
    const Evaluation e = evaluate(plan);
    if (!e.step || e.timeline.empty()) return 0;
    SlowDevice slow{0, kSlowStage};
    for (std::size_t d = 0; d < e.timeline.device.size(); ++d)
        if (e.timeline.device[d].busy > e.timeline.device[static_cast<std::size_t>(slow.device)].busy)
            slow.device = static_cast<int>(d);
    TimelineCosts costs = e.costs;
    apply_slow(slow, e.timeline.shape.devices, costs);
    Timeline slowed;
    run_timeline(e.timeline.shape, costs, slowed);
    return step_with_makespan(*e.step, e.timeline.makespan, slowed.makespan);
}

void order_ties(Second then, SearchReport& r) {
    const auto end = std::stable_partition(r.results.begin(), r.results.end(),
                                           [](const SearchResult& x) { return x.tied; });
    std::sort(r.results.begin(), end,
              [&](const SearchResult& a, const SearchResult& b) { return sooner(then, a, b); });
}

void find_ties(const Plan& plan, const TieOptions& options, SearchReport& r,
               const std::atomic<bool>* cancel) {
    r.ties = {};
    const auto fastest =
        std::min_element(r.results.begin(), r.results.end(),
                         [](const SearchResult& a, const SearchResult& b) { return a.step_s < b.step_s; });
    if (fastest == r.results.end() || r.goal == Goal::memory) return;
    r.ties.within = options.within.value_or(fastest->step.error);
    r.ties.estimate = !options.within;
    const double most = fastest->step_s * (1 + r.ties.within);
    // The search knows all layouts of its best few and of the Pareto line. The first are those of the least
    // steps: if the slowest of them is no longer tied, no other layout of the space is.
    std::size_t listed = 0;
    double last_s = 0;
    for (SearchResult& x : r.results) {
        x.tied = x.step_s <= most;
        x.changes = static_cast<std::int64_t>(changed_choices(plan, x.choice).size());
        r.ties.count += x.tied ? 1 + x.alike : 0;
        if (listed++ < r.asked) last_s = std::max(last_s, x.step_s);
    }
    r.ties.all = r.results.size() < r.asked || last_s > most;
    if (options.robust || options.then == Second::robust)
        for (SearchResult& x : r.results) {
            if (!x.tied || (cancel != nullptr && *cancel)) continue;
            x.slow_link_s = step_with_slow_link(x.plan), x.slow_stage_s = step_with_slow_stage(x.plan);
        }
    order_ties(options.then, r);
}

std::string tie_words(const SearchReport& r) {
    if (r.ties.count < 2) return {};
    const std::string n = (r.ties.all ? "" : "At least ") + with_commas(r.ties.count);
    const std::string within = percent_text(r.ties.within);
    if (!r.ties.estimate) return n + " layouts take at most " + within + " more than the fastest one.";
    return n + " layouts cannot be told apart: their steps lie within " + within
           + " of the fastest one's, and the estimate may be off by as much.";
}

}  // namespace pentamesh
