// Adds the collectives of data parallelism for a layer's weights and gradients, and finds who takes part in a
// collective.
#include "core/layer/layer_tape.h"
#include "core/layer/wire_bytes.h"

#include <cmath>

namespace pentamesh {

LayerTape::Shards LayerTape::shards(bool of_experts) const {
    Shards s;
    for (const Tensor& t : weights_)
        if (t.per_expert == of_experts) s.numbers += numbers_held(t, d_);
    const bool cp = d_.cp > 1, cuts = plan_.layout.zero > 0;
    if (of_experts) {
        s.shard = s.replicas = GroupKind::edp;
        s.shards = mesh_.expert[Axis::dp_shard].size;
        s.copies = mesh_.expert[Axis::dp_replicate].size;
        if (!cuts) s.copies *= std::exchange(s.shards, 1);
        return s;
    }
    if (!cuts) {
        s.replicas = cp ? GroupKind::dp_cp : GroupKind::dp;
        s.copies = groups_[s.replicas].degree;
        return s;
    }
    s.shard = cp ? GroupKind::fsdp : GroupKind::dp_shard;
    s.shards = groups_[s.shard].degree;
    s.copies = groups_[GroupKind::dp_replicate].degree;
    return s;
}

LayerTensor LayerTape::flat(std::string name, const Shards& s, bool cut, double bytes) const {
    LayerTensor t;
    t.name = std::move(name);
    t.weight = true;
    t.bytes_per_number = bytes;
    LayerDim d{DimName::numbers, s.numbers, s.numbers, {}};
    if (cut) {
        d.local = std::ceil(s.numbers / static_cast<double>(s.shards));
        d.cuts.push_back({s.shard, s.shards});
    }
    t.dims.push_back(d);
    return t;
}

void LayerTape::set_round(LayerStep& step, const Rounds& round) {
    step.per_step = round.each != GradientReduction::micro_batch;
    step.per_run = round.each == GradientReduction::run;
}

void LayerTape::weights_in(bool of_experts) {
    const Shards s = shards(of_experts);
    if (s.numbers <= 0 || s.shards * s.copies <= 1) return;
    const LayerBlock outer = std::exchange(block_, LayerBlock::weights);
    const bool gathers = plan_.layout.zero >= 3;
    const double bytes = gathers ? gathered_bytes(t_) : updated_bytes(t_);
    const std::string name = of_experts ? "W_experts" : "W";
    std::vector<LayerTensor> out{flat(name, s, false, bytes)};
    const Value in = put(flat(name, s, s.shards > 1, bytes));
    TapeNode& n = node(TapeKind::weights_in, {in}, std::move(out));
    n.experts = of_experts;
    if (s.shards > 1) {
        const What what =
            gathers ? of_experts ? What::experts_parameters_for_the_forward : What::parameters_for_the_forward
            : of_experts ? What::experts_updated_parameters
                         : What::updated_parameters;
        LayerStep& step = step_of(n, {LayerOp::all_gather, what, What::none});
        set_round(step, gathers ? state_rounds(plan_).forward : Rounds{});
        set_call(step, s.shard, s.shards, s.numbers * bytes, 1);
    }
    block_ = outer;
}

void LayerTape::weights_behind(bool of_experts) {
    const Shards s = shards(of_experts);
    if (s.numbers <= 0 || s.shards <= 1 || plan_.layout.zero < 3 || state_rounds(plan_).backward.times <= 0)
        return;
    node(TapeKind::weights_again, {}, {}).experts = of_experts;
}

void LayerTape::back_weights(const TapeNode& n) {
    const Shards s = shards(n.experts);
    const StateRounds rounds = state_rounds(plan_);
    const bool e = n.experts;
    const std::string name = e ? "W_experts" : "W";
    const auto say = [&](LayerOp op, What what, LayerTensor in, LayerTensor out, GroupKind group, i64 ranks,
                         double message, const Rounds& round) {
        LayerStep& step =
            emit(LayerPass::backward, op, LayerBlock::weights, what, {std::move(in)}, {std::move(out)});
        set_round(step, round);
        set_call(step, group, ranks, message, 1);
    };
    const double p = gathered_bytes(t_), g = bytes_of(t_.gradients);
    if (n.kind == TapeKind::weights_again)
        return say(LayerOp::all_gather,
                   e ? What::experts_parameters_again_for_the_backward
                     : What::parameters_again_for_the_backward,
                   flat(name, s, true, p), flat(name, s, false, p), s.shard, s.shards, s.numbers * p,
                   rounds.backward);
    LayerTensor sums = flat("d" + name, s, false, g), reduced = flat("d" + name, s, s.shards > 1, g);
    double left = s.numbers;
    if (s.copies > 1) reduced.partial.push_back(s.replicas);
    if (s.shards > 1) {
        sums.partial.push_back(s.shard);
        say(LayerOp::reduce_scatter, e ? What::experts_gradients : What::gradients, sums, reduced, s.shard,
            s.shards, s.numbers * g, rounds.reductions);
        left /= static_cast<double>(s.shards);
    }
    if (s.copies <= 1) return;
    LayerTensor all = reduced;
    all.partial.clear();
    const bool shard = s.shards > 1;
    say(LayerOp::all_reduce,
        shard ? e ? What::experts_gradients_of_the_shard_across_replicas
                  : What::gradients_of_the_shard_across_replicas
        : e   ? What::experts_gradients
              : What::gradients,
        reduced, all, s.replicas, s.copies, left * g, shard ? rounds.replicas : rounds.reductions);
}

// Returns the first ranks of the group, found from its factors: no list of all ranks is made.
std::vector<std::int64_t> LayerTape::members(GroupKind group, i64 ranks, bool outer) const {
    std::vector<Factor> factors;
    i64 first = first_rank_of_group(mesh_, group, rank_);
    const auto all = group_factors(mesh_, group);
    const i64 degree = groups_[group].degree;
    if (group == GroupKind::edp && ranks < degree) {  // its shards, or its replicas
        const Axis own = outer ? Axis::dp_replicate : Axis::dp_shard;
        const Factor f = mesh_.expert[own];
        factors.push_back(f);
        first = rank_ - expert_coordinates(mesh_, rank_)[own] * f.stride;
    } else if (group == GroupKind::cp && ranks < degree) {  // inner: neighbours; outer: one of each of these
        const Factor f = mesh_.dense[Axis::cp];
        const i64 at = dense_coordinates(mesh_, rank_)[Axis::cp], step = outer ? degree / ranks : 1;
        factors.push_back({ranks, f.stride * step});
        first = rank_ - (outer ? at / step * step : at % ranks) * f.stride;
    } else {
        factors.assign(all.span().begin(), all.span().end());
    }
    std::vector<i64> out;
    const i64 count = most_members_ > 0 ? std::min(ranks, most_members_) : ranks;
    for (i64 i = 0; i < count; ++i) {
        i64 rank = first, left = i;
        for (const Factor& f : factors) rank += left % f.size * f.stride, left /= f.size;
        out.push_back(rank);
    }
    return out;
}

void LayerTape::set_call(LayerStep& s, GroupKind group, i64 ranks, double message, double calls) const {
    s.group = group;
    s.group_size = ranks;
    const bool outer = s.op == LayerOp::ring_send || (group == GroupKind::edp && s.op == LayerOp::all_reduce);
    s.ranks = members(group, ranks, outer);
    s.message_bytes = message;
    s.calls = calls;
    s.sent_bytes = calls * sent_bytes(collective_of(s.op), ranks, message);
    if (group == GroupKind::ep && s.op == LayerOp::all_to_all && plan_.layout.ep_comm != EpComm::alltoall) {
        s.slow_share = slow_share(plan_, groups_[GroupKind::ep]);
        s.forwarded = true;
    }
}

}  // namespace pentamesh
