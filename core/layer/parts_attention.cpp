// Lists the parts of a layer's mixer: attention, latent attention, context parallelism.
#include "core/layer/kernel_costs.h"
#include "core/layer/part_lister.h"
#include "core/mesh/degrees.h"

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
                again(What::attention_input_again_for_the_weight_gradient)},
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
    };
    const Way query = a.q_lora_rank > 0
                          ? Way{What::query_latents_before_attention, What::gradients_of_the_query_latents,
                                What::query_latents_again_for_the_weight_gradient, a.q_lora_rank}
                          : Way{What::activations_before_attention, What::gradients_before_attention,
                                again(What::attention_input_again_for_the_weight_gradient), m_.hidden};
    const Way keys{What::key_and_value_latents_before_attention, What::gradients_of_the_key_and_value_latents,
                   What::key_and_value_latents_again_for_the_weight_gradient, a.kv_lora_rank};
    const Way rope{What::rotary_keys_before_attention, What::gradients_of_the_rotary_keys, What::none,
                   a.qk_rope_head_dim};
    for (const Way& w : {query, keys, rope}) {
        const double bytes = tokens_ * static_cast<double>(w.width) * wire_;
        if (cut) forward(tp, d_.tp, all_gather, w.in, bytes, repeats);
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
    if (a.index_heads <= 0) return;
    product(What::queries_of_the_indexer, outer_, q_in,
            static_cast<double>(a.index_heads * a.index_head_dim));
    product(What::keys_and_weights_of_the_indexer, outer_, hidden_,
            static_cast<double>(a.index_head_dim + a.index_heads));
}

void PartLister::core_kernels(const Widths& w) {
    const RecomputeModules core(RecomputeModule::core_attn);
    const double batch = static_cast<double>(t_.micro_batch), s = static_cast<double>(t_.sequence_length);
    const bool flash = t_.attention != AttentionImpl::math;
    LayerKernel& k = product(What::attention_core, tokens_ / batch, w.query / w.heads, w.output / w.heads,
                             core, LayerRate::core, batch * w.heads);
    k.kernels = flash ? 1 : kUnfusedAttention;
    k.flops = 2 * tokens_ * keys_met(type_.window, s, true) * (w.query + w.output);
    if (flash && latent() && m_.mla->index_heads > 0)  // the indexer scores all keys
        kernel(What::attention_core, LayerRate::core, core).flops =
            2 * tokens_ * keys_met(0, s, true)
            * static_cast<double>(m_.mla->index_heads * m_.mla->index_head_dim);
}

void PartLister::mixer_kept() {
    if (latent())
        latent_kept(*m_.mla);
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
    if (a.index_heads > 0) {
        const i64 index = saturating_product(a.index_heads, a.index_head_dim);
        keep_between(TensorId::attention_index_q, index, wire_);
        keep_between(TensorId::attention_index_k, a.index_head_dim, wire_);
        keep_between(TensorId::attention_index_weights, a.index_heads, wire_);
        keep_between(TensorId::attention_index_chosen, a.index_top_k, 4);
    }
    core_kept(heads, q, v);
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

}  // namespace pentamesh
