#include "core/comm/comm.h"

#include "core/comm/collective_time.h"
#include "core/comm/comm_rows.h"
#include "core/layer/wire_bytes.h"
#include "core/model/model.h"
#include "core/plan/factors.h"

namespace pentamesh {
namespace {

Volumes volumes_of(const Plan& plan) {
    const Layout& l = plan.layout;
    const Training& t = plan.training;
    Volumes v;
    v.tp = static_cast<double>(l.tp), v.cp = static_cast<double>(l.cp), v.pp = static_cast<double>(l.pp);
    v.ep = static_cast<double>(l.ep), v.etp = static_cast<double>(l.etp.value_or(l.tp));
    v.wire = wire_bytes(t.compute);
    v.tokens = static_cast<double>(t.micro_batch) * static_cast<double>(t.sequence_length) / v.cp;
    v.hidden_bytes = v.tokens * static_cast<double>(plan.model.hidden) * v.wire;
    return v;
}

// Returns the types that a layer of the model, or a prediction layer, has.
LayerMask present_types(const ResolvedPlan& r) {
    LayerMask mask = r.plan.model.mtp_layers > 0 ? LayerMask{1} << r.types.mtp : 0;
    for (int t = 0; t < r.types.size(); ++t)
        if (r.counts[t] > 0) mask |= LayerMask{1} << t;
    return mask;
}

}  // namespace

CommRows::CommRows(const ResolvedPlan& resolved, Comm& out)
    : resolved_(resolved), plan_(resolved.plan), out_(out), v_(volumes_of(plan_)),
      rounds_(state_rounds(plan_)), types_(resolved.types), present_(present_types(resolved)) {}

void CommRows::list() {
    const Layout& l = plan_.layout;
    if (l.tp > 1) tensor_parallel();
    if (l.cp > 1) context_parallel();
    if (plan_.model.moe) experts();
    if (l.pp > 1) pipeline();
    gradients();
}

Operation* CommRows::put(GroupKind group, std::int64_t ranks, Unit unit, Phase phase, Collective c, What what,
                         double bytes, double calls) {
    if (ranks <= 1 || bytes <= 0 || calls <= 0) return nullptr;
    Operation& o = out_.operations.emplace_back();
    o.group = group, o.what = what, o.collective = c, o.phase = phase, o.unit = unit, o.calls = calls;
    o.types = unit == Unit::every_layer                              ? mixers_
              : unit == Unit::dense_layer || unit == Unit::moe_layer ? ffns_
                                                                     : 0;
    o.group_size = ranks;
    o.tier = summary_of(group).slowest_tier;
    if (group == GroupKind::cp && ranks < summary_of(group).degree && c == Collective::all_to_all)
        o.tier = slowest_tier(
            within(find_route(plan_, resolved_.mesh, summary_of(group)), static_cast<double>(ranks)));
    o.message_bytes = bytes;
    describe(o);
    return &o;
}

void CommRows::describe(Operation& o) {
    o.scope = o.unit == Unit::embedding ? Scope::embedding
              : o.unit == Unit::head    ? Scope::head
              : o.unit == Unit::step    ? Scope::step
                                        : Scope::layer;
    o.per = o.unit == Unit::embedding || o.unit == Unit::head ? "micro-batch"
            : o.unit == Unit::step                            ? "step"
            : o.unit == Unit::boundary                        ? "chunk and micro-batch"
                                                              : "layer and micro-batch";
}

void CommRows::repeat(Operation* o, bool repeats) {
    if (!o || !repeats) return;
    Operation repeated = *o;
    repeated.phase = Phase::backward;
    repeated.recomputed = true;
    out_.operations.push_back(repeated);
}

void CommRows::region(Unit unit, const Region& r, bool repeats) {
    const GroupKind tp = GroupKind::tp;
    const double s = v_.hidden_bytes;
    using enum Collective;
    if (plan_.layout.sequence_parallel) {
        repeat(put(tp, unit, Phase::forward, all_gather, r.in, s), repeats);
        repeat(put(tp, unit, Phase::forward, reduce_scatter, r.out, s), repeats);
        put(tp, unit, Phase::backward, all_gather, r.grad_out, s);
        put(tp, unit, Phase::backward, reduce_scatter, r.grad_in, s);
        if (r.gather_again != What::none) put(tp, unit, Phase::backward, all_gather, r.gather_again, s);
    } else {
        repeat(put(tp, unit, Phase::forward, all_reduce, r.out, s), repeats);
        put(tp, unit, Phase::backward, all_reduce, r.grad_in, s);
    }
}

void CommRows::latents(const Mla& a) {
    const Unit u = Unit::every_layer;
    const GroupKind tp = GroupKind::tp;
    using enum Collective;
    const bool cut = plan_.layout.sequence_parallel, layers = recomputes_layers();
    const bool repeats = recomputes(RecomputeModule::mla_up_proj);
    struct Way {
        What in, grad_in, again;
        std::int64_t width;
    };
    const Way query =
        a.q_lora_rank > 0
            ? Way{What::query_latents_before_attention, What::gradients_of_the_query_latents,
                  What::query_latents_again_for_the_weight_gradient, a.q_lora_rank}
            : Way{What::activations_before_attention, What::gradients_before_attention,
                  resolved_.software.inputs_whole ? What::none
                                                  : What::attention_input_again_for_the_weight_gradient,
                  plan_.model.hidden};
    const Way keys{What::key_and_value_latents_before_attention, What::gradients_of_the_key_and_value_latents,
                   What::key_and_value_latents_again_for_the_weight_gradient, a.kv_lora_rank};
    const Way rope{What::rotary_keys_before_attention, What::gradients_of_the_rotary_keys, What::none,
                   a.qk_rope_head_dim};
    for (const Way& w : {query, keys, rope}) {
        const double bytes = v_.tokens * static_cast<double>(w.width) * v_.wire;
        if (cut) repeat(put(tp, u, Phase::forward, all_gather, w.in, bytes), repeats);
        put(tp, u, Phase::backward, cut ? reduce_scatter : all_reduce, w.grad_in, bytes);
        if (cut && w.again != What::none) put(tp, u, Phase::backward, all_gather, w.again, bytes);
    }
    repeat(put(tp, u, Phase::forward, cut ? reduce_scatter : all_reduce, What::activations_after_attention,
               v_.hidden_bytes),
           layers);
    if (cut) put(tp, u, Phase::backward, all_gather, What::gradients_after_attention, v_.hidden_bytes);
}

void CommRows::tensor_parallel() {
    const Model& m = plan_.model;
    const bool latent = m.attention == AttentionKind::mla && m.mla;
    // An input that is kept whole is not gathered a second time.
    const bool whole = resolved_.software.inputs_whole;
    const auto again = [&](What what) { return whole ? What::none : what; };
    mixers_ = types_.where(
        [&](const LayerType& t) { return t.mixer != MixerKind::none && !(latent && t.attends()); });
    if (!latent || (mixers_ & present_) != 0)
        region(Unit::every_layer,
               {What::activations_before_attention, What::activations_after_attention,
                What::gradients_before_attention, What::gradients_after_attention,
                again(What::attention_input_again_for_the_weight_gradient)},
               recomputes_layers());
    mixers_ = types_.where([](const LayerType& t) { return t.attends(); });
    if (latent) latents(*m.mla);
    const LayerMask dense = types_.where([](const LayerType& t) { return t.ffn_width > 0; }) & present_;
    ffns_ = dense & ~types_.moe();
    if (ffns_ != 0)
        region(Unit::dense_layer,
               {What::activations_before_the_mlp, What::activations_after_the_mlp,
                What::gradients_before_the_mlp, What::gradients_after_the_mlp,
                again(What::mlp_input_again_for_the_weight_gradient)},
               recomputes(RecomputeModule::mlp));
    ffns_ = dense & types_.moe();
    if (ffns_ != 0)
        region(Unit::moe_layer,
               {What::activations_before_the_mlp, What::activations_after_the_mlp,
                What::gradients_before_the_mlp, What::gradients_after_the_mlp,
                again(What::mlp_input_again_for_the_weight_gradient)},
               recomputes(RecomputeModule::mlp));
    ffns_ = types_.moe();
    if (m.moe && m.moe->shared_experts > 0 && ffns_ != 0)
        region(Unit::moe_layer,
               {What::activations_before_the_shared_experts, What::activations_after_the_shared_experts,
                What::gradients_before_the_shared_experts, What::gradients_after_the_shared_experts,
                What::shared_experts_input_again_for_the_weight_gradient},
               recomputes(RecomputeModule::moe) || recomputes(RecomputeModule::shared_experts));
    vocabulary_parallel();
}

void CommRows::vocabulary_parallel() {
    using enum Collective;
    const GroupKind tp = GroupKind::tp;
    const double s = v_.hidden_bytes, heads = 1 + static_cast<double>(plan_.model.mtp_layers);
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
    put(tp, Unit::head, Phase::forward, all_reduce, What::cross_entropy, v_.tokens * bytes_of(Dtype::fp32),
        3 * heads);
}

void CommRows::pipeline() {
    using enum Collective;
    const GroupKind pp = GroupKind::pp;
    const double shards = plan_.layout.sequence_parallel ? v_.tp : 1;
    const double message = v_.hidden_bytes / shards, m = resolved_.runs;
    const auto chunks = static_cast<double>(out_.stages.chunks);
    const bool v_shaped = traits_of(plan_.layout.schedule).placement != StagePlacement::loop;
    // With two devices each chunk sends one way only, except where loops close; a V never closes, nor do
    // DualPipe's two copies, which run against each other.
    const double back = v_.pp > 2 ? chunks : v_shaped ? chunks / 2 : chunks - 1;
    const double on = v_.pp > 2 || !v_shaped ? chunks : chunks / 2;
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

void list_calls(const ResolvedPlan& r, Comm& out) {
    out.clear();
    if (r.mesh.world == 0) return;
    lay_stages(r.plan, r.types, r.shape, out.stages);
    out.held = held_numbers(r.plan.model, r.types, r.degrees);
    find_busiest(r.plan, out);
    CommRows(r, out).list();
}

}  // namespace pentamesh
