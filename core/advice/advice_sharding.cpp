// Advises on data parallelism: which states are sharded over how many ranks, and the cost of that on the
// wire.
#include "core/advice/advice_rules.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/plan/factors.h"

#include <algorithm>

namespace pentamesh {
namespace {

std::int64_t dp_of(const Advice& a) {
    return data_parallel(a.plan);
}

// Returns the group over which ZeRO shards.
const GroupSummary& shard_group(const Advice& a) {
    return a.base.groups[GroupKind::fsdp];
}

// Tries HSDP for the fastest: dp_shard a divisor of the data-parallel degree, replicas the rest.
void consider_hsdp(Advice& a, Fastest& fastest, std::int64_t limit) {
    const std::int64_t dp = dp_of(a);
    for (std::int64_t shard = 2; shard <= limit; ++shard) {
        if (dp % shard != 0) continue;
        fastest.consider([&](Plan& q) {
            q.layout.dp_shard = shard;
            q.layout.dp_replicate = dp / shard;
        });
    }
}

void shards_over_slow_tier(Advice& a) {
    const Layout& l = a.plan.layout;
    const GroupSummary& s = shard_group(a);
    if (l.zero != 3 || l.dp_shard == 1 || s.slowest_tier == 0) return;
    // So many shards lie inside a domain of the next faster tier.
    const std::int64_t inside = domain_of(a.plan.cluster, s.slowest_tier - 1)
                                / std::max<std::int64_t>(1, a.base.mesh.dense[Axis::dp_shard].stride);
    Fastest fastest(a);
    consider_hsdp(a, fastest, std::min({l.dp_shard - 1, std::int64_t{1024}, inside}));
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    if (!c || !a.show(c->edits) || a.shown.groups[GroupKind::fsdp].slowest_tier >= s.slowest_tier) return;
    Advised& p =
        a.add(Severity::warning, Rule::advice, ProblemCode::hsdp_keeps_shards_inside, "/layout/dp_shard");
    say(p, "Parameters are sharded over ", s.degree, " GPUs, at most ", s.per_fast_domain, " of them in one ",
        tier_name(a.plan.cluster, 0), " domain: ", rows_device_text(a.now.comm), " sends ",
        a.before(Measure::sent_data_parallel), " of shards and gradients per step over ",
        tier_name(a.plan.cluster, s.slowest_tier), ". Sharding inside and replicating across needs ",
        a.after(Measure::sent_data_parallel), " and ", a.after(Measure::memory), " per GPU instead of ",
        a.before(Measure::memory), ".");
    offer_or_withdraw(a, p, *c);
}

void thousands_of_shards(Advice& a) {
    constexpr std::int64_t kMany = 1024;
    const GroupSummary& s = shard_group(a);
    if (a.plan.layout.zero != 3 || s.degree < kMany) return;
    Advised& p = a.add(Severity::warning, Rule::advice, ProblemCode::fsdp_many_ranks, "/layout/dp_shard");
    say(p, "FSDP over ", s.degree, " ranks: a ring of that length takes ", s.degree - 1, " steps of ",
        a.before(Measure::ring_piece), " each; latency by itself is ", a.before(Measure::ring_latency_s),
        " a collective, ", a.before(Measure::ring_latency_step_s), " a step.");
    Fastest fastest(a);
    consider_hsdp(a, fastest, std::min<std::int64_t>(a.plan.layout.dp_shard - 1, kMany / 2));
    if (const Candidate* c = fastest.better_than(a.base.step->time_s)) offer(a, p, *c);
}

// Says in words what the plan does between the micro-batches of a step.
std::string rounds_text(const Advice& a) {
    const StateRounds rounds = state_rounds(a.plan);
    const bool every = rounds.forward.each == GradientReduction::micro_batch,
               twice = rounds.backward.times > 0;
    const std::string gathers =
        every ? sentence("each of the ", a.base.microbatches, " micro-batches gathers the parameters",
                         twice ? ", for its forward and again for its backward" : "")
              : sentence("the parameters are kept gathered over the ", a.base.microbatches,
                         " micro-batches of a step, so that they take as much memory as without sharding");
    const GradientReduction when = rounds.reductions.each;
    return gathers
           + (when == GradientReduction::micro_batch ? ", and reduces its gradients at once."
              : when == GradientReduction::run       ? ", and gradients are reduced after each run of them."
                                                     : ", and gradients are summed whole.");
}

void pipeline_with_sharded_parameters(Advice& a) {
    const Layout& l = a.plan.layout;
    if (l.pp == 1 || l.zero != 3 || l.dp_shard == 1) return;
    Advised& p = a.add(Severity::warning, Rule::advice, ProblemCode::pp_with_zero3, "/layout/zero");
    say(p, "ZeRO-3 under a pipeline of ", l.pp, " stages: ", rounds_text(a), " Each GPU sends ",
        a.before(Measure::sent_data_parallel), " per step for data parallelism.");
    Fastest fastest(a);
    for (const int zero : {2, 1}) fastest.consider([&](Plan& q) { q.layout.zero = zero; }, true);
    const Candidate* c = fastest.any();
    if (c == nullptr || !a.show(c->edits) || !a.shown.memory.fits()) return;
    const std::size_t from = p.message.size();
    say(p, " With ", words_of(c->edits), " it is ", a.after(Measure::sent_data_parallel), " and ",
        a.after(Measure::memory), " per GPU, which fits; a step takes ", a.after(Measure::step_s),
        " instead of ", a.before(Measure::step_s), ".");
    set_fix(p, c->edits, from);
}

void shard_axis_that_shards_nothing(Advice& a) {
    const Layout& l = a.plan.layout;
    if (l.zero != 0 || l.dp_shard == 1) return;
    Advised& p = a.add(Severity::info, Rule::advice, ProblemCode::shard_axis_without_zero, "/layout/zero");
    say(p, "dp_shard = ", l.dp_shard, " with zero = 0 shards nothing: it is plain replication.");
    const std::vector<Edit> edits{{"/layout/zero", std::int64_t{1}}};
    if (!a.show(edits)) return;
    const Stated saved = a.after(Measure::memory_saved);
    if (saved.value <= 0) return;
    const std::size_t from = p.message.size();
    say(p, " zero = 1 would save ", saved, " per GPU");
    say_price(a, p);
    say(p, ".");
    set_fix(p, edits, from);
}

}  // namespace

void advise_sharding(Advice& a) {
    shards_over_slow_tier(a);
    thousands_of_shards(a);
    pipeline_with_sharded_parameters(a);
    shard_axis_that_shards_nothing(a);
}

}  // namespace pentamesh
