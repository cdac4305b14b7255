// Adds the collectives of data parallelism for a layer's weights and gradients, and finds who takes part in a
// collective.
#include "core/layer/layer_tape.h"
#include "core/layer/wire_bytes.h"

#include <cmath>

namespace pentamesh {

LayerTape::StateMoves LayerTape::moves_of(bool experts) const {
    StateMoves s{list_state_calls(plan_, mesh_, groups_, experts)};
    for (const Tensor& t : weights_)
        if (t.per_expert == experts) s.numbers += numbers_held(t, d_);
    return s;
}

const StateCall* LayerTape::StateMoves::find(Collective c, bool again) const {
    for (const StateCall& call : calls)
        if (call.collective == c && call.again == again && call.ranks > 1 && numbers > 0) return &call;
    return nullptr;
}

LayerTensor LayerTape::StateMoves::flat(std::string name, bool cut, double bytes) const {
    LayerTensor t;
    t.name = std::move(name);
    t.weight = true;
    t.bytes_per_number = bytes;
    LayerDim d{DimName::numbers, numbers, numbers, {}};
    const double parts = calls.back().cut;
    if (cut && parts > 1) {
        d.local = std::ceil(numbers / parts);
        d.cuts.push_back({calls[0].group, calls[0].ranks});
    }
    t.dims.push_back(d);
    return t;
}

void LayerTape::set_call(LayerStep& step, const StateCall& call, double numbers) const {
    step.per_step = call.rounds.each != GradientReduction::micro_batch;
    step.per_run = call.rounds.each == GradientReduction::run;
    set_call(step, call.group, call.ranks, numbers / call.cut * call.bytes, 1);
}

void LayerTape::weights_in(bool of_experts) {
    const StateMoves s = moves_of(of_experts);
    if (std::ranges::none_of(s.calls, [&](const StateCall& c) { return s.find(c.collective, c.again); }))
        return;
    const LayerBlock outer = std::exchange(block_, LayerBlock::weights);
    const StateCall* const gather = s.find(Collective::all_gather, false);
    const double bytes = plan_.layout.zero >= 3 ? gathered_bytes(t_) : updated_bytes(t_);
    const std::string name = of_experts ? "W_experts" : "W";
    std::vector<LayerTensor> out{s.flat(name, false, bytes)};
    const Value in = put(s.flat(name, true, bytes));
    TapeNode& n = node(TapeKind::weights_in, {in}, std::move(out));
    n.experts = of_experts;
    if (gather) set_call(step_of(n, {LayerOp::all_gather, gather->what, What::none}), *gather, s.numbers);
    block_ = outer;
}

void LayerTape::weights_behind(bool of_experts) {
    const StateMoves s = moves_of(of_experts);
    const StateCall* const gather = s.find(Collective::all_gather, true);
    if (gather && gather->rounds.times > 0) node(TapeKind::weights_again, {}, {}).experts = of_experts;
}

void LayerTape::back_weights(const TapeNode& n) {
    const StateMoves s = moves_of(n.experts);
    const std::string name = n.experts ? "W_experts" : "W";
    const auto say = [&](LayerOp op, LayerTensor in, LayerTensor out, const StateCall& c) {
        set_call(
            emit(LayerPass::backward, op, LayerBlock::weights, c.what, {std::move(in)}, {std::move(out)}), c,
            s.numbers);
    };
    const double p = gathered_bytes(t_), g = bytes_of(t_.gradients);
    if (n.kind == TapeKind::weights_again)
        return say(LayerOp::all_gather, s.flat(name, true, p), s.flat(name, false, p),
                   *s.find(Collective::all_gather, true));
    const StateCall* const scatter = s.find(Collective::reduce_scatter, false);
    const StateCall* const reduce = s.find(Collective::all_reduce, false);
    const LayerTensor all = s.flat("d" + name, true, g);
    LayerTensor sums = s.flat("d" + name, false, g), summands = all;
    if (reduce) summands.partial.push_back(reduce->group);
    if (scatter) {
        sums.partial.push_back(scatter->group);
        say(LayerOp::reduce_scatter, sums, summands, *scatter);
    }
    if (reduce) say(LayerOp::all_reduce, summands, all, *reduce);
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
