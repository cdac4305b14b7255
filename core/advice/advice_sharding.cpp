// Data parallelism: what is sharded over how many, and what that costs on the wire.
#include "core/advice/advice_rules.h"
#include "core/plan/factors.h"

#include <algorithm>

namespace pentamesh {
namespace {

std::int64_t dp_of(const Advice& a) {
    return data_parallel(a.plan);
}
double data_parallel_bytes(const Candidate& c) {
    return c.data_parallel_bytes;
}

// What the plan itself takes, as a candidate without edits.
Candidate as_is(Advice& a) {
    return a.works([](Plan&) {}) ? a.candidate() : Candidate{};
}

// The slowest tier that the shard group crosses; 0 where it stays inside the fast domain.
const GroupSummary& shard_group(const Advice& a) {
    return a.base.groups[GroupKind::fsdp];
}

// The fastest HSDP: dp_shard a divisor of the data-parallel degree, replicas the rest.
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
    Fastest fastest(a);
    consider_hsdp(a, fastest, std::min<std::int64_t>(l.dp_shard - 1, 1024));
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    if (!c) return;
    const Candidate now = as_is(a);
    Problem& p = a.add(Severity::warning, Rule::advice, "hsdp-keeps-shards-inside", "/layout/dp_shard");
    p.message =
        sentence("Parameters are sharded over ", s.degree, " GPUs, at most ", s.per_fast_domain,
                 " of them in one ", tier_name(a.plan.cluster, 0), " domain: ", rows_device_text(a.base.comm),
                 " sends ", bytes_text(data_parallel_bytes(now)), " of shards and gradients per step over ",
                 tier_name(a.plan.cluster, s.slowest_tier), ". Sharding inside and replicating across needs ",
                 bytes_text(data_parallel_bytes(*c)), ", most of it inside, and ", memory_text(c->peak_bytes),
                 " per GPU instead of ", memory_text(now.peak_bytes), ".");
    offer(a, p, *c);
}

void thousands_of_shards(Advice& a) {
    constexpr std::int64_t kMany = 1024;
    const GroupSummary& s = shard_group(a);
    if (a.plan.layout.zero != 3 || s.degree < kMany) return;
    double messages = 0, share = 0;
    for (const Operation& o : a.base.comm.operations) {
        if (o.group_size != s.degree || o.collective == Collective::all_reduce) continue;
        messages += o.count_per_step;
        if (share == 0) share = o.message_bytes / static_cast<double>(s.degree);
    }
    const auto tier = static_cast<std::size_t>(s.slowest_tier);
    const double latency = tier < a.plan.cluster.tiers.size() ? a.plan.cluster.tiers[tier].latency_s : 0;
    Problem& p = a.add(Severity::warning, Rule::advice, "fsdp-many-ranks", "/layout/dp_shard");
    p.message = sentence("FSDP over ", s.degree, " ranks: a ring of that length takes ", s.degree - 1,
                         " steps of ", bytes_text(share), " each; latency alone is ",
                         time_text(static_cast<double>(s.degree - 1) * latency), " a collective, ",
                         time_text(messages * static_cast<double>(s.degree - 1) * latency), " a step.");
    Fastest fastest(a);
    consider_hsdp(a, fastest, std::min<std::int64_t>(a.plan.layout.dp_shard - 1, kMany / 2));
    if (const Candidate* c = fastest.better_than(a.base.step->time_s)) offer(a, p, *c);
}

void pipeline_with_sharded_parameters(Advice& a) {
    const Layout& l = a.plan.layout;
    if (l.pp == 1 || l.zero != 3 || l.dp_shard == 1) return;
    const Candidate now = as_is(a);
    Problem& p = a.add(Severity::warning, Rule::advice, "pp-with-zero3", "/layout/zero");
    p.message =
        sentence("ZeRO-3 under a pipeline of ", l.pp, " stages: every one of the ", a.base.microbatches,
                 " micro-batches needs the parameters gathered, or they are kept gathered and nothing is "
                 "saved. Each GPU sends ",
                 bytes_text(data_parallel_bytes(now)), " per step for data parallelism.");
    Fastest fastest(a);
    for (const int zero : {2, 1}) fastest.consider([&](Plan& q) { q.layout.zero = zero; }, true);
    if (const Candidate* c = fastest.any()) {
        p.message += sentence(" With ", words_of(c->edits), " it is ", bytes_text(data_parallel_bytes(*c)),
                              " and ", memory_text(c->peak_bytes), " per GPU, which fits.");
        p.fix = c->edits;
    }
}

void shard_axis_that_shards_nothing(Advice& a) {
    const Layout& l = a.plan.layout;
    if (l.zero != 0 || l.dp_shard == 1) return;
    Problem& p = a.add(Severity::info, Rule::advice, "shard-axis-without-zero", "/layout/zero");
    p.message =
        sentence("dp_shard = ", l.dp_shard, " with zero = 0 shards nothing: it is plain replication.");
    if (!a.works([](Plan& q) { q.layout.zero = 1; })) return;
    p.message += sentence(" zero = 1 would save ", memory_text(a.base.memory.peak() - a.trial.memory.peak()),
                          " per GPU for the same bytes on the wire.");
    p.fix = {{"/layout/zero", std::int64_t{1}}};
}

}  // namespace

void advise_sharding(Advice& a) {
    shards_over_slow_tier(a);
    thousands_of_shards(a);
    pipeline_with_sharded_parameters(a);
    shard_axis_that_shards_nothing(a);
}

}  // namespace pentamesh
