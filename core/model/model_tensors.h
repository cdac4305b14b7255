// Visits the one list of a model's tensors: counts, memory and placements all walk it.
#pragma once

#include "core/model/model.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace pentamesh {

// Calls visit(Tensor) for every tensor. Shapes are those of the released checkpoints, with fused ones (QKV,
// gate and up) given apart: fusing changes no number. Layers whose tensors are equal share one Tensor.
template <typename F>
class TensorVisitor {
  public:
    TensorVisitor(const Model& model, const LayerTypes& types, F& visit)
        : m_(model), types_(types), visit_(visit) {}

    void all() {
        embedding();
        norms();
        if (m_.hyper_streams > 0) hyper_connections();
        each_alike([](const LayerType& t) { return mixer_of(t); }, [&](const LayerType& t) { mixer(t); });
        in_layers(types_.where([&](const LayerType& t) { return t.has_indexer(m_); }));
        if (!nowhere_) indexer(*m_.mla);
        each_alike([](const LayerType& t) { return mlp_of(t); },
                   [&](const LayerType& t) {
                       place_ = t.is_moe() ? Place::moe_layer : Place::dense_layer;
                       mlp(TensorModule::mlp, t.ffn_width, m_.hidden, TensorKind::mlp);
                       if (m_.ffn_kind == FfnKind::xielu && t.ffn_width > 0)
                           put(TensorId::mlp_xielu, TensorKind::mlp, TpCut::none, 2);
                   });
        if (m_.moe) moe(*m_.moe);
        mask_ = 0;
        nowhere_ = false;
        if (m_.mtp_layers > 0) mtp();
        head();
    }

  private:
    using i64 = std::int64_t;

    // Returns the part of a type on which its mixer's tensors depend.
    static LayerType mixer_of(LayerType t) {
        t.ffn = LayerFfn::none;
        t.ffn_width = t.window = 0;
        t.shares_index = t.hash_routed = false;  // the indexer is listed by itself
        if (t.mixer == MixerKind::window) t.mixer = MixerKind::full;
        return t;
    }
    static LayerType mlp_of(const LayerType& t) {
        LayerType own;
        own.ffn = t.ffn_width > 0 ? t.ffn : LayerFfn::none;
        own.ffn_width = t.ffn_width;
        return own;
    }

    // Calls list(type) once for the types of which part_of(type) is the same.
    template <typename Part, typename List>
    void each_alike(Part&& part_of, List&& list) {
        LayerMask seen = 0;
        for (int t = 0; t < types_.size(); ++t) {
            if (has(seen, t)) continue;
            const LayerType part = part_of(types_[t]);
            mask_ = types_.where([&](const LayerType& other) { return part_of(other) == part; });
            seen |= mask_;
            place_ = place_of(mask_);
            list(types_[t]);
        }
    }
    [[nodiscard]] Place place_of(LayerMask mask) const {
        if (mask == types_.all()) return Place::every_layer;
        const LayerMask moe = types_.moe();
        return (mask & ~moe) == 0  ? Place::moe_layer
               : (mask & moe) == 0 ? Place::dense_layer
                                   : Place::some_layers;
    }

    void put(TensorId id, TensorKind kind, TpCut cut, i64 rows, i64 cols = 1, i64 unit = 1) {
        if (rows > 0 && cols > 0) visit_(Tensor{id, kind, place_, cut, rows, cols, 1, unit, false, mask_});
    }

    void norm(TensorId weight, TensorId bias, i64 width) {
        if (m_.norm == NormKind::unweighted || nowhere_) return;
        put(weight, TensorKind::norm, TpCut::none, width);
        if (m_.norm == NormKind::layernorm) put(bias, TensorKind::norm, TpCut::none, width);
    }

    void embedding() {
        place_ = Place::embedding;
        put(TensorId::embedding, TensorKind::embedding, TpCut::vocab, m_.vocab, m_.hidden);
        if (m_.positions == Positions::learned)
            put(TensorId::embedding_positions, TensorKind::embedding, TpCut::none, m_.max_positions,
                m_.hidden);
    }

    void norms() {
        const LayerMask mixers = types_.where([](const LayerType& t) { return t.mixer != MixerKind::none; });
        const LayerMask ffns = types_.where([](const LayerType& t) { return t.ffn != LayerFfn::none; });
        in_layers(mixers);
        norm(TensorId::norm_attention, TensorId::norm_attention_bias, m_.hidden);
        // Mixer and MLP are side by side after one norm: a second one exists only where there is no mixer
        // before.
        in_layers(m_.shared_norm ? ffns & ~mixers : ffns);
        norm(TensorId::norm_mlp, TensorId::norm_mlp_bias, m_.hidden);
        if (m_.moe && m_.moe->beside_mlp) {
            in_layers(types_.moe());
            norm(TensorId::norm_experts, TensorId::norm_experts_bias, m_.hidden);
            norm(TensorId::norm_after_dense_mlp, TensorId::norm_after_dense_mlp_bias, m_.hidden);
            norm(TensorId::norm_after_experts, TensorId::norm_after_experts_bias, m_.hidden);
        }
        if (!m_.post_norms) return;
        in_layers(mixers);
        norm(TensorId::norm_after_attention, TensorId::norm_after_attention_bias, m_.hidden);
        in_layers(ffns);
        norm(TensorId::norm_after_mlp, TensorId::norm_after_mlp_bias, m_.hidden);
    }
    void in_layers(LayerMask mask) { mask_ = mask, place_ = place_of(mask), nowhere_ = mask == 0; }

    // Lists what makes the weights of the streams out of all of them (Xie et al. 2025, equations 5 to 8; as
    // DeepSeek-V4 has them): a product, its bias, and a scale for each of `scales` kinds of weights.
    void hyper(TensorId weight, TensorId base, TensorId scale, TensorKind kind, i64 outputs, i64 scales) {
        put(weight, kind, TpCut::none, outputs, saturating_product(m_.hyper_streams, m_.hidden));
        put(base, kind, TpCut::none, outputs);
        put(scale, kind, TpCut::none, scales);
    }
    // They say what goes in, where the result goes, and how the streams mix: n, n and n x n weights.
    void hyper_connections() {
        const i64 n = m_.hyper_streams, outputs = n * (n + 2);
        in_layers(types_.where([](const LayerType& t) { return t.mixer != MixerKind::none; }));
        if (!nowhere_)
            hyper(TensorId::attention_hyper, TensorId::attention_hyper_base, TensorId::attention_hyper_scale,
                  TensorKind::attention, outputs, 3);
        in_layers(types_.where([](const LayerType& t) { return t.ffn != LayerFfn::none; }));
        if (!nowhere_)
            hyper(TensorId::mlp_hyper, TensorId::mlp_hyper_base, TensorId::mlp_hyper_scale, TensorKind::mlp,
                  outputs, 3);
    }

    void mixer(const LayerType& t) {
        if (t.attends() && m_.attention == AttentionKind::mla && m_.mla)
            mla(*m_.mla, t.heads);
        else if (t.attends() && compresses_keys(m_))
            compressed(*m_.compressed, t);
        else if (t.attends())
            attention(t);
        ScanWeights scans{{}, *this, m_.hidden};
        visit_scans(m_, t, scans);
    }

    struct ScanWeights : ScanVisitor {
        TensorVisitor& list;
        i64 hidden;
        void put(TensorId id, TpCut cut, i64 rows, i64 cols = 1, i64 unit = 1) {
            list.put(id, TensorKind::mixer, cut, rows, cols, unit);
        }
        void input(TensorId id, i64 channels, i64 unit = 1) {
            put(id, TpCut::column, channels, hidden, unit);
        }
        void low_rank(TensorId down, TensorId up, i64 rank, i64 channels, i64 unit) {
            put(down, TpCut::none, rank, hidden);
            put(up, TpCut::column, channels, rank, unit);
        }
        void from_channels(TensorId id, i64 numbers, i64 channels) { put(id, TpCut::row, numbers, channels); }
        void to_channels(TensorId id, i64 numbers, i64 channels) {
            put(id, TpCut::column, channels, numbers);
        }
        void output(TensorId id, i64 channels, i64 unit = 1) { put(id, TpCut::row, hidden, channels, unit); }
        void columns(TensorId id, i64 numbers, i64 unit = 1) { put(id, TpCut::column, numbers, 1, unit); }
        void whole(TensorId id, i64 numbers) { put(id, TpCut::none, numbers); }
    };

    void attention(const LayerType& t) {
        const TensorKind k = TensorKind::attention;
        const i64 d = t.head_dim, v = t.value_head_dim, q = saturating_product(t.heads, d);
        const i64 kv = saturating_product(t.kv_heads, d), values = saturating_product(t.kv_heads, v);
        const i64 out = saturating_product(t.heads, v);
        put(TensorId::attention_q, k, TpCut::column, q, m_.hidden, d);
        const bool keys = !t.shares_kv, has_values = keys && !t.keys_as_values;
        if (keys) put(TensorId::attention_k, k, TpCut::kv, kv, m_.hidden, d);
        if (has_values) put(TensorId::attention_v, k, TpCut::kv, values, m_.hidden, v);
        if (m_.attention_gate == AttentionGate::full)
            put(TensorId::attention_gate, k, TpCut::column, out, m_.hidden, v);
        if (m_.attention_gate == AttentionGate::head)
            put(TensorId::attention_gate, k, TpCut::column, t.heads, m_.hidden);
        put(TensorId::attention_output, k, TpCut::row, m_.hidden, out, v);
        if (m_.qkv_bias || m_.attention_bias) {
            put(TensorId::attention_q_bias, k, TpCut::column, q, 1, d);
            if (keys) put(TensorId::attention_k_bias, k, TpCut::kv, kv, 1, d);
            if (has_values) put(TensorId::attention_v_bias, k, TpCut::kv, values, 1, v);
        }
        if (m_.attention_bias) put(TensorId::attention_output_bias, k, TpCut::none, m_.hidden);
        if (t.sinks) put(TensorId::attention_sinks, k, TpCut::column, t.heads);
        if (m_.qk_norm == QkNorm::head) {
            put(TensorId::norm_q, TensorKind::norm, TpCut::none, d);
            if (keys) put(TensorId::norm_k, TensorKind::norm, TpCut::none, d);
        } else if (m_.qk_norm == QkNorm::full) {
            put(TensorId::norm_q, TensorKind::norm, TpCut::column, q, 1, d);
            if (keys) put(TensorId::norm_k, TensorKind::norm, TpCut::kv, kv, 1, d);
        }
    }

    // DeepSeek-AI 2024 (DeepSeek-V2), section 2.1; the down projections and their norms are copied over tp.
    void mla(const Mla& a, i64 heads) {
        const TensorKind k = TensorKind::attention;
        const i64 qk = a.qk_nope_head_dim + a.qk_rope_head_dim, kv = a.qk_nope_head_dim + a.v_head_dim;
        const i64 q_rows = saturating_product(heads, qk);
        if (a.q_lora_rank > 0) {
            put(TensorId::attention_q_down, k, TpCut::none, a.q_lora_rank, m_.hidden);
            put(TensorId::norm_q_latent, TensorKind::norm, TpCut::none, a.q_lora_rank);
            put(TensorId::attention_q_up, k, TpCut::column, q_rows, a.q_lora_rank, qk);
        } else {
            put(TensorId::attention_q, k, TpCut::column, q_rows, m_.hidden, qk);
        }
        put(TensorId::attention_kv_down, k, TpCut::none, a.kv_lora_rank + a.qk_rope_head_dim, m_.hidden);
        put(TensorId::norm_kv_latent, TensorKind::norm, TpCut::none, a.kv_lora_rank);
        put(TensorId::attention_kv_up, k, TpCut::column, saturating_product(heads, kv), a.kv_lora_rank, kv);
        put(TensorId::attention_output, k, TpCut::row, m_.hidden, saturating_product(heads, a.v_head_dim),
            a.v_head_dim);
        if (m_.attention_bias) {
            if (a.q_lora_rank > 0) put(TensorId::attention_q_down_bias, k, TpCut::none, a.q_lora_rank);
            put(TensorId::attention_kv_down_bias, k, TpCut::none, a.kv_lora_rank + a.qk_rope_head_dim);
            put(TensorId::attention_output_bias, k, TpCut::none, m_.hidden);
        }
    }

    // DeepSeek-V4 (transformers, modeling_deepseek_v4.py: DeepseekV4Attention, DeepseekV4HCACompressor,
    // DeepseekV4CSACompressor, DeepseekV4Indexer). Its positions' biases are no factors of a product. Queries
    // have a norm without weights.
    void compressed(const Compressed& a, const LayerType& t) {
        const TensorKind k = TensorKind::attention;
        const i64 d = t.head_dim, out = saturating_product(t.heads, d), groups = std::max<i64>(a.o_groups, 1);
        const i64 latents = saturating_product(groups, a.o_lora_rank);
        put(TensorId::attention_q_down, k, TpCut::none, a.q_lora_rank, m_.hidden);
        put(TensorId::norm_q_latent, TensorKind::norm, TpCut::none, a.q_lora_rank);
        put(TensorId::attention_q_up, k, TpCut::column, out, a.q_lora_rank, d);
        put(TensorId::attention_k, k, TpCut::none, d, m_.hidden);
        put(TensorId::norm_k, TensorKind::norm, TpCut::none, d);
        if (t.sinks) put(TensorId::attention_sinks, k, TpCut::column, t.heads);
        put(TensorId::attention_output_down, k, TpCut::column, latents, out / groups, a.o_lora_rank);
        put(TensorId::attention_output, k, TpCut::row, m_.hidden, latents, a.o_lora_rank);
        const i64 wide = saturating_product(t.key_parts(), d);
        put(TensorId::attention_compress_kv, k, TpCut::none, wide, m_.hidden);
        put(TensorId::attention_compress_gate, k, TpCut::none, wide, m_.hidden);
        put(TensorId::attention_compress_bias, k, TpCut::none, saturating_product(t.compress, wide));
        if (t.compress > 0) put(TensorId::norm_compress, TensorKind::norm, TpCut::none, d);
        if (!t.picks_compressed) return;
        const i64 index = saturating_product(t.key_parts(), a.index_head_dim);
        put(TensorId::attention_index_q, k, TpCut::none, saturating_product(a.index_heads, a.index_head_dim),
            a.q_lora_rank);
        put(TensorId::attention_index_kv, k, TpCut::none, index, m_.hidden);
        put(TensorId::attention_index_gate, k, TpCut::none, index, m_.hidden);
        put(TensorId::attention_index_bias, k, TpCut::none, saturating_product(t.compress, index));
        put(TensorId::attention_index_weights, k, TpCut::none, a.index_heads, m_.hidden);
        put(TensorId::norm_index, TensorKind::norm, TpCut::none, a.index_head_dim);
    }

    // DeepSeek-AI 2025 (DeepSeek-V3.2), section 2.1; its key norm is a layer norm. Copied over tp.
    void indexer(const Mla& a) {
        const TensorKind k = TensorKind::attention;
        put(TensorId::attention_index_q, k, TpCut::none, saturating_product(a.index_heads, a.index_head_dim),
            a.q_lora_rank > 0 ? a.q_lora_rank : m_.hidden);
        put(TensorId::attention_index_k, k, TpCut::none, a.index_head_dim, m_.hidden);
        put(TensorId::attention_index_weights, k, TpCut::none, a.index_heads, m_.hidden);
        put(TensorId::norm_index, TensorKind::norm, TpCut::none, a.index_head_dim);
        put(TensorId::norm_index_bias, TensorKind::norm, TpCut::none, a.index_head_dim);
    }

    // With `copies` above 0, there are so many routed experts.
    void mlp(TensorModule module, i64 width, i64 h, TensorKind kind, i64 copies = 0) {
        if (width <= 0) return;
        const bool gated = is_gated(m_.ffn_kind);
        const bool routed = copies > 0;
        const MlpTensors& ids = mlp_tensors(module);
        const auto one = [&](TensorId id, TpCut cut, i64 rows, i64 cols) {
            visit_(Tensor{id, kind, place_, cut, rows, cols, routed ? copies : 1, 1, routed, mask_});
        };
        if (gated) one(ids.gate, TpCut::column, width, h);
        one(ids.up, TpCut::column, width, h);
        one(ids.down, TpCut::row, h, width);
        if (!m_.mlp_bias) return;
        if (gated) one(ids.gate_bias, TpCut::column, width, 1);
        one(ids.up_bias, TpCut::column, width, 1);
        one(ids.down_bias, TpCut::none, h, 1);
    }

    void moe(const Moe& e) {
        mask_ = types_.moe();
        if (mask_ == 0) return;
        place_ = Place::moe_layer;
        const TensorKind router = TensorKind::router;
        put(TensorId::router, router, TpCut::none, e.experts, m_.hidden);
        if (e.router_bias) {
            mask_ = types_.where([](const LayerType& t) { return t.is_moe() && !t.hash_routed; });
            if (mask_ != 0) put(TensorId::router_bias, router, TpCut::none, e.experts);
            mask_ = types_.moe();
        }
        if (e.beside_mlp) {
            put(TensorId::router_scale, router, TpCut::none, m_.hidden);
            put(TensorId::router_expert_scale, router, TpCut::none, e.experts);
        }
        if (e.latent > 0) {
            put(TensorId::experts_latent_in, TensorKind::mlp, TpCut::none, e.latent, m_.hidden);
            put(TensorId::experts_latent_out, TensorKind::mlp, TpCut::none, m_.hidden, e.latent);
        }
        if (e.experts > 0)
            mlp(TensorModule::experts, e.expert_ffn, e.latent > 0 ? e.latent : m_.hidden, TensorKind::experts,
                e.experts);
        mlp(TensorModule::shared_expert, saturating_product(e.shared_experts, e.shared_expert_ffn), m_.hidden,
            TensorKind::mlp);
        // It has one row, so it is a matrix by use but a vector in shape: it counts as the router's.
        if (e.shared_expert_gate) put(TensorId::shared_expert_router, router, TpCut::none, 1, m_.hidden);
    }

    // DeepSeek-AI 2024 (DeepSeek-V3), section 2.2: two norms, a projection of both to the hidden width, a
    // layer, a last norm; embedding and head are the model's own.
    void mtp() {
        place_ = Place::mtp;
        norm(TensorId::norm_mtp_embedding, TensorId::norm_mtp_embedding_bias, m_.hidden);
        norm(TensorId::norm_mtp_hidden, TensorId::norm_mtp_hidden_bias, m_.hidden);
        put(TensorId::mtp_projection, TensorKind::mlp, TpCut::column, m_.hidden,
            saturating_product(2, m_.hidden));
        norm(TensorId::norm_mtp_final, TensorId::norm_mtp_final_bias, m_.hidden);
        if (m_.hyper_streams > 0)
            hyper(TensorId::mtp_hyper, TensorId::mtp_hyper_base, TensorId::mtp_hyper_scale, TensorKind::mlp,
                  m_.hyper_streams, 1);
    }

    void head() {
        place_ = Place::head;
        norm(TensorId::norm_final, TensorId::norm_final_bias, m_.hidden);
        if (m_.hyper_streams > 0)  // one hidden state out of all streams
            hyper(TensorId::head_hyper, TensorId::head_hyper_base, TensorId::head_hyper_scale,
                  TensorKind::head, m_.hyper_streams, 1);
        if (!m_.tied_embeddings) put(TensorId::head, TensorKind::head, TpCut::vocab, m_.vocab, m_.hidden);
        if (m_.head_bias) put(TensorId::head_bias, TensorKind::head, TpCut::vocab, m_.vocab, 1);
    }

    const Model& m_;
    const LayerTypes& types_;
    F& visit_;
    Place place_ = Place::embedding;
    LayerMask mask_ = 0;
    bool nowhere_ = false;  // no type of layer has the norms that are listed
};

template <typename F>
void visit_tensors(const Model& model, const LayerTypes& types, F&& visit) {
    TensorVisitor<std::remove_reference_t<F>>(model, types, visit).all();
}
template <typename F>
void visit_tensors(const Model& model, F&& visit) {
    visit_tensors(model, layer_types(model), visit);
}

}  // namespace pentamesh
