#include "core/memory/activations.h"

#include "core/memory/mixer_activations.h"

namespace pentamesh {

ActivationVisitor::ActivationVisitor(const Plan& plan, const Degrees& degrees, void* keeper, Keep keep)
    : m_(plan.model), t_(plan.training), d_(degrees), layout_(plan.layout),
      w_(activation_widths(plan.training.compute)), software_(facts_of(plan.training.software)),
      keeper_(keeper), keep_(keep) {}

void ActivationVisitor::layer(const LayerType& t) {
    const bool mixes = t.mixer != MixerKind::none, moe = t.is_moe() && m_.moe;
    // Recomputing norms takes those that are kernels of their own: MLA's and a MoE layer's. Elsewhere the
    // norm is fused into the product after it (Megatron-LM gpt_layer_specs.py, transformer_layer.py).
    const bool latent = t.attends() && m_.attention == AttentionKind::mla && m_.mla;
    if (mixes) {
        between(TensorId::norm_attention_input, m_.hidden, w_.wide, "h", true);
        if (latent && m_.mla->q_lora_rank > 0)  // into the latents: not cut by tp, so not gathered
            between(TensorId::attention_input, m_.hidden, w_.product, "h", false,
                    RecomputeModules(RecomputeModule::layernorm));
        else
            product_input(TensorId::attention_input,
                          latent ? RecomputeModules(RecomputeModule::layernorm) : RecomputeModules());
        mixer(t);
        if (m_.post_norms) between(TensorId::norm_after_attention_input, m_.hidden, w_.wide, "h");
        if (t_.dropout) between(TensorId::attention_dropout_mask, m_.hidden, 1, "h");
    }
    if (t.ffn == LayerFfn::none) return;
    if (!t.shares_norm(m_)) between(TensorId::norm_mlp_input, m_.hidden, w_.wide, "h", !mixes);
    if (t.ffn_width > 0) {
        const RecomputeModules recomputed_by(RecomputeModule::mlp);
        // After a shared norm both halves have one input; where it is kept as gathered, each keeps its own.
        if (!m_.shared_norm || !mixes || (software_.inputs_whole && d_.sequence_parallel))
            product_input(TensorId::mlp_input, recomputed_by);
        mlp(mlp_tensors(TensorModule::mlp), Tokens::region, t.ffn_width, d_.tp, "f", recomputed_by,
            recomputed_by);
    }
    if (moe) experts(*m_.moe);
    if (moe && m_.moe->beside_mlp)
        for (const TensorId id : {TensorId::norm_experts_input, TensorId::norm_after_dense_mlp_input,
                                  TensorId::norm_after_experts_input})
            between(id, m_.hidden, w_.wide, "h");
    if (m_.post_norms) between(TensorId::norm_after_mlp_input, m_.hidden, w_.wide, "h");
    if (t_.dropout) between(TensorId::mlp_dropout_mask, m_.hidden, 1, "h");
}

void ActivationVisitor::embedding() {
    region(TensorId::embedding_tokens, 1, 1, 8, "1");
    if (t_.dropout) between(TensorId::embedding_dropout_mask, m_.hidden, 1, "h");
}

void ActivationVisitor::head() {
    const std::int64_t v = local_vocab(m_.vocab, d_.vocab_multiple, d_.tp), padded = v * d_.tp;
    between(TensorId::norm_final_input, m_.hidden, w_.wide, "h");
    between(TensorId::head_input, m_.hidden, w_.wide, "h");
    const double loss = d_.tp > 1 ? software_.loss_bytes_cut : software_.loss_bytes;
    region(TensorId::head_logits, padded, v, std::min(w_.wide, loss), "V");
    if (loss > w_.wide) region(TensorId::head_loss, padded, v, loss - w_.wide, "V");
}

void ActivationVisitor::mtp() {
    between(TensorId::norm_mtp_embedding_input, m_.hidden, w_.wide, "h");
    between(TensorId::norm_mtp_hidden_input, m_.hidden, w_.wide, "h");
    between(TensorId::mtp_projection_input, saturating_product(2, m_.hidden), w_.product, "2 h");
}

void ActivationVisitor::between(TensorId id, i64 width, double bytes, std::string_view symbol, bool input,
                                RecomputeModules recomputed_by) {
    put(Activation{id, Tokens::between, width, width, bytes, recomputed_by, input, symbol});
}

void ActivationVisitor::region(TensorId id, i64 width, i64 local, double bytes, std::string_view symbol,
                               RecomputeModules recomputed_by, bool of_kv_heads) {
    put(Activation{id, Tokens::region, width, local, bytes, recomputed_by, false, symbol, of_kv_heads});
}

void ActivationVisitor::product_input(TensorId id, RecomputeModules recomputed_by) {
    if (software_.inputs_whole && d_.sequence_parallel)
        region(id, m_.hidden, m_.hidden, w_.product, "h", recomputed_by);
    else
        between(id, m_.hidden, w_.product, "h", false, recomputed_by);
}

void ActivationVisitor::mixer(const LayerType& t) {
    const auto keep = [&](TensorId id, i64 width, i64 local, bool wide, std::string_view symbol) {
        region(id, width, local, wide ? w_.wide : w_.product, symbol);
    };
    if (t.attends() && m_.attention == AttentionKind::mla && m_.mla)
        mla(*m_.mla, t.heads);
    else if (t.attends())
        attention(t);
    if (t.mixer == MixerKind::linear && m_.linear)
        visit_linear_activations(*m_.linear, m_.hidden, d_.tp, keep);
    if (t.has_mamba() && m_.mamba) visit_mamba_activations(*m_.mamba, d_.tp, keep);
}

void ActivationVisitor::attention(const LayerType& t) {
    const i64 q = divide_up(t.heads, d_.tp);
    const i64 projected = divide_up(t.kv_heads, d_.tp);
    const i64 kv = divide_up(projected, head_ranks()) * head_ranks();  // copied where too few
    const i64 dim = t.head_dim, all_q = saturating_product(t.heads, dim), dv = t.value_head_dim;
    const i64 all_kv = saturating_product(t.kv_heads, dim);
    if (m_.qk_norm != QkNorm::none) {
        region(TensorId::norm_q_input, all_q, saturating_product(q, dim), w_.wide, "a d");
        region(TensorId::norm_k_input, all_kv, saturating_product(projected, dim), w_.wide, "k d", {}, true);
    }
    region(TensorId::attention_q, all_q, saturating_product(q, dim), w_.wide, "a d");
    region(TensorId::attention_k, all_kv, saturating_product(kv, dim), w_.wide, "k d", {}, true);
    region(TensorId::attention_v, saturating_product(t.kv_heads, dv), saturating_product(kv, dv), w_.wide,
           "k d", {}, true);
    core(t.heads, q, dv, "a d");
    if (m_.attention_gate == AttentionGate::none) return;
    const bool full = m_.attention_gate == AttentionGate::full;
    region(TensorId::attention_gate, full ? saturating_product(t.heads, dv) : t.heads,
           full ? saturating_product(q, dv) : q, w_.wide, full ? "a d" : "a");
    region(TensorId::attention_gated, saturating_product(t.heads, dv), saturating_product(q, dv), w_.product,
           "a d");
}

void ActivationVisitor::mla(const Mla& a, i64 heads) {
    const i64 q = divide_up(heads, d_.tp), qk = a.qk_nope_head_dim + a.qk_rope_head_dim;
    if (a.q_lora_rank > 0) {
        between(TensorId::norm_q_latent_input, a.q_lora_rank, w_.wide, "r_q");
        between(TensorId::attention_q_latent, a.q_lora_rank, w_.product, "r_q");
    }
    between(TensorId::norm_kv_latent_input, a.kv_lora_rank + a.qk_rope_head_dim, w_.wide, "(r_kv + d_rope)");
    between(TensorId::attention_kv_latent, a.kv_lora_rank, w_.product, "r_kv");
    const RecomputeModules up(RecomputeModule::mla_up_proj);
    const i64 v = a.v_head_dim, all = saturating_product(heads, qk), own = saturating_product(q, qk);
    region(TensorId::attention_q, all, own, w_.wide, "a d_qk", up);
    region(TensorId::attention_k, all, own, w_.wide, "a d_qk", up);
    region(TensorId::attention_v, saturating_product(heads, v), saturating_product(q, v), w_.wide, "a d_v",
           up);
    if (a.index_heads > 0) {
        const i64 index = saturating_product(a.index_heads, a.index_head_dim);
        between(TensorId::attention_index_q, index, w_.wide, "a_i d_i");
        between(TensorId::attention_index_k, a.index_head_dim, w_.wide, "d_i");
        between(TensorId::attention_index_weights, a.index_heads, w_.wide, "a_i");
        between(TensorId::attention_index_chosen, a.index_top_k, 4, "k_i");
    }
    core(heads, q, v, "a d_v");
}

void ActivationVisitor::core(i64 all_heads, i64 heads, i64 dim, std::string_view symbol) {
    const i64 all = saturating_product(all_heads, dim), local = saturating_product(heads, dim);
    const RecomputeModules recomputed_by(RecomputeModule::core_attn);
    if (t_.attention == AttentionImpl::math) {
        const i64 keys = saturating_product(all_heads, t_.sequence_length);
        const i64 own = saturating_product(heads, t_.sequence_length);
        region(TensorId::attention_softmax, keys, own, w_.wide, "a s", recomputed_by);
        if (t_.dropout) {
            region(TensorId::attention_softmax_dropout_mask, keys, own, 1, "a s", recomputed_by);
            region(TensorId::attention_softmax_dropped, keys, own, w_.wide, "a s", recomputed_by);
        }
        region(TensorId::attention_output, all, local, w_.product, symbol);
        return;
    }
    region(TensorId::attention_log_sum_exp, all_heads, heads, 4, "a", recomputed_by);
    region(TensorId::attention_output, all, local, w_.wide, symbol);
    if (software_.attention_copies > 0)
        region(TensorId::attention_copies, all, local, w_.wide * software_.attention_copies, symbol);
    if (w_.product < w_.wide) region(TensorId::attention_output_cast, all, local, w_.product, symbol);
}

void ActivationVisitor::mlp(const MlpTensors& ids, Tokens tokens, i64 width, i64 degree,
                            std::string_view symbol, RecomputeModules recomputed_by,
                            RecomputeModules activated) {
    const i64 local = divide_up(width, degree);
    const auto one = [&](TensorId id, double bytes, RecomputeModules by) {
        put(Activation{id, tokens, width, local, bytes, by, false, symbol});
    };
    const bool gated = m_.ffn_kind == FfnKind::swiglu || m_.ffn_kind == FfnKind::geglu;
    if (gated) one(ids.gate, w_.wide, recomputed_by);
    one(ids.up, w_.wide, recomputed_by);
    if (gated && software_.activation_apart) one(ids.activated, w_.wide, activated);
    one(ids.product, w_.product, activated);
}

void ActivationVisitor::experts(const Moe& e) {
    const RecomputeModules layer(RecomputeModule::moe);
    const RecomputeModules shared_recomputed_by(RecomputeModule::moe, RecomputeModule::shared_experts);
    between(TensorId::router_input, m_.hidden, w_.wide, "h", false,
            RecomputeModules(RecomputeModule::layernorm));
    between(TensorId::router_logits, e.experts, 4, "E", false, layer);
    const i64 width = e.latent > 0 ? e.latent : m_.hidden;
    if (e.latent > 0) {
        between(TensorId::experts_latent_in_input, m_.hidden, w_.product, "h", false, layer);
        between(TensorId::experts_latent_out_input, e.latent, w_.product, "l", false, layer);
    }
    put(Activation{TensorId::experts_input, Tokens::dispatched, width, width, w_.product, layer, false,
                   e.latent > 0 ? "l" : "h"});
    mlp(mlp_tensors(TensorModule::experts), Tokens::dispatched, e.expert_ffn, d_.etp, "f_e", layer,
        RecomputeModules(RecomputeModule::moe, RecomputeModule::moe_act));
    const i64 shared = saturating_product(e.shared_experts, e.shared_expert_ffn);
    if (shared > 0)
        mlp(mlp_tensors(TensorModule::shared_expert), Tokens::region, shared, d_.tp, "f_s",
            shared_recomputed_by, shared_recomputed_by);
}

}  // namespace pentamesh
