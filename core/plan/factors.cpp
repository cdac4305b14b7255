#include "core/plan/factors.h"

#include <algorithm>

namespace pentamesh {

namespace {

// Returns the product of two positive numbers; kManyRanks where it is larger.
std::int64_t product(std::int64_t a, std::int64_t b) {
    return b > 0 && a > kManyRanks / b ? kManyRanks : std::min(a * b, kManyRanks);
}

// Returns tp * cp * pp, 0 on overflow or nonsense.
std::int64_t model_parallel(const Layout& l) {
    std::int64_t n = 1;
    for (const std::int64_t f : {l.tp, l.cp, l.pp}) n = product(n, std::max<std::int64_t>(f, 0));
    return n >= kManyRanks ? 0 : n;
}

std::vector<std::int64_t> divisors(std::int64_t n) {
    std::vector<std::int64_t> low, high;
    for (std::int64_t d = 1; d * d <= n; ++d)
        if (n % d == 0) {
            low.push_back(d);
            if (d != n / d) high.push_back(n / d);
        }
    low.insert(low.end(), high.rbegin(), high.rend());
    if (low.empty()) low.push_back(1);
    return low;
}

bool model_allows(const Plan& p, Axis axis, std::int64_t f) {
    switch (axis) {
    case Axis::tp: {
        const auto& m = p.model;
        const std::int64_t kv = std::max<std::int64_t>(1, m.kv_heads);
        return m.heads % f == 0 && (m.attention == AttentionKind::mla || kv % f == 0 || f % kv == 0)
               && (m.ffn == 0 || m.ffn % f == 0);
    }
    case Axis::cp: return f == 1 || p.training.sequence_length % (2 * f) == 0;
    case Axis::pp: return f * p.layout.virtual_stages <= std::max<std::int64_t>(1, p.model.layers);
    case Axis::ep: return p.model.moe ? p.model.moe->experts % f == 0 : f == 1;
    case Axis::dp_shard:
    case Axis::dp_replicate: return true;
    }
    return true;
}

void set_factor(Layout& l, Axis axis, std::int64_t f) {
    switch (axis) {
    case Axis::tp: l.tp = f; break;
    case Axis::cp: l.cp = f; break;
    case Axis::ep: l.ep = f; break;
    case Axis::dp_shard: l.dp_shard = f; break;
    case Axis::dp_replicate: l.dp_replicate = f; break;
    case Axis::pp: l.pp = f; break;
    }
}

// Shares `dp` ranks between the data-parallel axes, keeping the user's choice where it divides.
void share_out(Layout& l, std::int64_t dp, std::int64_t replicate_before) {
    if (l.dp_shard > 1 && dp % replicate_before == 0) {
        l.dp_shard = dp / replicate_before;
        if (l.dp_replicate) l.dp_replicate = replicate_before;
        return;
    }
    if (dp % l.dp_shard != 0) l.dp_shard = dp;
    if (l.dp_replicate) l.dp_replicate = dp / l.dp_shard;
}

}  // namespace

int zero_in_force(const Plan& plan) {
    const Layout& l = plan.layout;
    return l.dp_shard * l.cp > 1 ? l.zero : 0;
}

std::int64_t replicas_in_force(const Plan& plan) {
    const Layout& l = plan.layout;
    if (l.dp_replicate) return *l.dp_replicate;
    std::int64_t left = std::max<std::int64_t>(plan.cluster.gpus, 0);
    for (const std::int64_t factor : {l.tp, l.cp, l.pp, l.dp_shard}) {
        if (factor < 1 || left % factor != 0) return 0;
        left /= factor;
    }
    return left;
}

std::int64_t factor_in_force(const Plan& plan, Axis axis) {
    return axis == Axis::dp_replicate ? replicas_in_force(plan) : factor_of(plan.layout, axis);
}

std::int64_t data_parallel(const Plan& plan) {
    return product(std::max<std::int64_t>(plan.layout.dp_shard, 0),
                   std::max<std::int64_t>(replicas_in_force(plan), 0));
}

std::int64_t ranks_laid_out(const Plan& plan) {
    std::int64_t n = data_parallel(plan);
    for (const std::int64_t f : {plan.layout.tp, plan.layout.cp, plan.layout.pp})
        n = product(n, std::max<std::int64_t>(f, 0));
    return n;
}

std::int64_t microbatches_of(const Plan& plan) {
    const Training& t = plan.training;
    const std::int64_t replicas = data_parallel(plan);
    if (t.micro_batch < 1 || replicas < 1) return 0;
    if (t.global_batch % t.micro_batch != 0) return 0;
    const std::int64_t calls = t.global_batch / t.micro_batch;
    return calls % replicas == 0 ? calls / replicas : 0;
}

double microbatches_or_one(const Plan& plan) {
    return static_cast<double>(std::max<std::int64_t>(microbatches_of(plan), 1));
}

std::vector<std::int64_t> legal_factors(const Plan& plan, Axis axis) {
    const Layout& l = plan.layout;
    std::int64_t room = plan.cluster.gpus;
    const auto take = [&](std::int64_t f) { room = f > 0 && room % f == 0 ? room / f : 1; };
    if (axis == Axis::ep) {
        take(l.pp);
        take(l.etp.value_or(l.tp));
    } else {
        if (axis != Axis::tp) take(l.tp);
        if (axis != Axis::cp) take(l.cp);
        if (axis != Axis::pp) take(l.pp);
    }
    std::vector<std::int64_t> out = divisors(std::max<std::int64_t>(1, room));
    std::erase_if(out, [&](std::int64_t f) { return f != 1 && !model_allows(plan, axis, f); });
    return out;
}

Plan with_factor(const Plan& plan, Axis axis, std::int64_t factor, bool keep_gpus) {
    Plan p = plan;
    Layout& l = p.layout;
    const std::int64_t before = data_parallel(plan);
    const std::int64_t replicate =
        l.dp_replicate.value_or(l.dp_shard > 0 && before > 0 ? before / l.dp_shard : 1);
    set_factor(l, axis, factor);
    if (axis == Axis::pp) l.stage_layers.clear(), l.mtp_chunk.reset();
    if (axis == Axis::pp && factor == 1) l.schedule = Layout{}.schedule, l.virtual_stages = 1;
    if (!keep_gpus || axis == Axis::ep) return p;
    const std::int64_t mp = model_parallel(l);
    if (mp <= 0 || p.cluster.gpus % mp != 0) return p;
    const std::int64_t dp = p.cluster.gpus / mp;
    if (axis == Axis::dp_shard) {
        if (l.dp_replicate && dp % l.dp_shard == 0) l.dp_replicate = dp / l.dp_shard;
    } else if (axis == Axis::dp_replicate) {
        if (dp % factor == 0) l.dp_shard = dp / factor;
    } else {
        share_out(l, dp, std::max<std::int64_t>(1, replicate));
    }
    return p;
}

std::int64_t factor_when_on(const Plan& plan, Axis axis) {
    const auto legal = legal_factors(plan, axis);
    if (legal.size() < 2) return 1;
    if (axis == Axis::dp_shard) return legal.back();
    if (axis != Axis::tp) return legal[1];
    const std::int64_t domain = plan.cluster.tiers.empty() ? 8 : domain_of(plan.cluster, 0);
    std::int64_t best = legal[1];
    for (const std::int64_t f : legal)
        if (f <= domain) best = std::max(best, f);
    return best;
}

}  // namespace pentamesh
