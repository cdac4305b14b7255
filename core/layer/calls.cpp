#include "core/layer/calls.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {

double wire_bytes(Dtype compute) {
    return std::max(bytes_of(compute), bytes_of(Dtype::bf16));
}

double gathered_bytes(const Training& training) {
    return std::min(bytes_of(training.parameters), wire_bytes(training.compute));
}

double updated_bytes(const Training& training) {
    const bool both_ways = training.parameters == Dtype::fp8 && training.fp8_recipe == Fp8Recipe::mxfp8;
    return bytes_of(both_ways ? Dtype::bf16 : training.parameters);
}

namespace {

// Returns the mean number of different places that k even draws of q places hit: q (1 - (1 - 1/q)^k).
double places_hit(double q, double k) {
    return q * (1 - std::pow(1 - 1 / q, k));
}

}  // namespace

double sent_copies(const Plan& plan) {
    const double k = static_cast<double>(plan.model.moe->top_k), imbalance = plan.training.router_imbalance;
    if (plan.layout.ep_comm == EpComm::alltoall) return k * imbalance;
    return std::min(places_hit(static_cast<double>(plan.layout.ep), k) * imbalance, k * imbalance);
}

double dispatch_bytes(Dtype compute) {
    if (compute != Dtype::fp8 && compute != Dtype::fp4) return wire_bytes(compute);
    return bytes_of(Dtype::fp8) + bytes_of(Dtype::fp32) / 128;
}

double slow_share(const Plan& plan, const GroupSummary& ep) {
    const double nodes = static_cast<double>(ep.degree) / static_cast<double>(ep.per_fast_domain);
    if (nodes <= 1) return 1;
    const double k = static_cast<double>(plan.model.moe->top_k);
    const double limit = static_cast<double>(plan.model.moe->max_nodes_per_token);
    double hit = places_hit(nodes, k);
    if (limit > 0) hit = std::min(hit, limit);
    return std::min(hit / std::min(places_hit(static_cast<double>(plan.layout.ep), k), k), 1.0);
}

StateCallList list_state_calls(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups,
                               bool experts) {
    using enum Collective;
    using enum What;
    const Training& t = plan.training;
    const StateRounds rounds = state_rounds(plan);
    const bool cp = plan.layout.cp > 1, layers = plan.layout.zero >= 3;
    const double gradient = bytes_of(t.gradients);
    const What summed = experts ? experts_gradients : gradients;
    StateCallList out;
    if (plan.layout.zero == 0) {
        const GroupKind all = experts ? GroupKind::edp : cp ? GroupKind::dp_cp : GroupKind::dp;
        out.push_back({summed, all_reduce, all, groups[all].degree, 1, gradient, rounds.reductions});
        return out;
    }
    // An edp that is all shards or all replicas has its other calls over one rank.
    const bool parts = has_kind(mesh, GroupKind::edp_shard);
    const GroupKind shard = experts ? (parts ? GroupKind::edp_shard : GroupKind::edp)
                            : cp    ? GroupKind::fsdp
                                    : GroupKind::dp_shard;
    const GroupKind replicas = !experts ? GroupKind::dp_replicate
                               : parts  ? GroupKind::edp_replicate
                                        : GroupKind::edp;
    const std::int64_t n = experts ? mesh.expert[Axis::dp_shard].size : groups[shard].degree;
    const std::int64_t copies = experts ? mesh.expert[Axis::dp_replicate].size : groups[replicas].degree;
    if (layers) {
        const double whole = gathered_bytes(t);
        out.push_back({experts ? experts_parameters_for_the_forward : parameters_for_the_forward, all_gather,
                       shard, n, 1, whole, rounds.forward, true});
        out.push_back(
            {experts ? experts_parameters_again_for_the_backward : parameters_again_for_the_backward,
             all_gather, shard, n, 1, whole, rounds.backward, true, true});
    }
    out.push_back({summed, reduce_scatter, shard, n, 1, gradient, rounds.reductions, layers});
    if (!layers)
        out.push_back({experts ? experts_updated_parameters : updated_parameters,
                       all_gather,
                       shard,
                       n,
                       1,
                       updated_bytes(t),
                       {}});
    out.push_back(
        {experts ? experts_gradients_of_the_shard_across_replicas : gradients_of_the_shard_across_replicas,
         all_reduce, replicas, copies, static_cast<double>(n), gradient, rounds.replicas});
    return out;
}

}  // namespace pentamesh
