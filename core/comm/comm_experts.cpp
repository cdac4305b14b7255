// Lists the calls that send tokens to the experts and bring them back.
#include "core/comm/comm_rows.h"
#include "core/layer/expert_traffic.h"

#include <algorithm>

namespace pentamesh {

void CommRows::experts() {
    using enum Collective;
    const Moe& e = *plan_.model.moe;
    ffns_ = types_.moe();
    if (ffns_ == 0) return;
    const double h = token_width(e);
    const double own = v_.tokens / v_.tp;
    const double copies = own * static_cast<double>(e.top_k) * plan_.training.router_imbalance;
    const Unit u = Unit::moe_layer;
    const bool repeats = recomputes(RecomputeModule::moe);
    if (!plan_.layout.sequence_parallel) share_tokens(v_.tokens * h * v_.wire, repeats);
    if (plan_.layout.ep_comm == EpComm::allgather) {
        // Every rank sees every token and keeps those of its experts (Megatron-LM token_dispatcher.py).
        const double all = own * v_.ep * h * v_.wire;
        const GroupKind ep = GroupKind::ep;
        repeat(put(ep, u, Phase::forward, all_gather, What::tokens_to_all_ranks_of_experts, all), repeats);
        repeat(put(ep, u, Phase::forward, reduce_scatter, What::sum_of_experts_outputs, all), repeats);
        put(ep, u, Phase::backward, all_gather, What::output_gradients_to_all_ranks_of_experts, all);
        put(ep, u, Phase::backward, reduce_scatter, What::sum_of_input_gradients, all);
        expert_shards(all, repeats);
        return;
    }
    exchange(own * sent_copies(plan_), h, repeats);
    expert_shards(copies * h * v_.wire, repeats);
}

double CommRows::token_width(const Moe& e) const {
    return static_cast<double>(e.latent > 0 ? e.latent : plan_.model.hidden);
}

void CommRows::exchange(double copies, double h, bool repeats) {
    using enum Collective;
    const double wide = copies * h * v_.wire,
                 dispatched = copies * h * dispatch_bytes(plan_.training.compute);
    const Unit u = Unit::moe_layer;
    const GroupKind ep = GroupKind::ep;
    const std::size_t first = out_.operations.size();
    repeat(put(ep, u, Phase::forward, all_to_all, What::dispatch_of_tokens_to_experts, dispatched), repeats);
    repeat(put(ep, u, Phase::forward, all_to_all, What::combine_of_experts_outputs, wide), repeats);
    put(ep, u, Phase::backward, all_to_all, What::dispatch_of_output_gradients, dispatched);
    put(ep, u, Phase::backward, all_to_all, What::combine_of_input_gradients, wide);
    const bool kernel = plan_.layout.ep_comm != EpComm::alltoall;
    const double share = kernel ? slow_share(plan_, summary_of(GroupKind::ep)) : 1;
    for (std::size_t i = first; i < out_.operations.size(); ++i) {
        out_.operations[i].slow_share = share;
        out_.operations[i].forwarded = kernel;
    }
}

void CommRows::share_tokens(double all, bool repeats) {
    using enum Collective;
    const GroupKind tp = GroupKind::tp;
    repeat(put(tp, Unit::moe_layer, Phase::forward, all_gather, What::activations_after_the_mlp, all),
           repeats);
    put(tp, Unit::moe_layer, Phase::backward, all_gather, What::gradients_before_the_mlp, all);
}

void CommRows::expert_shards(double wide, bool repeats) {
    using enum Collective;
    const Unit u = Unit::moe_layer;
    const GroupKind etp = GroupKind::etp;
    const double all = wide * v_.etp;
    repeat(put(etp, u, Phase::forward, all_gather, What::tokens_of_the_experts_shards, all), repeats);
    repeat(put(etp, u, Phase::forward, reduce_scatter, What::outputs_of_the_experts_shards, all), repeats);
    put(etp, u, Phase::backward, all_gather, What::output_gradients_of_the_experts_shards, all);
    put(etp, u, Phase::backward, reduce_scatter, What::input_gradients_of_the_experts_shards, all);
}

}  // namespace pentamesh
