// Lists the reductions and gathers of data parallelism: gradients and parameters.
#include "core/comm/comm_rows.h"
#include "core/layer/wire_bytes.h"

#include <algorithm>

namespace pentamesh {

void CommRows::gradients() {
    const double dense = out_.reduced.dense.all(), experts = out_.reduced.experts.all();
    const bool cp = plan_.layout.cp > 1;
    const std::int64_t replicas = summary_of(GroupKind::dp_replicate).degree;
    if (plan_.layout.zero == 0) {
        reduce_all(cp ? GroupKind::dp_cp : GroupKind::dp, dense, What::gradients);
        reduce_all(GroupKind::edp, experts, What::experts_gradients);
        two_copies(dense + experts);
        return;
    }
    const GroupKind shard = cp ? GroupKind::fsdp : GroupKind::dp_shard;
    const std::int64_t n = summary_of(shard).degree;
    shard_over(shard, n, dense, kDense);
    replicate(GroupKind::dp_replicate, replicas, dense / static_cast<double>(n),
              What::gradients_of_the_shard_across_replicas);
    const std::int64_t shards = expert_factor(Axis::dp_shard);
    shard_over(GroupKind::edp, shards, experts, kExperts);
    replicate(GroupKind::edp, expert_factor(Axis::dp_replicate), experts / static_cast<double>(shards),
              What::experts_gradients_of_the_shard_across_replicas);
    two_copies(dense / static_cast<double>(n) + experts / static_cast<double>(shards));
}

void CommRows::two_copies(double numbers) {
    if (traits_of(plan_.layout.schedule).placement != StagePlacement::two_copies || plan_.layout.pp <= 1)
        return;
    using enum Collective;
    put(GroupKind::pp, 2, Unit::step, Phase::step, reduce_scatter, What::gradients_of_a_stages_two_copies,
        numbers * bytes_of(plan_.training.gradients), 1);
    put(GroupKind::pp, 2, Unit::step, Phase::step, all_gather,
        What::updated_parameters_of_a_stages_two_copies, numbers * updated_bytes(plan_.training), 1);
}

void CommRows::put_rounds(GroupKind group, std::int64_t ranks, Phase phase, Collective c, What what,
                          double bytes, const Rounds& rounds, double layers) {
    const double parts = std::max(layers, 1.0);
    Operation* o = put(group, ranks, Unit::step, phase, c, what, bytes / parts, rounds.times * parts);
    if (o == nullptr) return;
    o->each = rounds.each, o->rounds = rounds.times;
    const bool layer = layers > 0;
    if (layer) o->scope = Scope::layer;
    switch (rounds.each) {
    case GradientReduction::micro_batch: o->per = layer ? "layer and micro-batch" : "micro-batch"; break;
    case GradientReduction::run: o->per = layer ? "layer and run" : "run"; break;
    default: o->per = layer ? "layer" : "step";
    }
}

void CommRows::reduce_all(GroupKind group, double numbers, What what) {
    put_rounds(group, summary_of(group).degree, Phase::step, Collective::all_reduce, what,
               numbers * bytes_of(plan_.training.gradients), rounds_.reductions, 0);
}

void CommRows::replicate(GroupKind group, std::int64_t n, double numbers, What what) {
    put_rounds(group, n, Phase::step, Collective::all_reduce, what,
               numbers * bytes_of(plan_.training.gradients), rounds_.replicas, 0);
}

void CommRows::shard_over(GroupKind group, std::int64_t n, double numbers, const Names& names) {
    using enum Collective;
    const Training& t = plan_.training;
    const double g = numbers * bytes_of(t.gradients);
    if (plan_.layout.zero < 3) {
        put_rounds(group, n, Phase::step, reduce_scatter, names.scatter, g, rounds_.reductions, 0);
        put_rounds(group, n, Phase::step, all_gather, names.gather, numbers * updated_bytes(t), {}, 0);
        return;
    }
    const double layers = std::max(out_.busiest.layers(), 1.0), p = numbers * gathered_bytes(t);
    put_rounds(group, n, Phase::forward, all_gather, names.gather_forward, p, rounds_.forward, layers);
    put_rounds(group, n, Phase::backward, all_gather, names.gather_backward, p, rounds_.backward, layers);
    put_rounds(group, n, Phase::backward, reduce_scatter, names.scatter, g, rounds_.reductions, layers);
}

}  // namespace pentamesh
