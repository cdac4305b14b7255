#include "core/step/compute.h"

#include "core/layer/kernel_costs.h"
#include "core/model/mixer_flops.h"
#include "core/model/model.h"
#include "core/model/model_tensors.h"
#include "core/plan/software.h"

#include <algorithm>

namespace pentamesh {
namespace {

// These are the host's launches for a layer's forward, small kernels and views included: a dense layer has
// about 30; the router, its loss and the bookkeeping of dispatch about 60 more; each local expert its own
// products. A layer that is only a mixer or an MLP takes half of a dense layer's.
constexpr double kDenseLaunches = 30, kMoeLaunches = 60, kExpertLaunches = 2;

constexpr double kLossForward = 14, kLossBackward = 8;  // fp32 softmax over 16-bit logits

// Holds one layer's sizes on one rank.
struct Sizes {
    double tokens = 0, outer = 0;  // of a rank inside and outside the tensor-parallel region
    double hidden = 0, query = 0, key = 0, value = 0, output = 0, heads = 0;  // widths on a rank; head count
    double context = 0, batch = 0;                                            // keys that a query could meet
    double tp = 1;
};

Sizes sizes_of(const Plan& plan, const LayerType& type) {
    const Model& m = plan.model;
    const Layout& l = plan.layout;
    const Training& t = plan.training;
    Sizes s;
    s.tp = static_cast<double>(l.tp);
    s.batch = static_cast<double>(t.micro_batch);
    s.context = static_cast<double>(t.sequence_length);
    s.tokens = s.batch * s.context / static_cast<double>(l.cp);
    s.outer = l.sequence_parallel ? s.tokens / s.tp : s.tokens;
    s.hidden = static_cast<double>(m.hidden);
    s.heads = static_cast<double>(type.heads) / s.tp;
    if (m.attention == AttentionKind::mla && m.mla) {
        const double qk = static_cast<double>(m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim);
        s.query = s.key = s.heads * qk;
        s.value = s.output = s.heads * static_cast<double>(m.mla->v_head_dim);
    } else {
        const double kv = std::max(static_cast<double>(type.kv_heads) / s.tp, 1.0);
        s.query = s.heads * static_cast<double>(type.head_dim);
        s.key = kv * static_cast<double>(type.head_dim);
        s.value = kv * static_cast<double>(type.value_head_dim);
        s.output = s.heads * static_cast<double>(type.value_head_dim);
    }
    return s;
}

// The operands of a product that take a pass of their own to be cast: its input, its output's gradient.
struct Casts {
    bool input = true, gradient = true;
};

class Layer {
  public:
    Layer(const Plan& plan, const LayerType& type)
        : plan_(plan), type_(type), r_(find_rates(plan)), s_(sizes_of(plan, type)) {}

    LayerTime time() const {
        LayerTime t;
        const Model& m = plan_.model;
        const bool mixes = type_.mixer != MixerKind::none, has_ffn = type_.ffn != LayerFfn::none;
        const double parts = (mixes ? 1 : 0) + (has_ffn ? 1 : 0);
        if (type_.attends()) {
            t.attention = attention_core();
            t.mixer = projections();
            t.mixer += t.attention;
        }
        if (type_.mixer == MixerKind::linear && m.linear) t.mixer += linear_mixer(*m.linear);
        if (type_.has_mamba() && m.mamba) t.mixer += mamba_mixer(*m.mamba);
        t.mixer += norms_and_additions(parts);
        t.mlp = mlp(s_.tokens, static_cast<double>(type_.ffn_width) / s_.tp);
        t.module = modules(t);
        t.launches = kDenseLaunches * parts / 2;
        if (type_.is_moe() && m.moe) {
            const PassTime experts = moe(*m.moe);
            t.module[RecomputeModule::moe] = experts.forward;
            t.mlp += experts;
            t.launches += kMoeLaunches + local_experts() * kExpertLaunches;
        }
        t.all = t.mixer;
        t.all += t.mlp;
        return t;
    }
    void ends(LayerTimes& t) const {
        t.embedding = embedding();
        t.head = head();
        t.mtp = linear({s_.tokens, 2 * s_.hidden, s_.hidden / s_.tp});
    }

  private:
    // `parts` are blocks of the layer, each with its norm and its addition to the residual stream.
    [[nodiscard]] PassTime norms_and_additions(double parts) const {
        const Model& m = plan_.model;
        double norms = parts + (m.post_norms ? parts : 0) - (type_.shares_norm(m) ? 1 : 0);
        if (type_.is_moe() && m.moe && m.moe->beside_mlp)
            norms += 3;  // before the experts, behind them and behind the MLP
        return element_wise(s_.outer * s_.hidden * (norms * kNormBytes + parts * kAddBytes), norms + parts);
    }

    // Returns all modules but the experts' whole way. `t` is so far with its mixer and its dense MLP.
    [[nodiscard]] ModuleTimes modules(const LayerTime& t) const {
        using enum RecomputeModule;
        const Model& m = plan_.model;
        const bool latent = type_.attends() && m.attention == AttentionKind::mla && m.mla;
        const double norm = element_wise(s_.outer * s_.hidden * kNormBytes, 1).forward;
        ModuleTimes module{};
        module[core_attn] = t.attention.forward;
        if (latent) module[layernorm] = norm, module[mla_up_proj] = up_projection(*m.mla).forward;
        module[RecomputeModule::mlp] = t.mlp.forward;
        if (!type_.is_moe() || !m.moe) return module;
        module[layernorm] += norm;
        module[moe_act] = activation(expert_copies(*m.moe), expert_width(*m.moe)).forward;
        module[shared_experts] = shared(*m.moe).forward;
        return module;
    }

    // Times queries, keys and values out of MLA's latents, and their rotation.
    [[nodiscard]] PassTime up_projection(const Mla& a) const {
        const double q = static_cast<double>(a.q_lora_rank), kv = static_cast<double>(a.kv_lora_rank);
        PassTime t = linear({s_.tokens, q > 0 ? q : s_.hidden, s_.query});
        t += linear({s_.tokens, kv, s_.heads * static_cast<double>(a.qk_nope_head_dim) + s_.value});
        t += element_wise(s_.tokens * (s_.query + s_.key) * kNormBytes, kRope);
        return t;
    }

    // Times a linear layer: its input gradient is the same product transposed, its weight gradient adds into
    // the gradient buffer.
    [[nodiscard]] PassTime linear(const Product& p, double factor = 1, Casts own = {}) const {
        const double rate = r_.linear * factor * line_share(p.in, p.out, r_.operand);
        PassTime t;
        const double casts = r_.cast_bytes * p.groups * p.m / r_.hbm;
        t.forward = product_time(r_, p, rate, r_.operand, kTwo) + (own.input ? casts * p.in : 0);
        t.input_grad = product_time(r_, {p.m, p.out, p.in, p.groups}, rate, r_.operand, kTwo)
                       + (own.gradient ? casts * p.out : 0);
        t.weight_grad = product_time(r_, {p.in, p.m, p.out, p.groups}, rate, r_.operand,
                                     2 * bytes_of(plan_.training.gradients));
        return t;
    }

    [[nodiscard]] PassTime wide(const Product& p, double share = 1) const {
        const double rate = r_.wide * share;
        PassTime t;
        t.forward = product_time(r_, p, rate, kTwo, kTwo);
        t.input_grad = product_time(r_, {p.m, p.out, p.in, p.groups}, rate, kTwo, kTwo);
        t.weight_grad = product_time(r_, {p.in, p.m, p.out, p.groups}, rate, kTwo,
                                     2 * bytes_of(plan_.training.gradients));
        return t;
    }

    [[nodiscard]] PassTime element_wise(double bytes, double kernels) const {
        const double t = bytes * r_.element_wise / r_.hbm;
        return {t + kernels * r_.kernel_s, t * kBackwardFactor + kernels * kBackwardKernels * r_.kernel_s, 0};
    }

    [[nodiscard]] PassTime projections() const {
        const Model& m = plan_.model;
        PassTime t;
        double kernels = 0, rotated = 0;
        if (m.attention == AttentionKind::mla && m.mla) {
            const Mla& a = *m.mla;
            const double q = static_cast<double>(a.q_lora_rank), kv = static_cast<double>(a.kv_lora_rank);
            const double rope = static_cast<double>(a.qk_rope_head_dim);
            // The products into the latents are whole on each rank, for the tokens between regions.
            if (q > 0) t += linear({s_.outer, s_.hidden, q});
            t += linear({s_.tokens, q > 0 ? q : s_.hidden, s_.query});
            t += linear({s_.outer, s_.hidden, kv + rope});
            t += linear({s_.tokens, kv, s_.heads * static_cast<double>(a.qk_nope_head_dim) + s_.value});
            t += linear({s_.tokens, s_.value, s_.hidden});
            kernels = kLatentKernels;
            rotated = s_.query + s_.key;
            if (a.index_heads > 0) {  // on every rank in full
                const double index = static_cast<double>(a.index_heads * a.index_head_dim);
                t += linear({s_.outer, q > 0 ? q : s_.hidden, index});
                t += linear({s_.outer, s_.hidden, static_cast<double>(a.index_head_dim + a.index_heads)});
            }
        } else {
            const double value = type_.keys_as_values || type_.shares_kv ? 0 : s_.value;
            const double key = type_.shares_kv ? 0 : s_.key;
            const double gate = m.attention_gate == AttentionGate::full   ? s_.output
                                : m.attention_gate == AttentionGate::head ? s_.heads
                                                                          : 0;
            t += linear({s_.tokens, s_.hidden, s_.query + key + value + gate});
            t += linear({s_.tokens, s_.output, s_.hidden});
            if (gate > 0) t += element_wise(s_.tokens * s_.output * kAddBytes, 1);
            if (m.positions == Positions::rope) kernels = kRope, rotated = s_.query + s_.key;
            if (m.qk_norm != QkNorm::none) kernels += 2, rotated *= 2;
        }
        t += element_wise(s_.tokens * rotated * kNormBytes, kernels);
        return t;
    }

    [[nodiscard]] PassTime attention_core() const {
        if (plan_.training.attention == AttentionImpl::math) return unfused_attention();
        const double flops =
            2 * s_.tokens * keys_met(type_.window, s_.context, true) * (s_.query + s_.output);
        double t = flops / (r_.attention * width_factor());
        const auto& mla = plan_.model.mla;
        if (plan_.model.attention == AttentionKind::mla && mla && mla->index_heads > 0)  // scores of all keys
            t += 2 * s_.tokens * keys_met(0, s_.context, true)
                 * static_cast<double>(mla->index_heads * mla->index_head_dim) / r_.attention;
        return {t + r_.kernel_s, t * kFlashBackward + kBackwardKernels * r_.kernel_s, 0};
    }

    // A narrow head leaves matrix units idle while the softmax runs: d / (d + 64), 1 at the usual 128 (Shah
    // et al. 2024, figures 5 and 6).
    [[nodiscard]] double width_factor() const {
        constexpr double kHalf = 64, kUsual = 128;
        const double d = s_.query / s_.heads;
        return d / (d + kHalf) * (kUsual + kHalf) / kUsual;
    }

    // Times scores written out and read again, the whole square: Megatron-LM before FlashAttention.
    [[nodiscard]] PassTime unfused_attention() const {
        const double groups = s_.batch * s_.heads, rows = s_.tokens / s_.batch;
        const double d = s_.query / s_.heads, dv = s_.output / s_.heads;
        const double scores = groups * rows * s_.context;
        const double drop = plan_.training.dropout ? kDropoutBytes : 0;
        const double rate = r_.wide * line_share(d, dv, kTwo);
        const double qk = product_time(r_, {rows, d, s_.context, groups}, rate, kTwo, kTwo);
        const double pv = product_time(r_, {rows, s_.context, dv, groups}, rate, kTwo, kTwo);
        PassTime t;
        t.forward = qk + pv + scores * (kSoftmaxBytes + drop) / r_.hbm + kUnfusedAttention * r_.kernel_s;
        t.input_grad = 2 * (qk + pv) + scores * (kSoftmaxBytes + kTwo + drop) / r_.hbm
                       + kBackwardKernels * kUnfusedAttention * r_.kernel_s;
        return t;
    }

    [[nodiscard]] bool gated() const {
        return plan_.model.ffn_kind == FfnKind::swiglu || plan_.model.ffn_kind == FfnKind::geglu;
    }

    [[nodiscard]] PassTime mlp(double tokens, double width) const {
        if (width <= 0) return {};
        PassTime t = linear({tokens, s_.hidden, gated() ? 2 * width : width});
        t += linear({tokens, width, s_.hidden});
        t += activation(tokens, width);
        return t;
    }
    // Grouped products. Fused: the first applies the activation and casts what it writes for the second, and
    // so does the second's input gradient on the way back (TransformerEngine's operation fuser, with gate and
    // up interleaved).
    [[nodiscard]] PassTime expert_mlp(double tokens, double width, double groups, double latent) const {
        const double up = gated() ? 2 * width : width, each = tokens / groups;
        const double hidden = latent > 0 ? latent : s_.hidden;
        const bool apart = !plan_.training.fused_experts;
        PassTime t = linear({each, hidden, up, groups}, r_.grouped, {.gradient = apart});
        t += linear({each, width, hidden, groups}, r_.grouped, {.input = apart});
        if (apart) t += activation(tokens, width);
        return t;
    }
    [[nodiscard]] PassTime activation(double tokens, double width) const {
        const double up = gated() ? 2 * width : width;
        return element_wise(tokens * (up + width) * kTwo, 1);
    }
    [[nodiscard]] double etp() const {
        return static_cast<double>(plan_.layout.etp.value_or(plan_.layout.tp));
    }
    // Returns the tokens that a rank's experts get, once for each expert.
    // Each of the ranks that hold the same tokens sends its part.
    [[nodiscard]] double expert_copies(const Moe& e) const {
        return s_.tokens / s_.tp * static_cast<double>(e.top_k) * plan_.training.router_imbalance * etp();
    }
    [[nodiscard]] double expert_width(const Moe& e) const {
        return static_cast<double>(e.expert_ffn) / etp();
    }
    [[nodiscard]] PassTime shared(const Moe& e) const {
        return mlp(s_.tokens, static_cast<double>(e.shared_experts * e.shared_expert_ffn) / s_.tp);
    }

    [[nodiscard]] double local_experts() const {
        const double ep = static_cast<double>(std::max<std::int64_t>(plan_.layout.ep, 1));
        return std::max(static_cast<double>(plan_.model.moe->experts) / ep, 1.0);
    }

    // Times router, the way of the tokens to their experts and back, grouped products, shared experts.
    [[nodiscard]] PassTime moe(const Moe& e) const {
        const double local = std::max(static_cast<double>(e.experts)
                                          / static_cast<double>(std::max<std::int64_t>(plan_.layout.ep, 1)),
                                      1.0);
        const double copies = expert_copies(e);
        PassTime t = wide({s_.outer, s_.hidden, static_cast<double>(e.experts)});
        const double latent = static_cast<double>(e.latent), hidden = latent > 0 ? latent : s_.hidden;
        if (latent > 0) {
            t += linear({s_.outer, s_.hidden, latent});
            t += linear({s_.outer, latent, s_.hidden});
        }
        t += element_wise(3 * copies / etp() * hidden * kNormBytes, kRouterKernels + kPermuteKernels);
        t += expert_mlp(copies, expert_width(e), local, latent);
        if (plan_.model.mlp_bias) t += unfused_bias(copies, expert_width(e));
        t += shared(e);
        return t;
    }

    // Grouped products add no bias on their way out, and Megatron Core fuses no gated activation with one:
    // the bias of both products, then clamp, gate and product of the two halves are each read and written.
    [[nodiscard]] PassTime unfused_bias(double tokens, double width) const {
        const double up = gated() ? 2 * width : width;
        const double gate = gated() ? 4 * kNormBytes + kAddBytes : 0;
        return element_wise(tokens * ((up + s_.hidden) * kNormBytes + width * gate), gated() ? 7 : 2);
    }

    // Times the rest of a scan mixer: convolution, chunked scan, gated norm. `in` is the numbers that a token
    // has before the scan, `out` those after it, on this rank. A scan's backward takes as many products more
    // as attention's.
    [[nodiscard]] PassTime scan(const ScanFlops& f, double in, double out) const {
        PassTime t = element_wise(s_.tokens * ((in * 2 + out * 2) * kNormBytes + f.state_bytes / s_.tp),
                                  kMixerKernels);
        const double products = s_.tokens * f.kernel / s_.tp / r_.attention;
        t.forward += products;
        t.input_grad += products * kFlashBackward;
        return t;
    }

    [[nodiscard]] PassTime mamba_mixer(const Mamba& a) const {
        const double inner = static_cast<double>(a.inner) / s_.tp, state = static_cast<double>(a.state);
        const double shared = 2 * static_cast<double>(a.groups) * state / s_.tp;
        PassTime t;
        if (a.version != 1) {
            const double in = 2 * inner + shared + static_cast<double>(a.heads) / s_.tp;
            t = linear({s_.tokens, s_.hidden, in});
            t += scan(scan_flops(a), in, inner);
        } else {
            const double rank = static_cast<double>(a.dt_rank);
            t = linear({s_.tokens, s_.hidden, 2 * inner});
            t += linear({s_.tokens, inner, rank + 2 * state});
            t += linear({s_.tokens, rank, inner});
            t += scan(scan_flops(a), 3 * inner, inner);
        }
        t += linear({s_.tokens, inner, s_.hidden});
        return t;
    }

    [[nodiscard]] PassTime linear_mixer(const Linear& a) const {
        const double keys = static_cast<double>(a.key_heads * a.key_head_dim) / s_.tp;
        const double values = static_cast<double>(a.value_heads * a.value_head_dim) / s_.tp;
        const double heads = static_cast<double>(a.value_heads) / s_.tp;
        double in = 0, out = values;
        PassTime t;
        switch (a.kind) {
        case LinearKind::short_conv: in = 3 * s_.hidden / s_.tp, out = s_.hidden / s_.tp; break;
        case LinearKind::lightning: in = 2 * values + 2 * keys; break;
        case LinearKind::gated_delta: in = 2 * keys + 2 * values + 2 * heads; break;
        case LinearKind::kimi_delta: {
            in = 2 * keys + values + heads;
            const double dk = static_cast<double>(a.key_head_dim), dv = static_cast<double>(a.value_head_dim);
            t += linear({s_.tokens, s_.hidden, dk + dv});
            t += linear({s_.tokens, dk, keys});
            t += linear({s_.tokens, dv, values});
            break;
        }
        }
        t += linear({s_.tokens, s_.hidden, in});
        t += scan(scan_flops(a, plan_.model.hidden), in, out);
        t += linear({s_.tokens, out, s_.hidden});
        return t;
    }

    [[nodiscard]] PassTime embedding() const { return element_wise(s_.tokens * s_.hidden * kNormBytes, 1); }

    [[nodiscard]] PassTime head() const {
        const auto vocab =
            static_cast<double>(local_vocab(plan_.model.vocab, vocab_multiple_of(plan_), plan_.layout.tp));
        PassTime t = wide({s_.tokens, s_.hidden, vocab}, line_share(s_.hidden, vocab, kTwo));
        t += element_wise(s_.outer * s_.hidden * kNormBytes, 1);
        t.forward += s_.tokens * vocab * kLossForward / r_.hbm;
        t.input_grad += s_.tokens * vocab * kLossBackward / r_.hbm;
        return t;
    }

    const Plan& plan_;
    const LayerType& type_;
    Rates r_;
    Sizes s_;
};

}  // namespace

LayerTimes time_layers(const Plan& plan, const LayerTypes& types) {
    LayerTimes t;
    for (const LayerType& type : types.type) t.layer.push_back(Layer(plan, type).time());
    Layer(plan, types[0]).ends(t);
    return t;
}

StateBytes optimizer_traffic(const Plan& plan) {
    const Training& t = plan.training;
    const StateBytes states = optimizer_bytes(t), master = master_bytes(t), parameter = parameter_bytes(plan);
    const auto moved = [&](double state, double copy, double own) {
        return 2 * bytes_of(t.gradients) + 2 * state + (copy > 0 ? 1 : 2) * own;
    };
    return {moved(states.linear, master.linear, parameter.linear),
            moved(states.router, master.router, parameter.router),
            moved(states.other, master.other, parameter.other)};
}

double once_a_step(const Plan& plan) {
    const SoftwareFacts& software = facts_of(plan.training.software);
    const bool graph = plan.training.cuda_graphs == CudaGraphs::iteration;
    return plan.cluster.gpu.efficiency.step_s * (graph ? software.graphs_step : 1) + software.step_s;
}

double launch_time(const Plan& plan) {
    const SoftwareFacts& software = facts_of(plan.training.software);
    const double each = plan.cluster.gpu.efficiency.launch_s * software.launches;
    switch (plan.training.cuda_graphs) {
    case CudaGraphs::none: break;
    case CudaGraphs::layers: return each * software.graphs_layers;
    case CudaGraphs::iteration: return 0;
    }
    return each;
}

double optimizer_time(const Plan& plan, const StageNumbers& numbers, const StateShards& shards) {
    const StateBytes bytes = optimizer_traffic(plan);
    const double moved = bytes.of(numbers.dense) / static_cast<double>(shards.optimizer[0])
                         + bytes.of(numbers.experts) / static_cast<double>(shards.optimizer[1]);
    return moved / (plan.cluster.gpu.hbm_bytes_per_s * plan.cluster.gpu.efficiency.hbm);
}

}  // namespace pentamesh
