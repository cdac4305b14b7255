// Advises on where groups lie: talk that crosses a slow tier and need not.
#include "core/advice/advice_rules.h"

#include <algorithm>

namespace pentamesh {
namespace {

const GroupSummary& groups_of(const Evaluation& e, GroupKind kind) {
    return e.groups[kind];
}
const AxisTraffic& traffic(const Evaluation& e, GroupKind kind) {
    return e.comm.by_axis[kind];
}
std::int64_t crossing(const GroupSummary& s) {
    return s.groups - s.by_tier[0];
}

void put_innermost(Layout& l, Axis axis) {
    std::stable_partition(l.order.begin(), l.order.end(), [&](Axis a) { return a == axis; });
}

// Lowers tp by `factor`; the ranks go to data parallelism, or to the pipeline.
void less_tp(Layout& l, std::int64_t tp, bool to_pipeline) {
    const std::int64_t factor = l.tp / tp;
    l.tp = tp;
    if (to_pipeline) {
        l.pp *= factor;
        l.stage_layers.clear();
    } else if (l.dp_shard > 1 || l.zero > 0) {
        l.dp_shard *= factor;
    } else {
        l.dp_replicate = l.dp_replicate.value_or(1) * factor;
    }
}

// Describes groups that are small enough for a fast domain but straddle two, because its size is no multiple
// of theirs.
std::string straddle_text(const Advice& a, const GroupSummary& s) {
    const std::int64_t domain = a.plan.cluster.tiers.empty() ? 0 : domain_of(a.plan.cluster, 0);
    const GroupFactors f = group_factors(a.base.mesh, s.kind);
    const Factor& top = f.factor[f.count - 1];
    const std::int64_t extent = top.size * top.stride;
    if (extent > domain || domain % extent == 0) return {};
    return sentence(" A group would fit a domain of ", domain, " GPUs, but ", domain, " is no multiple of ",
                    extent, ": ranks counted through make groups straddle two. A job that uses ",
                    domain / extent * extent, " GPUs of each domain keeps every group inside.");
}

void say_crossing(const Advice& a, Advised& p, const GroupSummary& s, std::string_view name) {
    const AxisTraffic& t = traffic(a.now, s.kind);
    say(p, name, " = ", s.degree, " crosses ", tier_name(a.plan.cluster, s.slowest_tier), " in ", crossing(s),
        " of its ", s.groups, " groups: ", a.before(Measure::group_time_s, s.kind), " of a step go into the ",
        a.before(Measure::group_sent, s.kind), " that ", rows_device_text(a.now.comm), " sends in it, ");
    if (t.exposed_s > 0.995 * t.time_s)
        say(p, "all");
    else
        say(p, a.before(Measure::group_exposed_s, s.kind));
    say(p, " on the critical path.", straddle_text(a, s));
}

void tensor_parallel_over_slow_tier(Advice& a) {
    const GroupSummary& s = groups_of(a.base, GroupKind::tp);
    if (s.degree == 1 || crossing(s) == 0) return;
    Advised& p = a.add(Severity::warning, Rule::advice, ProblemCode::tp_spans_nodes, "/layout/tp");
    say_crossing(a, p, s, "tp");
    Fastest fastest(a);
    fastest.consider([](Plan& q) { put_innermost(q.layout, Axis::tp); });
    const std::int64_t inside = a.plan.cluster.tiers.empty() ? 1 : domain_of(a.plan.cluster, 0);
    for (std::int64_t tp = 1; tp < s.degree && tp <= inside; ++tp) {
        if (s.degree % tp != 0) continue;
        for (const bool to_pipeline : {false, true})
            fastest.consider([&](Plan& q) {
                put_innermost(q.layout, Axis::tp);
                less_tp(q.layout, tp, to_pipeline);
            });
    }
    if (const Candidate* c = fastest.better_than(a.base.step->time_s)) offer(a, p, *c);
}

void experts_over_slow_tier(Advice& a) {
    const GroupSummary& s = groups_of(a.base, GroupKind::ep);
    const AxisTraffic& t = traffic(a.now, GroupKind::ep);
    if (!a.base.mesh.has_experts || s.degree == 1 || crossing(s) == 0) return;
    Fastest fastest(a);
    fastest.consider([](Plan& q) {
        put_innermost(q.layout, Axis::ep);
        put_innermost(q.layout, Axis::tp);
    });
    fastest.consider([](Plan& q) { q.layout.etp = 1; });
    for (std::int64_t ep = s.degree - 1; ep >= 1; --ep)
        if (s.degree % ep == 0)
            fastest.consider([&](Plan& q) {
                put_innermost(q.layout, Axis::ep);
                put_innermost(q.layout, Axis::tp);
                q.layout.ep = ep;
            });
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    // Experts over nodes are a choice that large models make; it is a warning only where another one is
    // faster.
    const bool large = t.exposed_s > 0.1 * a.now.step->time_s;
    Advised& p = a.add(c && large ? Severity::warning : Severity::info, Rule::advice,
                       ProblemCode::ep_spans_nodes, "/layout/ep");
    say_crossing(a, p, s, "ep");
    if (c) offer(a, p, *c);
}

// Returns the axis whose exposed time falls most between two evaluations.
GroupKind most_relieved(const Evaluation& before, const Evaluation& after) {
    int best = 0;
    double gain = 0;
    for (int k = 0; k < kGroupKindCount; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        const double g = traffic(before, kind).exposed_s - traffic(after, kind).exposed_s;
        if (g > gain) gain = g, best = k;
    }
    return static_cast<GroupKind>(best);
}

void order_puts_chatty_axis_outside(Advice& a) {
    if (a.plan.layout.order == Layout{}.order) return;
    if (!a.works([](Plan& q) { q.layout.order = Layout{}.order; })) return;
    if (a.trial.step->time_s >= 0.98 * a.base.step->time_s) return;
    const Candidate usual = a.candidate();
    if (!a.show(usual.edits)) return;
    const GroupKind kind = most_relieved(a.now, a.shown);
    const GroupSummary &before = groups_of(a.now, kind), &after = groups_of(a.shown, kind);
    Advised& p =
        a.add(Severity::warning, Rule::advice, ProblemCode::order_puts_chatty_axis_outside, "/layout/order");
    say(p, "This order lays ", name_of(kind), " (stride ", group_factors(a.base.mesh, kind).factor[0].stride,
        ") over ", tier_name(a.plan.cluster, before.slowest_tier), ": ",
        a.before(Measure::group_exposed_s, kind), " of it stays exposed per step, against ",
        a.after(Measure::group_exposed_s, kind), " over ", tier_name(a.plan.cluster, after.slowest_tier),
        ".");
    offer_or_withdraw(a, p, usual);
}

void tiers_that_do_not_nest(Advice& a) {
    const std::vector<Tier>& tiers = a.plan.cluster.tiers;
    for (std::size_t i = 1; i + 1 < tiers.size(); ++i) {
        if (tiers[i - 1].domain < 1 || tiers[i].domain % tiers[i - 1].domain == 0) continue;
        Advised& p = a.add(Severity::info, Rule::hardware, ProblemCode::tiers_do_not_nest, "/cluster/tiers");
        p.message = sentence("A ", tiers[i].name, " domain of ", tiers[i].domain,
                             " GPUs is not a whole number of ", tiers[i - 1].name, " domains of ",
                             tiers[i - 1].domain, ": some of those lie in two of them.");
    }
}

}  // namespace

void advise_placement(Advice& a) {
    tensor_parallel_over_slow_tier(a);
    experts_over_slow_tier(a);
    order_puts_chatty_axis_outside(a);
    tiers_that_do_not_nest(a);
}

}  // namespace pentamesh
