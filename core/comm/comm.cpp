#include "core/comm/comm.h"

#include "core/comm/collective_time.h"
#include "core/comm/comm_rows.h"
#include "core/layer/wire_bytes.h"
#include "core/model/model.h"

namespace pentamesh {
namespace {

// Returns where the rows of a call stand: of attention or a scan, of a dense MLP, of one next to experts, of
// shared experts, of context parallelism, of experts.
int place_of(const LayerCall& c, bool moe) {
    switch (c.part) {
    case LayerPart::mixer: return c.group == GroupKind::cp ? 4 : 0;
    case LayerPart::mlp: return moe ? 2 : 1;
    case LayerPart::shared_experts: return 3;
    case LayerPart::experts: break;
    }
    return 5;
}

}  // namespace

CommRows::CommRows(const ResolvedPlan& resolved, const PartsByType& parts, Comm& out)
    : resolved_(resolved), plan_(resolved.plan), parts_(parts), out_(out), types_(resolved.types),
      tokens_(static_cast<double>(plan_.training.micro_batch)
              * static_cast<double>(plan_.training.sequence_length) / static_cast<double>(plan_.layout.cp)),
      hidden_bytes_(tokens_ * static_cast<double>(plan_.model.hidden) * wire_bytes(plan_.training.compute)) {}

void CommRows::list() {
    constexpr int kPlaces = 6, kContext = 4;
    if (plan_.model.moe && plan_.layout.ep_comm != EpComm::alltoall)
        slow_share_ = slow_share(plan_, summary_of(GroupKind::ep));
    const auto has_layers = [&](int t) {
        return resolved_.counts[t] > 0 || (plan_.model.mtp_layers > 0 && t == types_.mtp);
    };
    for (int place = 0; place < kPlaces; ++place) {
        if (place == kContext) vocabulary_parallel();
        const std::size_t first = out_.operations.size();
        for (int t = 0; t < types_.size(); ++t) {
            if (!has_layers(t)) continue;
            for (const LayerCall& c : parts_[t].calls) {
                if (place_of(c, types_[t].is_moe()) != place) continue;
                put_call(c, t, false, first);
                if (c.repeats) put_call(c, t, true, first);
            }
        }
    }
    if (plan_.layout.pp > 1) pipeline();
    gradients();
}

void CommRows::put_call(const LayerCall& c, int type, bool recomputed, std::size_t first) {
    const Unit unit = c.part == LayerPart::mixer ? Unit::every_layer
                      : types_[type].is_moe()    ? Unit::moe_layer
                                                 : Unit::dense_layer;
    const Phase phase = recomputed || c.pass == LayerPass::backward ? Phase::backward : Phase::forward;
    const LayerMask bit = LayerMask{1} << type;
    for (std::size_t i = type > 0 ? first : out_.operations.size(); i < out_.operations.size(); ++i) {
        Operation& o = out_.operations[i];
        if (o.what == c.what && o.phase == phase && o.recomputed == recomputed && o.unit == unit
            && o.collective == c.collective && o.group == c.group && o.group_size == c.ranks
            && o.message_bytes == c.bytes && o.calls == c.calls && !has(o.types, type)) {
            o.types |= bit;
            return;
        }
    }
    Operation* o = put(c.group, c.ranks, unit, phase, c.collective, c.what, c.bytes, c.calls);
    if (o == nullptr) return;
    o->types = bit;
    o->recomputed = recomputed;
    if (c.group != GroupKind::ep || c.collective != Collective::all_to_all) return;
    o->forwarded = plan_.layout.ep_comm != EpComm::alltoall;
    o->slow_share = slow_share_;
}

Operation* CommRows::put(GroupKind group, std::int64_t ranks, Unit unit, Phase phase, Collective c, What what,
                         double bytes, double calls) {
    if (ranks <= 1 || bytes <= 0 || calls <= 0) return nullptr;
    Operation& o = out_.operations.emplace_back();
    o.group = group, o.what = what, o.collective = c, o.phase = phase, o.unit = unit, o.calls = calls;
    o.group_size = ranks;
    o.tier = summary_of(group).slowest_tier;
    if (group == GroupKind::cp && ranks < summary_of(group).degree && c == Collective::all_to_all)
        o.tier = slowest_tier(
            within(find_route(plan_, resolved_.mesh, summary_of(group)), static_cast<double>(ranks)));
    o.message_bytes = bytes;
    const bool end = unit == Unit::embedding || unit == Unit::head, step = unit == Unit::step;
    o.scope = unit == Unit::embedding ? Scope::embedding
              : unit == Unit::head    ? Scope::head
              : step                  ? Scope::step
                                      : Scope::layer;
    o.per = end                      ? "micro-batch"
            : step                   ? "step"
            : unit == Unit::boundary ? "chunk and micro-batch"
                                     : "layer and micro-batch";
    return &o;
}

void CommRows::vocabulary_parallel() {
    using enum Collective;
    const GroupKind tp = GroupKind::tp;
    const double s = hidden_bytes_, heads = head_passes(plan_.model);
    if (plan_.layout.sequence_parallel) {
        put(tp, Unit::embedding, Phase::forward, reduce_scatter, What::embedded_tokens, s);
        put(tp, Unit::embedding, Phase::backward, all_gather, What::gradients_of_the_embedded_tokens, s);
        put(tp, Unit::head, Phase::forward, all_gather, What::activations_before_the_head, s, heads);
        put(tp, Unit::head, Phase::backward, reduce_scatter, What::gradients_before_the_head, s, heads);
        put(tp, Unit::head, Phase::backward, all_gather, What::head_input_again_for_the_weight_gradient, s,
            heads);
    } else {
        put(tp, Unit::embedding, Phase::forward, all_reduce, What::embedded_tokens, s);
        put(tp, Unit::head, Phase::backward, all_reduce, What::gradients_before_the_head, s, heads);
    }
    // The call sums the largest logit, the logit of the label and the exponentials: Megatron's vocab-parallel
    // cross entropy.
    put(tp, Unit::head, Phase::forward, all_reduce, What::cross_entropy, tokens_ * bytes_of(Dtype::fp32),
        3 * heads);
}

void CommRows::pipeline() {
    using enum Collective;
    const GroupKind pp = GroupKind::pp;
    const double shards = plan_.layout.sequence_parallel ? static_cast<double>(plan_.layout.tp) : 1;
    const double message = hidden_bytes_ / shards, m = resolved_.runs;
    const auto chunks = static_cast<double>(out_.stages.chunks);
    const bool v_shaped = traits_of(plan_.layout.schedule).placement != StagePlacement::loop;
    // With two devices each chunk sends one way only, except where loops close; a V never closes, nor do
    // DualPipe's two copies, which run against each other.
    const double back = plan_.layout.pp > 2 ? chunks : v_shaped ? chunks / 2 : chunks - 1;
    const double on = plan_.layout.pp > 2 || !v_shaped ? chunks : chunks / 2;
    put(pp, Unit::boundary, Phase::forward, send_recv, What::activations_to_the_next_stage, message, on * m);
    put(pp, Unit::boundary, Phase::backward, send_recv, What::gradients_to_the_previous_stage, message,
        back * m);
    if (out_.embedding_copies > 0) {
        const double bytes = out_.held.word_embedding * bytes_of(plan_.training.gradients);
        put(pp, 1 + out_.embedding_copies, Unit::step, Phase::step, all_reduce,
            plan_.model.tied_embeddings ? What::gradients_of_the_tied_embedding_first_and_last_stage
                                        : What::gradients_of_the_word_embedding_first_and_last_stage,
            bytes, 1);
    }
}

void list_calls(const ResolvedPlan& r, const PartsByType& parts, Comm& out) {
    out.clear();
    if (r.mesh.world == 0) return;
    lay_stages(r.plan, r.types, r.shape, out.stages);
    out.held = held_numbers(r.plan.model, r.types, r.degrees);
    find_busiest(r.plan, out);
    CommRows(r, parts, out).list();
}

}  // namespace pentamesh
