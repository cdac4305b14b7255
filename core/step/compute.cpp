#include "core/step/compute.h"

#include "core/model/model.h"
#include "core/model/model_tensors.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

// Launches of a layer besides its products; the backward has twice as many. Counted on Megatron Core with
// its usual fusions; the unfused attention of 2022 has softmax, dropout and their masks apart.
constexpr double kNormsAndAdds = 4, kRope = 1, kLatentKernels = 4, kUnfusedAttention = 4;
constexpr double kRouterKernels = 10, kPermuteKernels = 6;
constexpr double kBackwardKernels = kBackwardLaunches;

// What the host launches for a layer's forward, small kernels and views counted in: a dense layer about 30;
// the router, its loss and the bookkeeping of dispatch about 60 more; each local expert its own products.
constexpr double kDenseLaunches = 30, kMoeLaunches = 60, kExpertLaunches = 2;

// HBM bytes per number of an element-wise kernel in 16 bits, by what it reads and writes.
constexpr double kTwo = 2;               // bytes of a 16-bit number
constexpr double kNormBytes = 2 * kTwo;  // read, write
constexpr double kAddBytes = 3 * kTwo;   // two read, one written
constexpr double kBackwardFactor = 2;    // gradients and saved inputs are both read
constexpr double kSoftmaxBytes = 2 * kTwo, kDropoutBytes = 2 * kTwo + 1;  // a byte of mask
constexpr double kFlashBackward = 2.5;                  // five products for two, Dao et al. 2022
constexpr double kLossForward = 14, kLossBackward = 8;  // fp32 softmax over 16-bit logits

// One layer's sizes on one rank.
struct Sizes {
    double tokens = 0, outer = 0;  // of a rank inside and outside the tensor-parallel region
    double hidden = 0, query = 0, key = 0, value = 0, heads = 0;  // widths on a rank; head count
    double context = 0, batch = 0;                                // keys that a query could meet
    double tp = 1;
};

Sizes sizes_of(const Plan& plan) {
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
    s.heads = static_cast<double>(m.heads) / s.tp;
    if (m.attention == AttentionKind::mla && m.mla) {
        const double qk = static_cast<double>(m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim);
        s.query = s.key = s.heads * qk;
        s.value = s.heads * static_cast<double>(m.mla->v_head_dim);
    } else {
        const double kv = std::max(static_cast<double>(m.kv_heads) / s.tp, 1.0);
        s.query = s.heads * static_cast<double>(m.head_dim);
        s.key = s.value = kv * static_cast<double>(m.head_dim);
    }
    return s;
}

class Layer {
  public:
    explicit Layer(const Plan& plan) : plan_(plan), r_(find_rates(plan)), s_(sizes_of(plan)) {}

    LayerTimes time() {
        LayerTimes t;
        t.attention = attention_core();
        t.attention_block = projections();
        t.attention_block += t.attention;
        t.attention_block += element_wise(s_.outer * s_.hidden * 2 * (kNormBytes + kAddBytes), kNormsAndAdds);
        t.dense_mlp = mlp(s_.tokens, static_cast<double>(plan_.model.ffn) / s_.tp);
        t.dense = t.attention_block;
        t.dense += t.dense_mlp;
        if (plan_.model.moe) {
            t.moe_mlp = moe(*plan_.model.moe);
            t.moe = t.attention_block;
            t.moe += t.moe_mlp;
            const double casts = r_.cast_bytes > 0 ? 2 : 1;  // operands are cast expert by expert
            t.moe_launches = kDenseLaunches + kMoeLaunches + local_experts() * kExpertLaunches * casts;
        }
        t.dense_launches = kDenseLaunches;
        t.embedding = embedding();
        t.head = head();
        t.mtp = linear({s_.tokens, 2 * s_.hidden, s_.hidden / s_.tp});
        modules(t);
        return t;
    }

  private:
    void modules(LayerTimes& t) const {
        using enum RecomputeModule;
        const bool latent = plan_.model.attention == AttentionKind::mla && plan_.model.mla;
        const double norm = element_wise(s_.outer * s_.hidden * kNormBytes, 1).forward;
        t.dense_module[core_attn] = t.attention.forward;
        t.dense_module[layernorm] = latent ? norm : 0;
        if (latent) t.dense_module[mla_up_proj] = up_projection(*plan_.model.mla).forward;
        t.moe_module = t.dense_module;
        t.dense_module[RecomputeModule::mlp] = t.dense_mlp.forward;
        if (!plan_.model.moe) return;
        const Moe& e = *plan_.model.moe;
        t.moe_module[layernorm] += norm;
        t.moe_module[RecomputeModule::moe] = t.moe_mlp.forward;
        t.moe_module[moe_act] = activation(expert_copies(e), expert_width(e)).forward;
        t.moe_module[shared_experts] = shared(e).forward;
    }

    // Queries, keys and values out of MLA's latents, and their rotation.
    [[nodiscard]] PassTime up_projection(const Mla& a) const {
        const double q = static_cast<double>(a.q_lora_rank), kv = static_cast<double>(a.kv_lora_rank);
        PassTime t = linear({s_.tokens, q > 0 ? q : s_.hidden, s_.query});
        t += linear({s_.tokens, kv, s_.heads * static_cast<double>(a.qk_nope_head_dim) + s_.value});
        t += element_wise(s_.tokens * (s_.query + s_.key) * kNormBytes, kRope);
        return t;
    }

    // A linear layer: its input gradient is the same product transposed, its weight gradient adds into the
    // gradient buffer.
    [[nodiscard]] PassTime linear(const Product& p, double factor = 1) const {
        const double rate = r_.linear * factor;
        PassTime t;
        const double casts = r_.cast_bytes * p.groups * p.m / r_.hbm;
        t.forward = product_time(r_, p, rate, r_.operand, kTwo) + casts * p.in;
        t.input_grad = product_time(r_, {p.m, p.out, p.in, p.groups}, rate, r_.operand, kTwo) + casts * p.out;
        t.weight_grad = product_time(r_, {p.in, p.m, p.out, p.groups}, rate, r_.operand,
                                     2 * bytes_of(plan_.training.gradients));
        return t;
    }

    [[nodiscard]] PassTime wide(const Product& p) const {
        PassTime t;
        t.forward = product_time(r_, p, r_.wide, kTwo, kTwo);
        t.input_grad = product_time(r_, {p.m, p.out, p.in, p.groups}, r_.wide, kTwo, kTwo);
        t.weight_grad = product_time(r_, {p.in, p.m, p.out, p.groups}, r_.wide, kTwo,
                                     2 * bytes_of(plan_.training.gradients));
        return t;
    }

    [[nodiscard]] PassTime element_wise(double bytes, double kernels) const {
        const double t = bytes / r_.hbm + kernels * r_.kernel_s;
        return {t, bytes * kBackwardFactor / r_.hbm + kernels * kBackwardKernels * r_.kernel_s, 0};
    }

    [[nodiscard]] PassTime projections() const {
        const Model& m = plan_.model;
        PassTime t;
        double kernels = 0, rotated = 0;
        if (m.attention == AttentionKind::mla && m.mla) {
            const Mla& a = *m.mla;
            const double q = static_cast<double>(a.q_lora_rank), kv = static_cast<double>(a.kv_lora_rank);
            const double rope = static_cast<double>(a.qk_rope_head_dim);
            if (q > 0) t += linear({s_.tokens, s_.hidden, q});
            t += linear({s_.tokens, q > 0 ? q : s_.hidden, s_.query});
            t += linear({s_.tokens, s_.hidden, kv + rope});
            t += linear({s_.tokens, kv, s_.heads * static_cast<double>(a.qk_nope_head_dim) + s_.value});
            t += linear({s_.tokens, s_.value, s_.hidden});
            kernels = kLatentKernels;
            rotated = s_.query + s_.key;
        } else {
            t += linear({s_.tokens, s_.hidden, s_.query + s_.key + s_.value});
            t += linear({s_.tokens, s_.query, s_.hidden});
            if (m.positions == Positions::rope) kernels = kRope, rotated = s_.query + s_.key;
            if (m.qk_norm != QkNorm::none) kernels += 2, rotated *= 2;
        }
        t += element_wise(s_.tokens * rotated * kNormBytes, kernels);
        return t;
    }

    [[nodiscard]] PassTime attention_core() const {
        if (plan_.training.attention == AttentionImpl::math) return unfused_attention();
        const double flops =
            2 * s_.tokens * keys_met(plan_.model, s_.context, true) * (s_.query + value_width());
        const double t = flops / (r_.attention * width_factor());
        return {t + r_.kernel_s, t * kFlashBackward + kBackwardKernels * r_.kernel_s, 0};
    }

    // A narrow head leaves matrix units idle beside the softmax: d / (d + 64), 1 at the usual 128 (Shah et
    // al. 2024, figures 5 and 6).
    [[nodiscard]] double width_factor() const {
        constexpr double kHalf = 64, kUsual = 128;
        const double d = s_.query / s_.heads;
        return d / (d + kHalf) * (kUsual + kHalf) / kUsual;
    }

    // Width of the probabilities-times-values product: every query head has its value head.
    [[nodiscard]] double value_width() const {
        return plan_.model.attention == AttentionKind::mla ? s_.value : s_.query;
    }

    // Scores written out and read again, the whole square: Megatron-LM before FlashAttention.
    [[nodiscard]] PassTime unfused_attention() const {
        const double groups = s_.batch * s_.heads, rows = s_.tokens / s_.batch;
        const double d = s_.query / s_.heads, dv = value_width() / s_.heads;
        const double scores = groups * rows * s_.context;
        const double drop = plan_.training.dropout ? kDropoutBytes : 0;
        const double qk = product_time(r_, {rows, d, s_.context, groups}, r_.wide, kTwo, kTwo);
        const double pv = product_time(r_, {rows, s_.context, dv, groups}, r_.wide, kTwo, kTwo);
        PassTime t;
        t.forward = qk + pv + scores * (kSoftmaxBytes + drop) / r_.hbm + kUnfusedAttention * r_.kernel_s;
        t.input_grad = 2 * (qk + pv) + scores * (kSoftmaxBytes + kTwo + drop) / r_.hbm
                       + kBackwardKernels * kUnfusedAttention * r_.kernel_s;
        return t;
    }

    [[nodiscard]] bool gated() const {
        return plan_.model.ffn_kind == FfnKind::swiglu || plan_.model.ffn_kind == FfnKind::geglu;
    }

    [[nodiscard]] PassTime mlp(double tokens, double width, double groups = 1, double factor = 1) const {
        if (width <= 0 || groups <= 0) return {};
        const double up = gated() ? 2 * width : width, each = tokens / groups;
        PassTime t = linear({each, s_.hidden, up, groups}, factor);
        t += linear({each, width, s_.hidden, groups}, factor);
        t += activation(tokens, width);
        return t;
    }
    [[nodiscard]] PassTime activation(double tokens, double width) const {
        const double up = gated() ? 2 * width : width;
        return element_wise(tokens * (up + width) * kTwo, 1);
    }
    [[nodiscard]] double etp() const {
        return static_cast<double>(plan_.layout.etp.value_or(plan_.layout.tp));
    }
    // Tokens that a rank's experts get, once for each expert.
    [[nodiscard]] double expert_copies(const Moe& e) const {
        return s_.outer * static_cast<double>(e.top_k) * plan_.training.router_imbalance * etp();
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

    // Router, the way of the tokens to their experts and back, grouped products, shared experts.
    [[nodiscard]] PassTime moe(const Moe& e) const {
        const double local = std::max(static_cast<double>(e.experts)
                                          / static_cast<double>(std::max<std::int64_t>(plan_.layout.ep, 1)),
                                      1.0);
        const double copies = expert_copies(e);
        PassTime t = wide({s_.outer, s_.hidden, static_cast<double>(e.experts)});
        t += element_wise(3 * copies / etp() * s_.hidden * kNormBytes, kRouterKernels + kPermuteKernels);
        t += mlp(copies, expert_width(e), local, r_.grouped);
        if (plan_.model.mlp_bias) t += unfused_bias(copies, expert_width(e));
        t += shared(e);
        return t;
    }

    // Grouped products add no bias on their way out, and Megatron Core fuses no gated activation with one:
    // the bias of both products, then clamp, gate and product of the two halves each read and write.
    [[nodiscard]] PassTime unfused_bias(double tokens, double width) const {
        const double up = gated() ? 2 * width : width;
        const double gate = gated() ? 4 * kNormBytes + kAddBytes : 0;
        return element_wise(tokens * ((up + s_.hidden) * kNormBytes + width * gate), gated() ? 7 : 2);
    }

    [[nodiscard]] PassTime embedding() const { return element_wise(s_.tokens * s_.hidden * kNormBytes, 1); }

    [[nodiscard]] PassTime head() const {
        const double vocab = static_cast<double>(plan_.model.vocab) / s_.tp;
        PassTime t = wide({s_.tokens, s_.hidden, vocab});
        t += element_wise(s_.outer * s_.hidden * kNormBytes, 1);
        t.forward += s_.tokens * vocab * kLossForward / r_.hbm;
        t.input_grad += s_.tokens * vocab * kLossBackward / r_.hbm;
        return t;
    }

    const Plan& plan_;
    Rates r_;
    Sizes s_;
};

}  // namespace

Rates find_rates(const Plan& plan) {
    const Gpu& g = plan.cluster.gpu;
    const Efficiency& e = g.efficiency;
    Rates r;
    r.wide = g.flops.bf16 * e.gemm;
    r.attention = g.flops.bf16 * e.attention;
    r.hbm = g.hbm_bytes_per_s * e.hbm;
    r.kernel_s = e.kernel_s;
    r.grouped = e.grouped;
    r.peak = g.flops.bf16;
    r.linear = r.wide;
    const auto low = [&](double peak, double share, double bytes) {
        if (peak <= 0) return;  // no such type on this GPU: it runs in 16 bits
        r.peak = peak;
        r.linear = peak * share;
        r.operand = bytes;
        r.cast_bytes = kTwo + 2 * bytes;  // read, written row-wise and column-wise
    };
    switch (plan.training.compute) {
    case Dtype::fp8: low(g.flops.fp8, e.gemm_fp8, 1); break;
    case Dtype::fp4: low(g.flops.fp4, e.gemm_fp4, 0.5); break;
    case Dtype::fp16: r.peak = g.flops.fp16, r.linear = r.wide = g.flops.fp16 * e.gemm; break;
    case Dtype::fp32:
    case Dtype::tf32:
        r.peak = g.flops.tf32 > 0 ? g.flops.tf32 : g.flops.bf16;
        r.linear = r.wide = r.peak * e.gemm;
        r.operand = 4;
        break;
    case Dtype::bf16: break;
    }
    return r;
}

double product_time(const Rates& r, const Product& p, double rate, double operand, double result_bytes) {
    const double bytes = (p.m * p.in + p.in * p.out) * operand + p.m * p.out * result_bytes;
    return p.groups * (2 * p.m * p.in * p.out / rate + bytes / r.hbm) + r.kernel_s;
}

LayerTimes time_layers(const Plan& plan) {
    return Layer(plan).time();
}

double keys_met(const Model& m, double context, bool causal) {
    const double full = causal ? context / 2 : context, w = static_cast<double>(m.sliding_window);
    if (w <= 0 || w >= context) return full;
    return causal ? w - w * w / (2 * context) : w;
}

ForwardFlops forward_flops(const Model& m, std::int64_t sequence_length) {
    ForwardFlops f;
    const double s = static_cast<double>(sequence_length);
    visit_tensors(m, [&](const Tensor& t) {
        if (!t.is_matrix() || t.place == Place::embedding || t.place == Place::head) return;
        double copies = static_cast<double>(t.copies);
        if (t.per_expert && m.moe) copies = std::min(copies, static_cast<double>(m.moe->top_k));
        f.layers += 2 * s * static_cast<double>(t.rows) * static_cast<double>(t.cols) * copies
                    * static_cast<double>(times(m, t.place));
    });
    const double keys = keys_met(m, s, false);
    double width = 2 * static_cast<double>(m.head_dim);
    if (m.attention == AttentionKind::mla && m.mla)
        width = static_cast<double>(m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim + m.mla->v_head_dim);
    f.attention =
        2 * s * keys * static_cast<double>(m.heads) * width * static_cast<double>(m.layers + m.mtp_layers);
    f.layers += f.attention;
    f.head = 2 * s * static_cast<double>(m.hidden) * static_cast<double>(m.vocab)
             * static_cast<double>(1 + m.mtp_layers);
    return f;
}

StateBytes optimizer_traffic(const Training& t) {
    const StateBytes states = optimizer_bytes(t), master = master_bytes(t), parameter = parameter_bytes(t);
    const auto moved = [&](double state, double copy, double own) {
        return 2 * bytes_of(t.gradients) + 2 * state + (copy > 0 ? 1 : 2) * own;
    };
    return {moved(states.linear, master.linear, parameter.linear),
            moved(states.router, master.router, parameter.router),
            moved(states.other, master.other, parameter.other)};
}

double optimizer_time(const Plan& plan, const StageNumbers& numbers, const StateShards& shards) {
    const StateBytes bytes = optimizer_traffic(plan.training);
    const double moved = bytes.of(numbers.dense) / static_cast<double>(shards.optimizer[0])
                         + bytes.of(numbers.experts) / static_cast<double>(shards.optimizer[1]);
    return moved / (plan.cluster.gpu.hbm_bytes_per_s * plan.cluster.gpu.efficiency.hbm);
}

}  // namespace pentamesh
