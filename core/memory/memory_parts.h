// The parts that memory is summed from: degrees, what a rank holds of each place's parameters, and the
// activations kept by one layer. Shared by the sum, its explanation and the placements; formulas and their
// sources: docs/memory.md.
#pragma once

#include "core/memory/memory.h"
#include "core/memory/mixer_activations.h"
#include "core/mesh/degrees.h"
#include "core/plan/software.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {

// compute_memory over degrees instead of a mesh.
void compute_memory(const Plan& plan, const Degrees& degrees, const Stages& stages,
                    const std::vector<double>& in_flight, Memory& out);

// Bytes of one number of each state, for the linear weights, the router's and the rest.
struct StateBytes {
    double linear = 0, router = 0, other = 0;
    [[nodiscard]] double of(const Numbers& n) const {
        return n.linear * linear + n.router * router + n.other * other;
    }
};
[[nodiscard]] StateBytes parameter_bytes(const Training& t);
[[nodiscard]] StateBytes gradient_bytes(const Training& t);
[[nodiscard]] StateBytes optimizer_bytes(const Training& t);  // the states and the master copy
[[nodiscard]] StateBytes master_bytes(const Training& t);     // of the master copy alone

// Into how many shards ZeRO cuts each state: dense, experts. 1 below its stage. Where a pipeline holds two
// copies of the model, both share one optimizer state: each keeps half.
struct StateShards {
    std::int64_t parameter[2] = {1, 1}, gradient[2] = {1, 1}, optimizer[2] = {1, 1};
    int copies = 1;  // of the model that the pipeline holds
};
[[nodiscard]] StateShards shards_of(const Plan& plan, const Degrees& degrees);

// ---- activations ----------------------------------------------------------------------------------------

// Whose tokens a tensor has: a tp region's (all of the cp part's), those between tp regions (a tp-th of them
// with sequence parallelism), or those dispatched to a rank's experts.
enum class Tokens : std::uint8_t { region, between, dispatched };

struct Activation {
    std::string_view name;
    Tokens tokens = Tokens::between;
    std::int64_t width = 0;        // numbers per token, before tp
    std::int64_t local_width = 0;  // after tp or etp
    double bytes_per_number = 2;
    RecomputeModules made_by;  // recomputing any of these makes it again
    bool layer_input = false;  // what full recompute keeps
    std::string_view symbol;   // of width: "a d"
};

// Over how many ranks Ulysses hands out heads: all of cp, the inner groups of it, or 1 where heads stay.
[[nodiscard]] inline std::int64_t head_ranks_of(const Layout& l, std::int64_t cp) {
    if (cp <= 1) return 1;
    if (l.cp_comm == CpComm::ulysses_ring) return std::clamp<std::int64_t>(l.cp_inner.value_or(1), 1, cp);
    return l.cp_comm == CpComm::ulysses ? cp : 1;
}

// Tokens of one micro-batch that a rank has, by kind.
struct TokenCounts {
    double count[3];
    [[nodiscard]] double of(Tokens t) const { return count[static_cast<std::size_t>(t)]; }
};
[[nodiscard]] inline TokenCounts token_counts(const Plan& plan, const Degrees& d) {
    const Training& t = plan.training;
    const double region = static_cast<double>(t.micro_batch) * static_cast<double>(t.sequence_length)
                          / static_cast<double>(d.cp);
    const double top_k = plan.model.moe ? static_cast<double>(plan.model.moe->top_k) : 0;
    return {{region, d.sequence_parallel ? region / static_cast<double>(d.tp) : region,
             region * top_k * t.router_imbalance * static_cast<double>(d.etp) / static_cast<double>(d.tp)}};
}

// Widths in bytes: of what element-wise kernels and attention keep, and of a matrix product's kept input.
struct ActivationWidths {
    double wide = 2, product = 2;
};
[[nodiscard]] inline ActivationWidths activation_widths(Dtype compute) {
    const double b = bytes_of(compute);
    return {b < 2 ? 2 : b, b};
}

// Calls keep(Activation) for what the backward pass of one layer needs, in the order of the forward pass.
template <typename F>
class ActivationVisitor {
  public:
    ActivationVisitor(const Plan& plan, const Degrees& degrees, F& keep)
        : m_(plan.model), t_(plan.training), d_(degrees), layout_(plan.layout),
          w_(activation_widths(plan.training.compute)), software_(facts_of(plan.training.software)),
          keep_(keep) {}

    void layer(const LayerType& t) {
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
            const RecomputeModules again(RecomputeModule::mlp);
            if (!shares) product_input("mlp.input", again);
            mlp({"mlp.gate", "mlp.up", "mlp.activated", "mlp.product"}, Tokens::region, t.ffn_width, d_.tp,
                "f", again, again);
        }
        if (moe) experts(*m_.moe);
        if (moe && m_.moe->beside_mlp)
            for (const std::string_view name :
                 {"norm.experts.input", "norm.after_dense_mlp.input", "norm.after_experts.input"})
                between(name, m_.hidden, w_.wide, "h");
        if (m_.post_norms) between("norm.after_mlp.input", m_.hidden, w_.wide, "h");
        if (t_.dropout) between("mlp.dropout_mask", m_.hidden, 1, "h");
    }
    void embedding() {
        region("embedding.tokens", 1, 1, 8, "1");
        if (t_.dropout) between("embedding.dropout_mask", m_.hidden, 1, "h");
    }
    // Logits in the compute type and what the loss makes of them, cut by vocabulary.
    void head() {
        const std::int64_t v = divide_up(m_.vocab, d_.tp);
        between("norm.final.input", m_.hidden, w_.wide, "h");
        between("head.input", m_.hidden, w_.wide, "h");
        const double loss = d_.tp > 1 ? software_.loss_bytes_cut : software_.loss_bytes;
        region("head.logits", m_.vocab, v, std::min(w_.wide, loss), "V");
        if (loss > w_.wide) region("head.loss", m_.vocab, v, loss - w_.wide, "V");
    }
    void mtp() {
        between("norm.mtp.embedding.input", m_.hidden, w_.wide, "h");
        between("norm.mtp.hidden.input", m_.hidden, w_.wide, "h");
        between("mtp.projection.input", saturating_product(2, m_.hidden), w_.product, "2 h");
    }

  private:
    using i64 = std::int64_t;

    void between(std::string_view name, i64 width, double bytes, std::string_view symbol, bool input = false,
                 RecomputeModules again = {}) {
        keep_(Activation{name, Tokens::between, width, width, bytes, again, input, symbol});
    }
    void region(std::string_view name, i64 width, i64 local, double bytes, std::string_view symbol,
                RecomputeModules again = {}) {
        keep_(Activation{name, Tokens::region, width, local, bytes, again, false, symbol});
    }
    // Of a product that tp cuts by columns.
    void product_input(std::string_view name, RecomputeModules again) {
        if (software_.inputs_whole && d_.sequence_parallel)
            region(name, m_.hidden, m_.hidden, w_.product, "h", again);
        else
            between(name, m_.hidden, w_.product, "h", false, again);
    }
    // Ulysses hands whole heads to that many ranks.
    [[nodiscard]] i64 head_ranks() const { return head_ranks_of(layout_, d_.cp); }

    void mixer(const LayerType& t) {
        const auto put = [&](std::string_view name, i64 width, i64 local, bool wide,
                             std::string_view symbol) {
            region(name, width, local, wide ? w_.wide : w_.product, symbol);
        };
        if (t.attends() && m_.attention == AttentionKind::mla && m_.mla)
            mla(*m_.mla, t.heads);
        else if (t.attends())
            attention(t);
        if (t.mixer == MixerKind::linear && m_.linear)
            visit_linear_activations(*m_.linear, m_.hidden, d_.tp, put);
        if (t.has_mamba() && m_.mamba) visit_mamba_activations(*m_.mamba, d_.tp, put);
    }

    void attention(const LayerType& t) {
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
        region("attention.gated", saturating_product(t.heads, dv), saturating_product(q, dv), w_.product,
               "a d");
    }

    void mla(const Mla& a, i64 heads) {
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

    // Scores, softmax and what they leave. Unfused: Korthikanti et al. 2022, section 4.1, 5 a s^2 b. Fused:
    // the output and the row's log-sum-exp in fp32 (Dao 2023, FlashAttention-2, section 3.1).
    void core(i64 all_heads, i64 heads, i64 dim, std::string_view symbol) {
        const i64 all = saturating_product(all_heads, dim), local = saturating_product(heads, dim);
        const RecomputeModules again(RecomputeModule::core_attn);
        if (t_.attention == AttentionImpl::math) {
            const i64 keys = saturating_product(all_heads, t_.sequence_length);
            const i64 own = saturating_product(heads, t_.sequence_length);
            region("attention.softmax", keys, own, w_.wide, "a s", again);
            if (t_.dropout) {
                region("attention.softmax.dropout_mask", keys, own, 1, "a s", again);
                region("attention.softmax.dropped", keys, own, w_.wide, "a s", again);
            }
            region("attention.output", all, local, w_.product, symbol);
            return;
        }
        region("attention.log_sum_exp", all_heads, heads, 4, "a", again);
        region("attention.output", all, local, w_.wide, symbol);
        if (software_.attention_copies > 0)
            region("attention.copies", all, local, w_.wide * software_.attention_copies, symbol);
        if (w_.product < w_.wide) region("attention.output.cast", all, local, w_.product, symbol);
    }

    // `again`, `activated`: what makes the products' outputs again, and what the activation's.
    struct MlpNames {
        std::string_view gate, up, activated, product;
    };
    void mlp(const MlpNames& names, Tokens tokens, i64 width, i64 degree, std::string_view symbol,
             RecomputeModules again, RecomputeModules activated) {
        const i64 local = divide_up(width, degree);
        const auto one = [&](std::string_view name, double bytes, RecomputeModules by) {
            keep_(Activation{name, tokens, width, local, bytes, by, false, symbol});
        };
        const bool gated = m_.ffn_kind == FfnKind::swiglu || m_.ffn_kind == FfnKind::geglu;
        if (gated) one(names.gate, w_.wide, again);
        one(names.up, w_.wide, again);
        if (gated && software_.activation_apart) one(names.activated, w_.wide, activated);
        one(names.product, w_.product, activated);
    }

    void experts(const Moe& e) {
        const RecomputeModules layer(RecomputeModule::moe);
        const RecomputeModules shared_again(RecomputeModule::moe, RecomputeModule::shared_experts);
        between("router.input", m_.hidden, w_.wide, "h", false, RecomputeModules(RecomputeModule::layernorm));
        between("router.logits", e.experts, 4, "E", false, layer);
        const i64 width = e.latent > 0 ? e.latent : m_.hidden;
        if (e.latent > 0) {
            between("experts.latent_in.input", m_.hidden, w_.product, "h", false, layer);
            between("experts.latent_out.input", e.latent, w_.product, "l", false, layer);
        }
        keep_(Activation{"experts.input", Tokens::dispatched, width, width, w_.product, layer, false,
                         e.latent > 0 ? "l" : "h"});
        mlp({"experts.gate", "experts.up", "experts.activated", "experts.product"}, Tokens::dispatched,
            e.expert_ffn, d_.etp, "f_e", layer,
            RecomputeModules(RecomputeModule::moe, RecomputeModule::moe_act));
        const i64 shared = saturating_product(e.shared_experts, e.shared_expert_ffn);
        if (shared > 0)
            mlp({"shared_expert.gate", "shared_expert.up", "shared_expert.activated",
                 "shared_expert.product"},
                Tokens::region, shared, d_.tp, "f_s", shared_again, shared_again);
    }

    const Model& m_;
    const Training& t_;
    const Degrees& d_;
    const Layout& layout_;
    ActivationWidths w_;
    const SoftwareFacts& software_;
    F& keep_;
};

template <typename F>
void visit_layer(const Plan& plan, const Degrees& degrees, const LayerType& type, F&& keep) {
    ActivationVisitor<std::remove_reference_t<F>>(plan, degrees, keep).layer(type);
}

// The type that stands for the layers with a dense MLP, or for the MoE layers: with a pattern the one of most
// layers.
[[nodiscard]] int usual_type(const Model& model, const LayerTypes& types, bool moe);

template <typename F>
void visit_activations(const Plan& plan, const Degrees& degrees, LayerKind kind, F&& keep) {
    ActivationVisitor<std::remove_reference_t<F>> visitor(plan, degrees, keep);
    switch (kind) {
    case LayerKind::dense:
    case LayerKind::moe: {
        const LayerTypes types = layer_types(plan.model);
        visitor.layer(types[usual_type(plan.model, types, kind == LayerKind::moe)]);
        break;
    }
    case LayerKind::head: visitor.head(); break;
    case LayerKind::embedding: visitor.embedding(); break;
    case LayerKind::mtp: visitor.mtp(); break;
    }
}

[[nodiscard]] inline double bytes_of(const Activation& a, const TokenCounts& tokens) {
    return tokens.of(a.tokens) * static_cast<double>(a.local_width) * a.bytes_per_number;
}
[[nodiscard]] inline bool is_kept(const Activation& a, const RecomputeChoice& recompute,
                                  const SoftwareFacts& software) {
    if (!software.selective_keeps.empty() && recompute == RecomputeChoice(Recompute::selective)) {
        const bool named =
            a.name.starts_with("attention.") || a.name.starts_with("norm.") || a.name.starts_with("mlp.");
        if (named)
            return std::find(software.selective_keeps.begin(), software.selective_keeps.end(), a.name)
                   != software.selective_keeps.end();
    }
    return recompute.whole_layers() ? a.layer_input
                                    : !recompute.any() || !a.made_by.any_of(recompute.modules);
}

// One layer's activations, summed.
struct LayerSums {
    double all = 0;         // from forward to backward, where nothing is recomputed
    double kept = 0;        // the same of a layer that is recomputed
    double recomputed = 0;  // besides, while that layer's backward runs
    double input = 0;       // of `all`: the layer's input
};
template <typename Visit>
[[nodiscard]] LayerSums sums_of(const Plan& plan, const Degrees& degrees, const RecomputeChoice& recompute,
                                Visit&& visit) {
    const TokenCounts tokens = token_counts(plan, degrees);
    const SoftwareFacts& software = facts_of(plan.training.software);
    LayerSums s;
    visit([&](const Activation& a) {
        const double b = bytes_of(a, tokens);
        s.all += b;
        (is_kept(a, recompute, software) ? s.kept : s.recomputed) += b;
        if (a.layer_input) s.input += b;
    });
    return s;
}
[[nodiscard]] inline LayerSums layer_sums(const Plan& plan, const Degrees& degrees, const LayerType& type) {
    return sums_of(plan, degrees, plan.training.recompute,
                   [&](auto&& keep) { visit_layer(plan, degrees, type, keep); });
}
// Of what is no layer.
[[nodiscard]] inline LayerSums layer_sums(const Plan& plan, const Degrees& degrees, LayerKind kind) {
    return sums_of(plan, degrees, RecomputeChoice(),
                   [&](auto&& keep) { visit_activations(plan, degrees, kind, keep); });
}

}  // namespace pentamesh
