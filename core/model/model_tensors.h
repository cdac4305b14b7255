// The one list of a model's tensors, as a visitor: counts, memory and placements all walk it.
#pragma once

#include "core/model/model.h"

#include <type_traits>

namespace pentamesh {

// Calls visit(Tensor) for every tensor. Shapes are those of the released checkpoints, with fused ones (QKV,
// gate and up) given apart: fusing changes no number.
template <typename F>
class TensorVisitor {
  public:
    TensorVisitor(const Model& model, F& visit) : m_(model), visit_(visit) {}

    void all() {
        embedding();
        layer();
        if (m_.attention == AttentionKind::mla && m_.mla)
            mla(*m_.mla);
        else
            attention();
        mlp("mlp.gate", "mlp.up", "mlp.down", Place::dense_layer, m_.ffn, TensorKind::mlp, 1, false);
        if (m_.moe) moe(*m_.moe);
        if (m_.mtp_layers > 0) mtp();
        head();
    }

  private:
    using i64 = std::int64_t;

    void put(std::string_view name, TensorKind kind, Place place, TpCut cut, i64 rows, i64 cols = 1,
             i64 unit = 1) {
        if (rows > 0 && cols > 0) visit_(Tensor{name, kind, place, cut, rows, cols, 1, unit, false});
    }

    void norm(std::string_view weight, std::string_view bias, Place place, i64 width) {
        if (m_.norm == NormKind::unweighted) return;
        put(weight, TensorKind::norm, place, TpCut::none, width);
        if (m_.norm == NormKind::layernorm) put(bias, TensorKind::norm, place, TpCut::none, width);
    }

    void embedding() {
        put("embedding", TensorKind::embedding, Place::embedding, TpCut::vocab, m_.vocab, m_.hidden);
        if (m_.positions == Positions::learned)
            put("embedding.positions", TensorKind::embedding, Place::embedding, TpCut::none, m_.max_positions,
                m_.hidden);
    }

    void layer() {
        const Place p = Place::every_layer;
        norm("norm.attention", "norm.attention.bias", p, m_.hidden);
        if (!m_.shared_norm) norm("norm.mlp", "norm.mlp.bias", p, m_.hidden);
        if (!m_.post_norms) return;
        norm("norm.after_attention", "norm.after_attention.bias", p, m_.hidden);
        norm("norm.after_mlp", "norm.after_mlp.bias", p, m_.hidden);
    }

    void attention() {
        const Place p = Place::every_layer;
        const TensorKind k = TensorKind::attention;
        const i64 d = m_.head_dim, q = saturating_product(m_.heads, d);
        const i64 kv = saturating_product(m_.kv_heads, d);
        put("attention.q", k, p, TpCut::column, q, m_.hidden, d);
        put("attention.k", k, p, TpCut::kv, kv, m_.hidden, d);
        put("attention.v", k, p, TpCut::kv, kv, m_.hidden, d);
        put("attention.output", k, p, TpCut::row, m_.hidden, q, d);
        if (m_.qkv_bias || m_.attention_bias) {
            put("attention.q.bias", k, p, TpCut::column, q, 1, d);
            put("attention.k.bias", k, p, TpCut::kv, kv, 1, d);
            put("attention.v.bias", k, p, TpCut::kv, kv, 1, d);
        }
        if (m_.attention_bias) put("attention.output.bias", k, p, TpCut::none, m_.hidden);
        if (m_.attention_sinks) put("attention.sinks", k, p, TpCut::column, m_.heads);
        if (m_.qk_norm == QkNorm::head) {
            put("norm.q", TensorKind::norm, p, TpCut::none, d);
            put("norm.k", TensorKind::norm, p, TpCut::none, d);
        } else if (m_.qk_norm == QkNorm::full) {
            put("norm.q", TensorKind::norm, p, TpCut::column, q, 1, d);
            put("norm.k", TensorKind::norm, p, TpCut::kv, kv, 1, d);
        }
    }

    // DeepSeek-AI 2024 (DeepSeek-V2), section 2.1; the down projections and their norms are copied over tp.
    void mla(const Mla& a) {
        const Place p = Place::every_layer;
        const TensorKind k = TensorKind::attention;
        const i64 qk = a.qk_nope_head_dim + a.qk_rope_head_dim, kv = a.qk_nope_head_dim + a.v_head_dim;
        const i64 q_rows = saturating_product(m_.heads, qk);
        if (a.q_lora_rank > 0) {
            put("attention.q_down", k, p, TpCut::none, a.q_lora_rank, m_.hidden);
            put("norm.q_latent", TensorKind::norm, p, TpCut::none, a.q_lora_rank);
            put("attention.q_up", k, p, TpCut::column, q_rows, a.q_lora_rank, qk);
        } else {
            put("attention.q", k, p, TpCut::column, q_rows, m_.hidden, qk);
        }
        put("attention.kv_down", k, p, TpCut::none, a.kv_lora_rank + a.qk_rope_head_dim, m_.hidden);
        put("norm.kv_latent", TensorKind::norm, p, TpCut::none, a.kv_lora_rank);
        put("attention.kv_up", k, p, TpCut::column, saturating_product(m_.heads, kv), a.kv_lora_rank, kv);
        put("attention.output", k, p, TpCut::row, m_.hidden, saturating_product(m_.heads, a.v_head_dim),
            a.v_head_dim);
        if (m_.attention_bias) {
            if (a.q_lora_rank > 0) put("attention.q_down.bias", k, p, TpCut::none, a.q_lora_rank);
            put("attention.kv_down.bias", k, p, TpCut::none, a.kv_lora_rank + a.qk_rope_head_dim);
            put("attention.output.bias", k, p, TpCut::none, m_.hidden);
        }
    }

    void mlp(std::string_view gate, std::string_view up, std::string_view down, Place place, i64 width,
             TensorKind kind, i64 copies, bool per_expert) {
        if (width <= 0 || copies <= 0) return;
        const i64 h = m_.hidden;
        const bool gated = m_.ffn_kind == FfnKind::swiglu || m_.ffn_kind == FfnKind::geglu;
        const auto one = [&](std::string_view name, TpCut cut, i64 rows, i64 cols) {
            visit_(Tensor{name, kind, place, cut, rows, cols, copies, 1, per_expert});
        };
        if (gated) one(gate, TpCut::column, width, h);
        one(up, TpCut::column, width, h);
        one(down, TpCut::row, h, width);
        if (!m_.mlp_bias) return;
        const bool routed = per_expert, shared = !per_expert && place == Place::moe_layer;
        const auto bias = [&](std::string_view dense, std::string_view both, std::string_view expert) {
            return routed ? expert : shared ? both : dense;
        };
        if (gated)
            one(bias("mlp.gate.bias", "shared_expert.gate.bias", "experts.gate.bias"), TpCut::column, width,
                1);
        one(bias("mlp.up.bias", "shared_expert.up.bias", "experts.up.bias"), TpCut::column, width, 1);
        one(bias("mlp.down.bias", "shared_expert.down.bias", "experts.down.bias"), TpCut::none, h, 1);
    }

    void moe(const Moe& e) {
        const Place p = Place::moe_layer;
        put("router", TensorKind::router, p, TpCut::none, e.experts, m_.hidden);
        if (e.router_bias) put("router.bias", TensorKind::router, p, TpCut::none, e.experts);
        mlp("experts.gate", "experts.up", "experts.down", p, e.expert_ffn, TensorKind::experts, e.experts,
            true);
        mlp("shared_expert.gate", "shared_expert.up", "shared_expert.down", p,
            saturating_product(e.shared_experts, e.shared_expert_ffn), TensorKind::mlp, 1, false);
        // One row, so a matrix by use but a vector in shape: counted as the router's.
        if (e.shared_expert_gate)
            put("shared_expert.router", TensorKind::router, p, TpCut::none, 1, m_.hidden);
    }

    // DeepSeek-AI 2024 (DeepSeek-V3), section 2.2: two norms, a projection of both to the hidden width, a
    // layer, a last norm; embedding and head are the model's own.
    void mtp() {
        const Place p = Place::mtp;
        norm("norm.mtp.embedding", "norm.mtp.embedding.bias", p, m_.hidden);
        norm("norm.mtp.hidden", "norm.mtp.hidden.bias", p, m_.hidden);
        put("mtp.projection", TensorKind::mlp, p, TpCut::column, m_.hidden, saturating_product(2, m_.hidden));
        norm("norm.mtp.final", "norm.mtp.final.bias", p, m_.hidden);
    }

    void head() {
        norm("norm.final", "norm.final.bias", Place::head, m_.hidden);
        if (!m_.tied_embeddings)
            put("head", TensorKind::head, Place::head, TpCut::vocab, m_.vocab, m_.hidden);
        if (m_.head_bias) put("head.bias", TensorKind::head, Place::head, TpCut::vocab, m_.vocab);
    }

    const Model& m_;
    F& visit_;
};

template <typename F>
void visit_tensors(const Model& model, F&& visit) {
    TensorVisitor<std::remove_reference_t<F>>(model, visit).all();
}

}  // namespace pentamesh
