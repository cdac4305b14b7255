// Lists the parts of a layer's mixer: attention, latent attention, context parallelism.
#include "core/layer/parts.h"

#include "core/layer/calls.h"
#include "core/mesh/mesh.h"
#include "core/model/model.h"

#include <algorithm>

namespace pentamesh {

void PartLister::mixer_calls() {
    part_ = LayerPart::mixer;
    if (type_.mixer == MixerKind::none) return;
    if (latent())
        latent_calls(*m_.mla);
    else
        region({What::activations_before_attention, What::activations_after_attention,
                What::gradients_before_attention, What::gradients_after_attention,
                again(What::attention_input_again_for_the_weight_gradient),
                product_input(TensorId::attention_input, {})},
               t_.recompute.whole_layers());
}

void PartLister::context_calls() {
    part_ = LayerPart::mixer;
    if (type_.mixer == MixerKind::none || d_.cp <= 1) return;
    if (type_.attends()) attention_over_cp();
    if (!type_.attends() || type_.mamba_beside) scan_over_cp();
}

// The products into the latents are whole on each rank and run on the tokens between regions; the latents and
// the rotary keys are gathered (Megatron-LM multi_latent_attention.py).
void PartLister::latent_calls(const Mla& a) {
    const GroupKind tp = GroupKind::tp;
    using enum Collective;
    const bool cut = d_.sequence_parallel, repeats = recomputes(RecomputeModule::mla_up_proj);
    struct Way {
        What in, grad_in, again;
        i64 width;
        bool made_again = false;
    };
    const Activation input =
        product_input(TensorId::attention_input, RecomputeModules(RecomputeModule::layernorm));
    const Way query = a.q_lora_rank > 0
                          ? Way{What::query_latents_before_attention, What::gradients_of_the_query_latents,
                                What::query_latents_again_for_the_weight_gradient, a.q_lora_rank}
                          : Way{What::activations_before_attention, What::gradients_before_attention,
                                again(What::attention_input_again_for_the_weight_gradient), m_.hidden,
                                gathered_anew(input)};
    const Way keys{What::key_and_value_latents_before_attention, What::gradients_of_the_key_and_value_latents,
                   What::key_and_value_latents_again_for_the_weight_gradient, a.kv_lora_rank};
    const Way rope{What::rotary_keys_before_attention, What::gradients_of_the_rotary_keys, What::none,
                   a.qk_rope_head_dim};
    for (const Way& w : {query, keys, rope}) {
        const double bytes = tokens_ * static_cast<double>(w.width) * wire_;
        if (cut) forward(tp, d_.tp, all_gather, w.in, bytes, repeats || w.made_again);
        backward(tp, d_.tp, cut ? reduce_scatter : all_reduce, w.grad_in, bytes);
        if (cut && w.again != What::none) backward(tp, d_.tp, all_gather, w.again, bytes);
    }
    forward(tp, d_.tp, cut ? reduce_scatter : all_reduce, What::activations_after_attention, hidden_bytes_,
            t_.recompute.whole_layers());
    if (cut) backward(tp, d_.tp, all_gather, What::gradients_after_attention, hidden_bytes_);
}

double PartLister::repeated_kv(i64 ranks) const {
    if (latent()) return 1;
    const double heads = static_cast<double>(type_.kv_heads) / tp_;
    return std::max(static_cast<double>(ranks) / std::max(heads, 1.0), 1.0);
}

void PartLister::attention_over_cp() {
    using enum Collective;
    const GroupKind cp = GroupKind::cp;
    // Software that names the tensors it keeps also keeps the core's output: only queries, keys and values
    // are recomputed.
    const bool by_name =
        !software_.selective_keeps.empty() && t_.recompute == RecomputeChoice(Recompute::selective);
    const bool repeats = recomputes(RecomputeModule::core_attn) && !by_name;
    // They are recomputed before they are handed out to heads.
    const bool repeats_in = repeats || by_name || (latent() && recomputes(RecomputeModule::mla_up_proj));
    const Widths w = widths();
    const double width = tokens_ * wire_, kv = width * (w.key + w.value);
    switch (plan_.layout.cp_comm) {
    case CpComm::ring:  // Liu et al. 2023 (Ring Attention)
        forward(cp, d_.cp, send_recv, What::keys_and_values_rotated, kv, repeats, cp_ - 1);
        backward(cp, d_.cp, send_recv, What::keys_and_values_rotated, kv, cp_ - 1);
        backward(cp, d_.cp, send_recv, What::gradients_of_keys_and_values_rotated, kv, cp_);
        break;
    case CpComm::allgather:  // Llama Team 2024, section 3.3.2
        for (const bool values : {false, true}) {
            const double own = width * (values ? w.value : w.key) * cp_;
            const What what = values ? What::values : What::keys;
            forward(cp, d_.cp, all_gather, what, own, repeats);
            backward(cp, d_.cp, all_gather, what, own);
            backward(cp, d_.cp, reduce_scatter, values ? What::gradients_of_values : What::gradients_of_keys,
                     own);
        }
        break;
    case CpComm::ulysses: ulysses(d_.cp, repeats_in, repeats); break;
    // Ulysses inside, a ring of the inner groups outside (Fang and Zhao 2024, USP; Megatron-LM's
    // a2a+p2p).
    case CpComm::ulysses_ring: {
        const i64 inner = head_ranks_of(plan_.layout, d_.cp), outer = d_.cp / inner;
        ulysses(inner, repeats_in, repeats);
        // A rank then holds `inner` times the tokens and as many times fewer heads.
        const double block = kv * repeated_kv(inner), rounds = static_cast<double>(outer);
        const What what = What::keys_and_values_rotated;
        forward(cp, outer, send_recv, what, block, repeats, rounds - 1);
        backward(cp, outer, send_recv, what, block, rounds - 1);
        backward(cp, outer, send_recv, What::gradients_of_keys_and_values_rotated, block,
                 outer > 1 ? rounds : 0);
        break;
    }
    }
}

// From Jacobs et al. 2023: kv heads fewer than the ranks are repeated.
void PartLister::ulysses(i64 ranks, bool repeats_in, bool repeats_out) {
    const GroupKind cp = GroupKind::cp;
    const Collective c = Collective::all_to_all;
    const Widths w = widths();
    const double width = tokens_ * wire_, out = width * w.output;
    const double in = width * (w.query + (w.key + w.value) * repeated_kv(ranks));
    forward(cp, ranks, c, What::queries_keys_and_values_to_heads, in, repeats_in);
    forward(cp, ranks, c, What::attention_output_to_tokens, out, repeats_out);
    backward(cp, ranks, c, What::gradients_of_the_output_to_heads, out);
    backward(cp, ranks, c, What::gradients_of_queries_keys_and_values_to_tokens, in);
}

PartLister::Widths PartLister::widths() const {
    Widths w;
    w.heads = static_cast<double>(type_.heads) / tp_;
    if (latent()) {
        w.query = w.key = w.heads * static_cast<double>(m_.mla->qk_nope_head_dim + m_.mla->qk_rope_head_dim);
        w.value = w.output = w.heads * static_cast<double>(m_.mla->v_head_dim);
        return w;
    }
    const double kv = std::max(static_cast<double>(type_.kv_heads) / tp_, 1.0);
    w.query = w.heads * static_cast<double>(type_.head_dim);
    w.key = kv * static_cast<double>(type_.head_dim);
    w.value = kv * static_cast<double>(type_.value_head_dim);
    w.output = w.heads * static_cast<double>(type_.value_head_dim);
    return w;
}

void PartLister::mixer_kernels() {
    if (latent())
        latent_kernels(*m_.mla, widths());
    else if (compressed())
        compressed_kernels(*m_.compressed, widths());
    else if (type_.attends())
        attention_kernels(widths());
    scan_kernels();
}

void PartLister::attention_kernels(const Widths& w) {
    const double value = type_.keys_as_values || type_.shares_kv ? 0 : w.value;
    const double key = type_.shares_kv ? 0 : w.key;
    const double gate = m_.attention_gate == AttentionGate::full   ? w.output
                        : m_.attention_gate == AttentionGate::head ? w.heads
                                                                   : 0;
    product(What::queries_keys_and_values, tokens_, hidden_, w.query + key + value + gate);
    const double turned = tokens_ * (w.query + w.key) * kNormBytes;
    if (m_.qk_norm != QkNorm::none) element_wise(What::norms_of_queries_and_keys, turned, 2);
    if (m_.positions == Positions::rope) element_wise(What::rotary_positions, turned, kRope);
    core_kernels(w);
    if (gate > 0) element_wise(What::gate_of_the_output, tokens_ * w.output * kAddBytes, 1);
    product(What::output_of_attention, tokens_, w.output, hidden_);
}

// The products into the latents are whole on each rank, for the tokens between regions; so is the indexer
// (DeepSeek-AI 2025, DeepSeek-V3.2, section 2.1).
void PartLister::latent_kernels(const Mla& a, const Widths& w) {
    const RecomputeModules up(RecomputeModule::mla_up_proj);
    const double q = static_cast<double>(a.q_lora_rank), kv = static_cast<double>(a.kv_lora_rank);
    const double rope = static_cast<double>(a.qk_rope_head_dim), q_in = q > 0 ? q : hidden_;
    // Norms of latents take their launches only; the other launches of kLatentKernels turn and join.
    double launches = kLatentKernels - kRope;
    if (q > 0) {
        product(What::query_latents, outer_, hidden_, q);
        element_wise(What::norm_of_the_query_latents, outer_ * q * kNormBytes, 1).launch_only = true;
        --launches;
    }
    product(What::queries_out_of_their_latents, tokens_, q_in, w.query, up);
    product(What::key_and_value_latents, outer_, hidden_, kv + rope);
    element_wise(What::norm_of_the_key_and_value_latents, outer_ * kv * kNormBytes, 1).launch_only = true;
    --launches;
    product(What::keys_and_values_out_of_their_latents, tokens_, kv,
            w.heads * static_cast<double>(a.qk_nope_head_dim) + w.value, up);
    element_wise(What::rotary_positions, tokens_ * (w.query + w.key) * kNormBytes, kRope, up);
    element_wise(What::rotary_positions, 0, launches);
    core_kernels(w);
    product(What::output_of_attention, tokens_, w.value, hidden_);
    if (!type_.has_indexer(m_)) return;
    product(What::queries_of_the_indexer, outer_, q_in,
            static_cast<double>(a.index_heads * a.index_head_dim));
    product(What::keys_and_weights_of_the_indexer, outer_, hidden_,
            static_cast<double>(a.index_head_dim + a.index_heads));
}

// DeepSeek-V4 (transformers, modeling_deepseek_v4.py). Queries have a norm without weights; the compression
// is a softmax over the tokens of a key, with a norm and positions behind it.
void PartLister::compressed_kernels(const Compressed& a, const Widths& w) {
    const RecomputeModules up(RecomputeModule::mla_up_proj);
    const auto q = static_cast<double>(a.q_lora_rank), d = static_cast<double>(type_.head_dim);
    const auto parts = static_cast<double>(type_.key_parts()), groups = static_cast<double>(a.o_groups);
    const auto out = static_cast<double>(a.o_lora_rank), index = static_cast<double>(a.index_head_dim);
    product(What::query_latents, outer_, hidden_, q);
    element_wise(What::norm_of_the_query_latents, outer_ * q * kNormBytes, 1).launch_only = true;
    product(What::queries_out_of_their_latents, tokens_, q, w.query, up);
    product(What::keys, tokens_, hidden_, d);
    const double turned = tokens_ * (w.query + d) * kNormBytes;
    element_wise(What::norms_of_queries_and_keys, turned, 2, up);
    element_wise(What::rotary_positions, turned, kRope, up);
    if (type_.compress > 0) {
        const double read = 2 * parts * (d + (type_.picks_compressed ? index : 0));
        const double written = read / (2 * parts * static_cast<double>(type_.compress));
        product(What::keys_to_compress, tokens_, hidden_, 2 * parts * d);
        element_wise(What::compression_of_keys, tokens_ * (read + written) * kTwo, kCompressionKernels);
    }
    core_kernels(w);
    product(What::output_latents, tokens_, w.output / (groups / tp_), out, {}, LayerRate::linear,
            groups / tp_);
    product(What::output_of_attention, tokens_, out * groups / tp_, hidden_);
    if (!type_.picks_compressed) return;
    const auto heads = static_cast<double>(a.index_heads);
    product(What::queries_of_the_indexer, outer_, q, heads * index);
    product(What::keys_and_weights_of_the_indexer, outer_, hidden_, 2 * parts * index + heads);
}

void PartLister::core_kernels(const Widths& w) {
    const RecomputeModules core(RecomputeModule::core_attn);
    const double batch = static_cast<double>(t_.micro_batch), s = static_cast<double>(t_.sequence_length);
    const bool flash = t_.attention != AttentionImpl::math;
    LayerKernel& k = product(What::attention_core, tokens_ / batch, w.query / w.heads, w.output / w.heads,
                             core, LayerRate::core, batch * w.heads);
    k.kernels = flash ? 1 : kUnfusedAttention;
    k.flops = 2 * tokens_ * keys_met(m_, type_, s, true) * (w.query + w.output);
    if (flash && type_.has_indexer(m_))  // the indexer scores all keys
        kernel(What::attention_core, LayerRate::core, core).flops =
            2 * tokens_ * keys_met(0, s, true)
            * static_cast<double>(m_.mla->index_heads * m_.mla->index_head_dim);
    if (flash && compressed() && type_.picks_compressed)  // and here all compressed ones
        kernel(What::attention_core, LayerRate::core, core).flops =
            2 * tokens_ * keys_scored(type_, s, true)
            * static_cast<double>(m_.compressed->index_heads * m_.compressed->index_head_dim);
}

void PartLister::mixer_kept() {
    if (latent())
        latent_kept(*m_.mla);
    else if (compressed())
        compressed_kept(*m_.compressed);
    else if (type_.attends())
        attention_kept();
    scans_kept();
}

void PartLister::attention_kept() {
    const i64 head_ranks = head_ranks_of(plan_.layout, d_.cp);  // Ulysses hands whole heads to so many
    const i64 q = divide_up(type_.heads, d_.tp);
    const i64 projected = divide_up(type_.kv_heads, d_.tp);
    const i64 kv = divide_up(projected, head_ranks) * head_ranks;  // copied where too few
    const i64 dim = type_.head_dim, all_q = saturating_product(type_.heads, dim), dv = type_.value_head_dim;
    const i64 all_kv = saturating_product(type_.kv_heads, dim);
    if (m_.qk_norm != QkNorm::none) {
        keep_region(TensorId::norm_q_input, all_q, saturating_product(q, dim), wire_);
        keep_region(TensorId::norm_k_input, all_kv, saturating_product(projected, dim), wire_, {}, true);
    }
    keep_region(TensorId::attention_q, all_q, saturating_product(q, dim), wire_);
    keep_region(TensorId::attention_k, all_kv, saturating_product(kv, dim), wire_, {}, true);
    keep_region(TensorId::attention_v, saturating_product(type_.kv_heads, dv), saturating_product(kv, dv),
                wire_, {}, true);
    core_kept(type_.heads, q, dv);
    if (m_.attention_gate == AttentionGate::none) return;
    const bool full = m_.attention_gate == AttentionGate::full;
    keep_region(TensorId::attention_gate, full ? saturating_product(type_.heads, dv) : type_.heads,
                full ? saturating_product(q, dv) : q, wire_);
    keep_region(TensorId::attention_gated, saturating_product(type_.heads, dv), saturating_product(q, dv),
                product_bytes_);
}

void PartLister::latent_kept(const Mla& a) {
    const i64 heads = type_.heads;
    const i64 q = divide_up(heads, d_.tp), qk = a.qk_nope_head_dim + a.qk_rope_head_dim;
    if (a.q_lora_rank > 0) {
        keep_between(TensorId::norm_q_latent_input, a.q_lora_rank, wire_);
        keep_between(TensorId::attention_q_latent, a.q_lora_rank, product_bytes_);
    }
    keep_between(TensorId::norm_kv_latent_input, a.kv_lora_rank + a.qk_rope_head_dim, wire_);
    keep_between(TensorId::attention_kv_latent, a.kv_lora_rank, product_bytes_);
    const RecomputeModules up(RecomputeModule::mla_up_proj);
    const i64 v = a.v_head_dim, all = saturating_product(heads, qk), own = saturating_product(q, qk);
    keep_region(TensorId::attention_q, all, own, wire_, up);
    keep_region(TensorId::attention_k, all, own, wire_, up);
    keep_region(TensorId::attention_v, saturating_product(heads, v), saturating_product(q, v), wire_, up);
    if (type_.has_indexer(m_)) {
        const i64 index = saturating_product(a.index_heads, a.index_head_dim);
        keep_between(TensorId::attention_index_q, index, wire_);
        keep_between(TensorId::attention_index_k, a.index_head_dim, wire_);
        choice_kept(a.index_heads, a.index_top_k);
    }
    core_kept(heads, q, v);
}

// An indexer weighs its heads, and names the keys that it chose by whole numbers.
void PartLister::choice_kept(i64 index_heads, i64 top_k) {
    keep_between(TensorId::attention_index_weights, index_heads, wire_);
    keep_between(TensorId::attention_index_chosen, top_k, 4);
}

// Keys are one head, which each rank has whole. Of the softmax inside the compression only its inputs are
// kept.
void PartLister::compressed_kept(const Compressed& a) {
    const i64 q = divide_up(type_.heads, d_.tp), d = type_.head_dim;
    const i64 all = saturating_product(type_.heads, d), own = saturating_product(q, d);
    const RecomputeModules up(RecomputeModule::mla_up_proj);
    keep_between(TensorId::norm_q_latent_input, a.q_lora_rank, wire_);
    keep_between(TensorId::attention_q_latent, a.q_lora_rank, product_bytes_);
    keep_region(TensorId::norm_q_input, all, own, wire_, up);
    keep_region(TensorId::norm_k_input, d, d, wire_);
    keep_region(TensorId::attention_q, all, own, wire_, up);
    keep_region(TensorId::attention_k, d, d, wire_, up);
    if (type_.compress > 0) {
        const i64 wide = saturating_product(type_.key_parts(), d), pooled = divide_up(d, type_.compress);
        keep_region(TensorId::attention_compress_kv, wide, wide, wire_);
        keep_region(TensorId::attention_compress_gate, wide, wide, wire_);
        keep_region(TensorId::attention_compressed, pooled, pooled, wire_);
    }
    if (type_.picks_compressed) {
        const i64 wide = saturating_product(type_.key_parts(), a.index_head_dim);
        keep_between(TensorId::attention_index_q, saturating_product(a.index_heads, a.index_head_dim), wire_);
        keep_between(TensorId::attention_index_kv, wide, wire_);
        keep_between(TensorId::attention_index_gate, wide, wire_);
        choice_kept(a.index_heads, a.index_top_k);
    }
    core_kept(type_.heads, q, d);
    const i64 latents = saturating_product(a.o_groups, a.o_lora_rank);
    keep_region(TensorId::attention_output_down, latents, divide_up(latents, d_.tp), product_bytes_);
}

void PartLister::core_kept(i64 all_heads, i64 heads, i64 dim) {
    const i64 all = saturating_product(all_heads, dim), local = saturating_product(heads, dim);
    const RecomputeModules recomputed_by(RecomputeModule::core_attn);
    if (t_.attention == AttentionImpl::math) {
        const i64 keys = saturating_product(all_heads, t_.sequence_length);
        const i64 own = saturating_product(heads, t_.sequence_length);
        keep_region(TensorId::attention_softmax, keys, own, wire_, recomputed_by);
        if (t_.dropout) {
            keep_region(TensorId::attention_softmax_dropout_mask, keys, own, 1, recomputed_by);
            keep_region(TensorId::attention_softmax_dropped, keys, own, wire_, recomputed_by);
        }
        keep_region(TensorId::attention_output, all, local, product_bytes_);
        return;
    }
    keep_region(TensorId::attention_log_sum_exp, all_heads, heads, 4, recomputed_by);
    keep_region(TensorId::attention_output, all, local, wire_);
    if (software_.attention_copies > 0)
        keep_region(TensorId::attention_copies, all, local, wire_ * software_.attention_copies);
    if (product_bytes_ < wire_) keep_region(TensorId::attention_output_cast, all, local, product_bytes_);
}

// Lists the parts of a layer's MLP and of its experts.

PartLister::PartLister(const Plan& plan, const Degrees& degrees, const LayerType& type, LayerParts& out)
    : plan_(plan), m_(plan.model), t_(plan.training), d_(degrees), type_(type),
      software_(facts_of(plan.training.software)), tp_(static_cast<double>(degrees.tp)),
      cp_(static_cast<double>(degrees.cp)), wire_(wire_bytes(plan.training.compute)),
      product_bytes_(bytes_of(plan.training.compute)),
      tokens_(static_cast<double>(t_.micro_batch) * static_cast<double>(t_.sequence_length) / cp_),
      outer_(degrees.sequence_parallel ? tokens_ / tp_ : tokens_), hidden_(static_cast<double>(m_.hidden)),
      hidden_bytes_(tokens_ * hidden_ * wire_), calls_(out.calls), kernels_(out.kernels), kept_(out.kept) {}

void PartLister::list() {
    calls_.clear(), kernels_.clear(), kept_.clear();
    calls();
    kernels();
    kept();
}

void PartLister::calls() {
    mixer_calls();
    mlp_calls();
    context_calls();
    if (type_.is_moe() && m_.moe) expert_calls(*m_.moe);
}

void PartLister::region(const Region& r, bool repeats) {
    const GroupKind tp = GroupKind::tp;
    using enum Collective;
    if (!d_.sequence_parallel) {
        forward(tp, d_.tp, all_reduce, r.out, hidden_bytes_, repeats);
        backward(tp, d_.tp, all_reduce, r.grad_in, hidden_bytes_);
        return;
    }
    const bool anew = r.gather_again == What::none && gathered_anew(r.input);
    forward(tp, d_.tp, all_gather, r.in, hidden_bytes_, repeats || anew);
    forward(tp, d_.tp, reduce_scatter, r.out, hidden_bytes_, repeats);
    backward(tp, d_.tp, all_gather, r.grad_out, hidden_bytes_);
    backward(tp, d_.tp, reduce_scatter, r.grad_in, hidden_bytes_);
    if (r.gather_again != What::none) backward(tp, d_.tp, all_gather, r.gather_again, hidden_bytes_);
}

void PartLister::mlp_calls() {
    part_ = LayerPart::mlp;
    if (type_.ffn_width > 0)
        region({What::activations_before_the_mlp, What::activations_after_the_mlp,
                What::gradients_before_the_mlp, What::gradients_after_the_mlp,
                again(What::mlp_input_again_for_the_weight_gradient),
                product_input(TensorId::mlp_input, RecomputeModules(RecomputeModule::mlp))},
               recomputes(RecomputeModule::mlp));
    part_ = LayerPart::shared_experts;
    if (type_.is_moe() && m_.moe && m_.moe->shared_experts > 0)
        region({What::activations_before_the_shared_experts, What::activations_after_the_shared_experts,
                What::gradients_before_the_shared_experts, What::gradients_after_the_shared_experts,
                What::shared_experts_input_again_for_the_weight_gradient},
               recomputes(RecomputeModule::moe) || recomputes(RecomputeModule::shared_experts));
}

// Tokens that go to the experts come back, forward and backward.
void PartLister::expert_calls(const Moe& e) {
    using enum Collective;
    part_ = LayerPart::experts;
    const GroupKind ep = GroupKind::ep, etp = GroupKind::etp;
    const bool repeats = recomputes(RecomputeModule::moe);
    const double h = static_cast<double>(e.latent > 0 ? e.latent : m_.hidden);
    const double own = tokens_ / tp_;
    // Without sequence parallelism tensor-parallel ranks hold the same tokens. Each sends its part of them
    // and gathers the outputs; the backward of the part is a gather of its gradients (DeepSpeed
    // moe/mappings.py).
    if (!plan_.layout.sequence_parallel) {
        const double all = tokens_ * h * wire_;
        forward(GroupKind::tp, d_.tp, all_gather, What::activations_after_the_mlp, all, repeats);
        backward(GroupKind::tp, d_.tp, all_gather, What::gradients_before_the_mlp, all);
    }
    double shard = 0;  // of the tokens that a rank's experts get
    if (plan_.layout.ep_comm == EpComm::allgather) {
        // Every rank sees every token and keeps those of its experts (Megatron-LM token_dispatcher.py).
        const double all = own * static_cast<double>(d_.ep) * h * wire_;
        forward(ep, d_.ep, all_gather, What::tokens_to_all_ranks_of_experts, all, repeats);
        forward(ep, d_.ep, reduce_scatter, What::sum_of_experts_outputs, all, repeats);
        backward(ep, d_.ep, all_gather, What::output_gradients_to_all_ranks_of_experts, all);
        backward(ep, d_.ep, reduce_scatter, What::sum_of_input_gradients, all);
        shard = all;
    } else {
        // A copy of each token goes to each of its experts.
        const double copies = own * sent_copies(plan_);
        const double wide = copies * h * wire_, dispatched = copies * h * dispatch_bytes(t_.compute);
        forward(ep, d_.ep, all_to_all, What::dispatch_of_tokens_to_experts, dispatched, repeats);
        forward(ep, d_.ep, all_to_all, What::combine_of_experts_outputs, wide, repeats);
        backward(ep, d_.ep, all_to_all, What::dispatch_of_output_gradients, dispatched);
        backward(ep, d_.ep, all_to_all, What::combine_of_input_gradients, wide);
        shard = own * static_cast<double>(e.top_k) * t_.router_imbalance * h * wire_;
    }
    // The ranks of an etp group bring different tokens, and each needs all of them.
    const double all = shard * static_cast<double>(d_.etp);
    forward(etp, d_.etp, all_gather, What::tokens_of_the_experts_shards, all, repeats);
    forward(etp, d_.etp, reduce_scatter, What::outputs_of_the_experts_shards, all, repeats);
    backward(etp, d_.etp, all_gather, What::output_gradients_of_the_experts_shards, all);
    backward(etp, d_.etp, reduce_scatter, What::input_gradients_of_the_experts_shards, all);
}

void PartLister::kernels() {
    const RecomputeModules norms(RecomputeModule::layernorm);
    const bool moe = type_.is_moe() && m_.moe, beside = moe && m_.moe->beside_mlp;
    part_ = LayerPart::mixer;
    if (type_.mixer != MixerKind::none) {
        if (hyper()) streams_in();
        norm(What::norm_before_attention, norm_apart() ? norms : RecomputeModules());
        mixer_kernels();
        if (m_.post_norms) norm(What::norm_behind_the_block);
        hyper() ? streams_out() : addition();
    }
    if (type_.ffn == LayerFfn::none) return;
    part_ = LayerPart::mlp;
    if (hyper()) streams_in();
    if (!type_.shares_norm(m_)) {
        const bool of_experts = moe && !beside;
        norm(of_experts ? What::norm_before_the_experts : What::norm_before_the_mlp,
             of_experts ? norms : RecomputeModules());
    }
    if (type_.ffn_width > 0)
        mlp_kernels(What::gate_and_up, What::down, static_cast<double>(type_.ffn_width) / tp_,
                    RecomputeModules(RecomputeModule::mlp));
    if (beside) {
        norm(What::norm_behind_the_mlp);
        norm(What::norm_before_the_experts, norms);
        norm(What::norm_behind_the_experts);
    }
    if (m_.post_norms) norm(What::norm_behind_the_block);
    hyper() ? streams_out() : addition();
    if (moe) expert_kernels(*m_.moe);
}

void PartLister::norm(What what, RecomputeModules modules) {
    element_wise(what, outer_ * hidden_ * kNormBytes, 1, modules).on_stream = true;
}

void PartLister::addition() {
    element_wise(What::added_to_the_residual_stream, outer_ * hidden_ * kAddBytes, 1).on_stream = true;
}

// Xie et al. 2025 (arXiv 2512.24880), section 4.3: fused, the streams are read once for their weights and
// once for the block's input, and read, mixed and written behind it. What normalises the weights works on n x
// n numbers of a token and has no time here.
void PartLister::streams_in() {
    const auto n = static_cast<double>(m_.hyper_streams);
    product(What::weights_of_the_streams, outer_, n * hidden_, n * (n + 2), {}, LayerRate::wide).on_stream =
        true;
    element_wise(What::streams_joined, outer_ * hidden_ * (n + 1) * kTwo, 1).on_stream = true;
}

void PartLister::streams_out() {
    const auto n = static_cast<double>(m_.hyper_streams);
    element_wise(What::streams_mixed, outer_ * hidden_ * (2 * n + 1) * kTwo, 1).on_stream = true;
}

void PartLister::mlp_kernels(What up_what, What down, double width, RecomputeModules modules) {
    product(up_what, tokens_, hidden_, up(width), modules);
    product(down, tokens_, width, hidden_, modules);
    activation(tokens_, width, modules);
}

LayerKernel& PartLister::activation(double tokens, double width, RecomputeModules modules) {
    return element_wise(What::activation_function, tokens * (up(width) + width) * kTwo, 1, modules);
}

void PartLister::expert_kernels(const Moe& e) {
    part_ = LayerPart::experts;
    const RecomputeModules moe(RecomputeModule::moe);
    product(What::router, outer_, hidden_, static_cast<double>(e.experts), moe, LayerRate::wide).kernels =
        kRouterKernels;
    const auto latent_width = static_cast<double>(e.latent);
    if (e.latent > 0) {
        product(What::into_the_experts_latents, outer_, hidden_, latent_width, moe);
        product(What::out_of_the_experts_latents, outer_, latent_width, hidden_, moe);
    }
    const double h = e.latent > 0 ? latent_width : hidden_, etp = static_cast<double>(d_.etp);
    // These are the tokens that a rank's experts get, once for each expert. Each of the ranks that hold the
    // same tokens sends its part.
    const double copies = tokens_ / tp_ * static_cast<double>(e.top_k) * t_.router_imbalance * etp;
    const double width = static_cast<double>(e.expert_ffn) / etp;
    element_wise(What::tokens_sorted_by_expert, copies / etp * h * kNormBytes, kPermuteKernels / 2, moe);
    element_wise(What::outputs_back_in_order_weighed, 2 * copies / etp * h * kNormBytes, kPermuteKernels / 2,
                 moe);
    // Grouped products. Fused: the first applies the activation and casts what it writes for the second, and
    // so does the second's input gradient on the way back (TransformerEngine's operation fuser, with gate and
    // up interleaved).
    const double local = std::max(static_cast<double>(e.experts) / static_cast<double>(d_.ep), 1.0);
    const bool apart = !t_.fused_experts || t_.experts_one_by_one;
    product(What::gate_and_up_of_the_experts, copies / local, h, up(width), moe, LayerRate::grouped, local)
        .casts_gradient = apart;
    product(What::down_of_the_experts, copies / local, width, h, moe, LayerRate::grouped, local).casts_input =
        apart;
    RecomputeModules by(RecomputeModule::moe_act);
    if (apart) by.add(RecomputeModule::moe);
    LayerKernel& act = activation(copies, width, by);
    act.fused = !apart;
    if (t_.experts_one_by_one) act.kernels = local;
    // Grouped products add no bias on their way out, and Megatron Core fuses no gated activation with one:
    // the bias of both products, then clamp, gate and product of the two halves are each read and written.
    if (m_.mlp_bias) {
        const double gate = gated() ? 4 * kNormBytes + kAddBytes : 0;
        element_wise(What::activation_function, copies * ((up(width) + hidden_) * kNormBytes + width * gate),
                     gated() ? 7 : 2, moe);
    }
    if (e.shared_experts <= 0) return;
    element_wise(What::added_on_the_way, 0, 0, moe);  // fused into another kernel
    part_ = LayerPart::shared_experts;
    mlp_kernels(What::gate_and_up_of_the_shared_experts, What::down_of_the_shared_experts,
                static_cast<double>(e.shared_experts * e.shared_expert_ffn) / tp_,
                RecomputeModules(RecomputeModule::moe, RecomputeModule::shared_experts));
}

void PartLister::kept() {
    const bool mixes = type_.mixer != MixerKind::none, moe = type_.is_moe() && m_.moe;
    // Recomputing norms takes those that are kernels of their own: MLA's and a MoE layer's. Elsewhere the
    // norm is fused into the product after it (Megatron-LM gpt_layer_specs.py, transformer_layer.py).
    if (mixes) {
        if (hyper())
            streams_kept(TensorId::attention_hyper_input, TensorId::attention_hyper,
                         TensorId::attention_hyper_output, true);
        keep_between(TensorId::norm_attention_input, m_.hidden, wire_, !hyper());
        if (compressed()
            || (latent() && m_.mla->q_lora_rank > 0))  // into the latents: not cut by tp, so not gathered
            keep_between(TensorId::attention_input, m_.hidden, product_bytes_, false,
                         RecomputeModules(RecomputeModule::layernorm));
        else
            kept_.push_back(
                product_input(TensorId::attention_input,
                              latent() ? RecomputeModules(RecomputeModule::layernorm) : RecomputeModules()));
        mixer_kept();
        if (m_.post_norms) keep_between(TensorId::norm_after_attention_input, m_.hidden, wire_);
        if (t_.dropout) keep_between(TensorId::attention_dropout_mask, m_.hidden, 1);
    }
    if (type_.ffn == LayerFfn::none) return;
    if (hyper())
        streams_kept(TensorId::mlp_hyper_input, TensorId::mlp_hyper, TensorId::mlp_hyper_output, !mixes);
    if (!type_.shares_norm(m_)) keep_between(TensorId::norm_mlp_input, m_.hidden, wire_, !mixes && !hyper());
    if (type_.ffn_width > 0) {
        const RecomputeModules recomputed_by(RecomputeModule::mlp);
        // After a shared norm both halves have one input; where it is kept as gathered, each keeps its own.
        if (!m_.shared_norm || !mixes || (software_.inputs_whole && d_.sequence_parallel))
            kept_.push_back(product_input(TensorId::mlp_input, recomputed_by));
        mlp_kept(mlp_tensors(TensorModule::mlp), Tokens::region, type_.ffn_width, d_.tp, recomputed_by,
                 recomputed_by);
    }
    if (moe) experts_kept(*m_.moe);
    if (moe && m_.moe->beside_mlp)
        for (const TensorId id : {TensorId::norm_experts_input, TensorId::norm_after_dense_mlp_input,
                                  TensorId::norm_after_experts_input})
            keep_between(id, m_.hidden, wire_);
    if (m_.post_norms) keep_between(TensorId::norm_after_mlp_input, m_.hidden, wire_);
    if (t_.dropout) keep_between(TensorId::mlp_dropout_mask, m_.hidden, 1);
}

void PartLister::streams_kept(TensorId input, TensorId weights, TensorId output, bool first) {
    const i64 n = m_.hyper_streams;
    keep_between(input, saturating_product(n, m_.hidden), wire_, first);
    keep_between(weights, n * (n + 2), 4);
    keep_between(output, m_.hidden, wire_);
}

void PartLister::keep_between(TensorId id, i64 width, double bytes, bool input,
                              RecomputeModules recomputed_by) {
    kept_.push_back({id, Tokens::between, width, width, bytes, recomputed_by, input});
}

void PartLister::keep_region(TensorId id, i64 width, i64 local, double bytes, RecomputeModules recomputed_by,
                             bool of_kv_heads) {
    kept_.push_back({id, Tokens::region, width, local, bytes, recomputed_by, false, of_kv_heads});
}

bool PartLister::gathered_anew(const Activation& input) const {
    return software_.inputs_whole && !is_kept(input, t_.recompute, software_);
}

Activation PartLister::product_input(TensorId id, RecomputeModules recomputed_by) const {
    const bool whole = software_.inputs_whole && d_.sequence_parallel;
    return {id,           whole ? Tokens::region : Tokens::between, m_.hidden, m_.hidden, product_bytes_,
            recomputed_by};
}

void PartLister::mlp_kept(const MlpTensors& ids, Tokens tokens, i64 width, i64 degree,
                          RecomputeModules recomputed_by, RecomputeModules activated) {
    const i64 local = divide_up(width, degree);
    const auto one = [&](TensorId id, double bytes, RecomputeModules by) {
        kept_.push_back(Activation{id, tokens, width, local, bytes, by, false});
    };
    if (gated()) one(ids.gate, wire_, recomputed_by);
    one(ids.up, wire_, recomputed_by);
    if (gated() && software_.activation_apart) one(ids.activated, wire_, activated);
    one(ids.product, product_bytes_, activated);
}

void PartLister::experts_kept(const Moe& e) {
    const RecomputeModules layer(RecomputeModule::moe);
    const RecomputeModules shared_recomputed_by(RecomputeModule::moe, RecomputeModule::shared_experts);
    keep_between(TensorId::router_input, m_.hidden, wire_, false,
                 RecomputeModules(RecomputeModule::layernorm));
    keep_between(TensorId::router_logits, e.experts, 4, false, layer);
    const i64 width = e.latent > 0 ? e.latent : m_.hidden;
    if (e.latent > 0) {
        keep_between(TensorId::experts_latent_in_input, m_.hidden, product_bytes_, false, layer);
        keep_between(TensorId::experts_latent_out_input, e.latent, product_bytes_, false, layer);
    }
    kept_.push_back(
        Activation{TensorId::experts_input, Tokens::dispatched, width, width, product_bytes_, layer, false});
    mlp_kept(mlp_tensors(TensorModule::experts), Tokens::dispatched, e.expert_ffn, d_.etp, layer,
             RecomputeModules(RecomputeModule::moe, RecomputeModule::moe_act));
    const i64 shared = saturating_product(e.shared_experts, e.shared_expert_ffn);
    if (shared > 0)
        mlp_kept(mlp_tensors(TensorModule::shared_expert), Tokens::region, shared, d_.tp,
                 shared_recomputed_by, shared_recomputed_by);
}

void list_parts(const Plan& plan, const Degrees& degrees, const LayerType& type, LayerParts& out) {
    PartLister(plan, degrees, type, out).list();
}

void list_parts(const Plan& plan, const Degrees& degrees, const LayerTypes& types, PartsByType& out) {
    LayerParts none;  // resize by itself would fill its room with zeros
    out.type.resize(static_cast<std::size_t>(types.size()), none);
    for (int t = 0; t < types.size(); ++t)
        list_parts(plan, degrees, types[t], out.type[static_cast<std::size_t>(t)]);
}

// Lists the parts of a scan: what linear and Mamba layers have in the place of attention. All of it follows
// from what the mixers show (core/plan/mixers.h).

namespace {

// Holds the numbers of a token that scans take and give, of all tensor-parallel ranks together.
struct ScanWidths : ScanVisitor {
    double in = 0, out = 0;
    void input(Id, i64 channels, i64 = 1) { in += number(channels); }
    void low_rank(Id, Id, i64, i64 channels, i64) { in += number(channels); }
    void output(Id, i64 channels, i64 = 1) { out += number(channels); }
};

// Holds the sizes of a scan's products. The small ones are between the way in and the scan, and count with
// it (Mamba's dt, Kimi's decay and gate).
struct ScanProducts : ScanVisitor {
    struct Up {
        double numbers, channels;
    };
    double direct = 0;                      // channels that one product makes of the layer's input
    double rank = 0, numbers = 0, out = 0;  // outputs of the small products: of the input, of channels
    ShortList<Up, 4> of_input, of_channels;
    ScanFlops flops;
    void input(Id, i64 channels, i64 = 1) { direct += number(channels); }
    void low_rank(Id, Id, i64 own, i64 channels, i64) {
        rank += number(own);
        of_input.push_back({number(own), number(channels)});
    }
    void from_channels(Id, i64 n, i64) { numbers += number(n); }
    void to_channels(Id, i64 n, i64 channels) { of_channels.push_back({number(n), number(channels)}); }
    void output(Id, i64 channels, i64 = 1) { out = number(channels); }
    void works(const ScanFlops& f) { flops = f; }
};

}  // namespace

// A scan needs all tokens of a head in order: heads are exchanged for tokens and back, as in Ulysses
// (Megatron-LM ssm/mamba_context_parallel.py; ssm/gated_delta_net.py, tensor_a2a_cp2hp).
void PartLister::scan_over_cp() {
    ScanWidths width;
    visit_scans(m_, type_, width);
    const double bytes = tokens_ / tp_ * wire_, in = width.in * bytes, out = width.out * bytes;
    const GroupKind cp = GroupKind::cp;
    const Collective c = Collective::all_to_all;
    const bool repeats = t_.recompute.whole_layers();
    forward(cp, d_.cp, c, What::inputs_of_the_scan_to_heads, in, repeats);
    forward(cp, d_.cp, c, What::outputs_of_the_scan_to_tokens, out, repeats);
    backward(cp, d_.cp, c, What::gradients_of_the_scans_outputs_to_heads, out);
    backward(cp, d_.cp, c, What::gradients_of_the_scans_inputs_to_tokens, in);
}

template <typename Mixer>
void PartLister::scan_kernels(const Mixer& mixer) {
    ScanProducts p;
    visit_scan(mixer, m_.hidden, p);
    const What scan = What::scan_of_the_state;
    double in = p.direct;
    const auto up = [&](const ScanProducts::Up& u) {
        product(scan, tokens_, u.numbers, u.channels / tp_);
        in += u.channels;
    };
    if (p.rank > 0) product(scan, tokens_, hidden_, p.rank);
    for (const ScanProducts::Up& u : p.of_input) up(u);
    product(What::inputs_of_the_scan, tokens_, hidden_, p.direct / tp_);
    if (p.numbers > 0) product(scan, tokens_, p.out / tp_, p.numbers);
    for (const ScanProducts::Up& u : p.of_channels) up(u);
    // Convolution, chunked scan and gated norm read and write what they take and give.
    LayerKernel& k = kernel(scan, LayerRate::scan);
    k.bytes = tokens_ * ((in * 2 + p.out * 2) * kNormBytes + p.flops.state_bytes) / tp_;
    k.kernels = kMixerKernels;
    k.flops = tokens_ * p.flops.kernel / tp_;
    product(What::output_of_the_scan, tokens_, p.out / tp_, hidden_);
}

void PartLister::scan_kernels() {
    if (type_.mixer == MixerKind::linear && m_.linear) scan_kernels(*m_.linear);
    if (type_.has_mamba() && m_.mamba) scan_kernels(*m_.mamba);
}

void PartLister::scans_kept() {
    struct Keep : ScanVisitor {
        PartLister& list;
        void keep(Id id, i64 heads, i64 dim, double bytes) {
            list.keep_region(id, saturating_product(heads, dim),
                             saturating_product(divide_up(heads, list.d_.tp), dim), bytes);
        }
        void keeps(Id id, i64 heads, i64 dim) { keep(id, heads, dim, list.wire_); }
        void keeps_output(Id id, i64 heads, i64 dim) { keep(id, heads, dim, list.product_bytes_); }
    } keep{{}, *this};
    visit_scans(m_, type_, keep);
}

}  // namespace pentamesh
