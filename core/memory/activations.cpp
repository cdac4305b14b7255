#include "core/memory/activations.h"

#include "core/memory/mixer_activations.h"

namespace pentamesh {

ActivationVisitor::ActivationVisitor(const Plan& plan, const Degrees& degrees, void* keeper, Keep keep)
    : m_(plan.model), t_(plan.training), d_(degrees), layout_(plan.layout),
      w_(activation_widths(plan.training.compute)), software_(facts_of(plan.training.software)),
      keeper_(keeper), keep_(keep) {}

void ActivationVisitor::layer(const LayerType& t) {
    const bool mixes = t.mixer != MixerKind::none, moe = t.is_moe() && m_.moe;
    // Recomputing norms takes those that stand alone: MLA's and a MoE layer's. Elsewhere the norm is
    // fused into the product behind it (Megatron-LM gpt_layer_specs.py, transformer_layer.py).
    const bool latent = t.attends() && m_.attention == AttentionKind::mla && m_.mla;
    if (mixes) {
        between("norm.attention.input", m_.hidden, w_.wide, "h", true);
        if (latent && m_.mla->q_lora_rank > 0)  // into the latents: not cut by tp, so not gathered
            between("attention.input", m_.hidden, w_.product, "h", false,
                    RecomputeModules(RecomputeModule::layernorm));
        else
            product_input("attention.input",
                          latent ? RecomputeModules(RecomputeModule::layernorm) : RecomputeModules());
        mixer(t);
        if (m_.post_norms) between("norm.after_attention.input", m_.hidden, w_.wide, "h");
        if (t_.dropout) between("attention.dropout_mask", m_.hidden, 1, "h");
    }
    if (t.ffn == LayerFfn::none) return;
    const bool shares = m_.shared_norm && mixes;
    if (!shares || moe) between("norm.mlp.input", m_.hidden, w_.wide, "h", !mixes);
    if (t.ffn_width > 0) {
        const RecomputeModules recomputed_by(RecomputeModule::mlp);
        if (!shares) product_input("mlp.input", recomputed_by);
        mlp({"mlp.gate", "mlp.up", "mlp.activated", "mlp.product"}, Tokens::region, t.ffn_width, d_.tp, "f",
            recomputed_by, recomputed_by);
    }
    if (moe) experts(*m_.moe);
    if (moe && m_.moe->beside_mlp)
        for (const std::string_view name :
             {"norm.experts.input", "norm.after_dense_mlp.input", "norm.after_experts.input"})
            between(name, m_.hidden, w_.wide, "h");
    if (m_.post_norms) between("norm.after_mlp.input", m_.hidden, w_.wide, "h");
    if (t_.dropout) between("mlp.dropout_mask", m_.hidden, 1, "h");
}

void ActivationVisitor::embedding() {
    region("embedding.tokens", 1, 1, 8, "1");
    if (t_.dropout) between("embedding.dropout_mask", m_.hidden, 1, "h");
}

void ActivationVisitor::head() {
    const std::int64_t v = divide_up(m_.vocab, d_.tp);
    between("norm.final.input", m_.hidden, w_.wide, "h");
    between("head.input", m_.hidden, w_.wide, "h");
    const double loss = d_.tp > 1 ? software_.loss_bytes_cut : software_.loss_bytes;
    region("head.logits", m_.vocab, v, std::min(w_.wide, loss), "V");
    if (loss > w_.wide) region("head.loss", m_.vocab, v, loss - w_.wide, "V");
}

void ActivationVisitor::mtp() {
    between("norm.mtp.embedding.input", m_.hidden, w_.wide, "h");
    between("norm.mtp.hidden.input", m_.hidden, w_.wide, "h");
    between("mtp.projection.input", saturating_product(2, m_.hidden), w_.product, "2 h");
}

void ActivationVisitor::between(std::string_view name, i64 width, double bytes, std::string_view symbol,
                                bool input, RecomputeModules recomputed_by) {
    put(Activation{name, Tokens::between, width, width, bytes, recomputed_by, input, symbol});
}

void ActivationVisitor::region(std::string_view name, i64 width, i64 local, double bytes,
                               std::string_view symbol, RecomputeModules recomputed_by) {
    put(Activation{name, Tokens::region, width, local, bytes, recomputed_by, false, symbol});
}

void ActivationVisitor::product_input(std::string_view name, RecomputeModules recomputed_by) {
    if (software_.inputs_whole && d_.sequence_parallel)
        region(name, m_.hidden, m_.hidden, w_.product, "h", recomputed_by);
    else
        between(name, m_.hidden, w_.product, "h", false, recomputed_by);
}

void ActivationVisitor::mixer(const LayerType& t) {
    const auto keep = [&](std::string_view name, i64 width, i64 local, bool wide, std::string_view symbol) {
        region(name, width, local, wide ? w_.wide : w_.product, symbol);
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
        region("norm.q.input", all_q, saturating_product(q, dim), w_.wide, "a d");
        region("norm.k.input", all_kv, saturating_product(projected, dim), w_.wide, "k d");
    }
    region("attention.q", all_q, saturating_product(q, dim), w_.wide, "a d");
    region("attention.k", all_kv, saturating_product(kv, dim), w_.wide, "k d");
    region("attention.v", saturating_product(t.kv_heads, dv), saturating_product(kv, dv), w_.wide, "k d");
    core(t.heads, q, dv, "a d");
    if (m_.attention_gate == AttentionGate::none) return;
    const bool full = m_.attention_gate == AttentionGate::full;
    region("attention.gate", full ? saturating_product(t.heads, dv) : t.heads,
           full ? saturating_product(q, dv) : q, w_.wide, full ? "a d" : "a");
    region("attention.gated", saturating_product(t.heads, dv), saturating_product(q, dv), w_.product, "a d");
}

void ActivationVisitor::mla(const Mla& a, i64 heads) {
    const i64 q = divide_up(heads, d_.tp), qk = a.qk_nope_head_dim + a.qk_rope_head_dim;
    if (a.q_lora_rank > 0) {
        between("norm.q_latent.input", a.q_lora_rank, w_.wide, "r_q");
        between("attention.q_latent", a.q_lora_rank, w_.product, "r_q");
    }
    between("norm.kv_latent.input", a.kv_lora_rank + a.qk_rope_head_dim, w_.wide, "(r_kv + d_rope)");
    between("attention.kv_latent", a.kv_lora_rank, w_.product, "r_kv");
    const RecomputeModules up(RecomputeModule::mla_up_proj);
    const i64 v = a.v_head_dim, all = saturating_product(heads, qk), own = saturating_product(q, qk);
    region("attention.q", all, own, w_.wide, "a d_qk", up);
    region("attention.k", all, own, w_.wide, "a d_qk", up);
    region("attention.v", saturating_product(heads, v), saturating_product(q, v), w_.wide, "a d_v", up);
    if (a.index_heads > 0) {
        const i64 index = saturating_product(a.index_heads, a.index_head_dim);
        between("attention.index.q", index, w_.wide, "a_i d_i");
        between("attention.index.k", a.index_head_dim, w_.wide, "d_i");
        between("attention.index.weights", a.index_heads, w_.wide, "a_i");
        between("attention.index.chosen", a.index_top_k, 4, "k_i");
    }
    core(heads, q, v, "a d_v");
}

void ActivationVisitor::core(i64 all_heads, i64 heads, i64 dim, std::string_view symbol) {
    const i64 all = saturating_product(all_heads, dim), local = saturating_product(heads, dim);
    const RecomputeModules recomputed_by(RecomputeModule::core_attn);
    if (t_.attention == AttentionImpl::math) {
        const i64 keys = saturating_product(all_heads, t_.sequence_length);
        const i64 own = saturating_product(heads, t_.sequence_length);
        region("attention.softmax", keys, own, w_.wide, "a s", recomputed_by);
        if (t_.dropout) {
            region("attention.softmax.dropout_mask", keys, own, 1, "a s", recomputed_by);
            region("attention.softmax.dropped", keys, own, w_.wide, "a s", recomputed_by);
        }
        region("attention.output", all, local, w_.product, symbol);
        return;
    }
    region("attention.log_sum_exp", all_heads, heads, 4, "a", recomputed_by);
    region("attention.output", all, local, w_.wide, symbol);
    if (software_.attention_copies > 0)
        region("attention.copies", all, local, w_.wide * software_.attention_copies, symbol);
    if (w_.product < w_.wide) region("attention.output.cast", all, local, w_.product, symbol);
}

void ActivationVisitor::mlp(const MlpNames& names, Tokens tokens, i64 width, i64 degree,
                            std::string_view symbol, RecomputeModules recomputed_by,
                            RecomputeModules activated) {
    const i64 local = divide_up(width, degree);
    const auto one = [&](std::string_view name, double bytes, RecomputeModules by) {
        put(Activation{name, tokens, width, local, bytes, by, false, symbol});
    };
    const bool gated = m_.ffn_kind == FfnKind::swiglu || m_.ffn_kind == FfnKind::geglu;
    if (gated) one(names.gate, w_.wide, recomputed_by);
    one(names.up, w_.wide, recomputed_by);
    if (gated && software_.activation_apart) one(names.activated, w_.wide, activated);
    one(names.product, w_.product, activated);
}

void ActivationVisitor::experts(const Moe& e) {
    const RecomputeModules layer(RecomputeModule::moe);
    const RecomputeModules shared_recomputed_by(RecomputeModule::moe, RecomputeModule::shared_experts);
    between("router.input", m_.hidden, w_.wide, "h", false, RecomputeModules(RecomputeModule::layernorm));
    between("router.logits", e.experts, 4, "E", false, layer);
    const i64 width = e.latent > 0 ? e.latent : m_.hidden;
    if (e.latent > 0) {
        between("experts.latent_in.input", m_.hidden, w_.product, "h", false, layer);
        between("experts.latent_out.input", e.latent, w_.product, "l", false, layer);
    }
    put(Activation{"experts.input", Tokens::dispatched, width, width, w_.product, layer, false,
                   e.latent > 0 ? "l" : "h"});
    mlp({"experts.gate", "experts.up", "experts.activated", "experts.product"}, Tokens::dispatched,
        e.expert_ffn, d_.etp, "f_e", layer, RecomputeModules(RecomputeModule::moe, RecomputeModule::moe_act));
    const i64 shared = saturating_product(e.shared_experts, e.shared_expert_ffn);
    if (shared > 0)
        mlp({"shared_expert.gate", "shared_expert.up", "shared_expert.activated", "shared_expert.product"},
            Tokens::region, shared, d_.tp, "f_s", shared_recomputed_by, shared_recomputed_by);
}

}  // namespace pentamesh
