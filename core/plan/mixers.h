// Lists the mixers that scan in the place of attention: what each is made of stands here, and only here. A
// mixer has its kind (or its sizes), the names of its tensors, and one function that shows a visitor its
// weights, what it keeps and what it computes. ScanVisitor (core/model/model.h) says what can be seen.
#pragma once

#include "core/base/number.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace pentamesh {

// Linear attention has a state of fixed size in the place of keys and values.
//   gated_delta: Yang, Kautz, Hatamizadeh 2024; as in Qwen3-Next.
//   kimi_delta:  Kimi Team 2025 (Kimi Linear), a decay per channel.
//   lightning:   Qin et al. 2024; as in MiniMax-01 and Ring-linear.
//   short_conv:  a gated convolution over a few tokens (LFM2); `key_heads` and dims are not used.
enum class LinearKind : std::uint8_t { gated_delta, kimi_delta, lightning, short_conv };
inline constexpr std::array<std::string_view, 4> kLinearKindNames{"gated_delta", "kimi_delta", "lightning",
                                                                  "short_conv"};
struct Linear {
    LinearKind kind = LinearKind::gated_delta;
    std::int64_t key_heads = 0, value_heads = 0;
    std::int64_t key_head_dim = 0, value_head_dim = 0;
    std::int64_t conv = 0;   // tokens that the convolution spans; 0: none
    bool conv_bias = false;  // short_conv: of the projections too
    bool qk_norm = false;    // weights for norms of a head's queries and keys
    bool operator==(const Linear&) const = default;
};

// This is a state-space mixer: Gu, Dao 2023 (Mamba, version 1), Dao, Gu 2024 (Mamba-2, version 2).
struct Mamba {
    std::int64_t version = 2;
    std::int64_t inner = 0;              // width inside the mixer; version 2: heads times the head's
    std::int64_t state = 0;              // numbers of state per inner channel
    std::int64_t heads = 0, groups = 1;  // version 2: B and C are shared inside a group
    std::int64_t conv = 4;
    std::int64_t dt_rank = 0;  // version 1
    bool conv_bias = true, bias = false;
    bool norm = true;  // version 2: a gated norm; version 1: norms of dt, B and C (Jamba)
    bool operator==(const Mamba&) const = default;
};

// Lists their tensors: enumerator of TensorId, module, name.
#define PENTAMESH_MIXER_TENSORS(T)                                                                           \
    T(mixer_gate_in, mixer, "mixer.gate_in")                                                                 \
    T(mixer_gate_out, mixer, "mixer.gate_out")                                                               \
    T(mixer_x, mixer, "mixer.x")                                                                             \
    T(mixer_conv, mixer, "mixer.conv")                                                                       \
    T(mixer_conv_bias, mixer, "mixer.conv.bias")                                                             \
    T(mixer_output, mixer, "mixer.output")                                                                   \
    T(mixer_in_bias, mixer, "mixer.in.bias")                                                                 \
    T(mixer_output_bias, mixer, "mixer.output.bias")                                                         \
    T(mixer_q, mixer, "mixer.q")                                                                             \
    T(mixer_k, mixer, "mixer.k")                                                                             \
    T(mixer_v, mixer, "mixer.v")                                                                             \
    T(mixer_gate, mixer, "mixer.gate")                                                                       \
    T(mixer_norm, mixer, "mixer.norm")                                                                       \
    T(mixer_norm_q, mixer, "mixer.norm.q")                                                                   \
    T(mixer_norm_k, mixer, "mixer.norm.k")                                                                   \
    T(mixer_conv_q, mixer, "mixer.conv.q")                                                                   \
    T(mixer_conv_q_bias, mixer, "mixer.conv.q.bias")                                                         \
    T(mixer_conv_k, mixer, "mixer.conv.k")                                                                   \
    T(mixer_conv_k_bias, mixer, "mixer.conv.k.bias")                                                         \
    T(mixer_conv_v, mixer, "mixer.conv.v")                                                                   \
    T(mixer_conv_v_bias, mixer, "mixer.conv.v.bias")                                                         \
    T(mixer_beta, mixer, "mixer.beta")                                                                       \
    T(mixer_a_log, mixer, "mixer.a_log")                                                                     \
    T(mixer_decay, mixer, "mixer.decay")                                                                     \
    T(mixer_dt_bias, mixer, "mixer.dt_bias")                                                                 \
    T(mixer_decay_down, mixer, "mixer.decay_down")                                                           \
    T(mixer_decay_up, mixer, "mixer.decay_up")                                                               \
    T(mixer_gate_down, mixer, "mixer.gate_down")                                                             \
    T(mixer_gate_up, mixer, "mixer.gate_up")                                                                 \
    T(mixer_convolved, mixer, "mixer.convolved")                                                             \
    T(mixer_q_convolved, mixer, "mixer.q.convolved")                                                         \
    T(mixer_k_convolved, mixer, "mixer.k.convolved")                                                         \
    T(mixer_v_convolved, mixer, "mixer.v.convolved")                                                         \
    T(mixer_solved, mixer, "mixer.solved")                                                                   \
    T(mixer_scanned, mixer, "mixer.scanned")                                                                 \
    T(mamba_z, mamba, "mamba.z")                                                                             \
    T(mamba_x, mamba, "mamba.x")                                                                             \
    T(mamba_conv, mamba, "mamba.conv")                                                                       \
    T(mamba_conv_bias, mamba, "mamba.conv.bias")                                                             \
    T(mamba_b, mamba, "mamba.b")                                                                             \
    T(mamba_c, mamba, "mamba.c")                                                                             \
    T(mamba_dt, mamba, "mamba.dt")                                                                           \
    T(mamba_conv_b, mamba, "mamba.conv.b")                                                                   \
    T(mamba_conv_b_bias, mamba, "mamba.conv.b.bias")                                                         \
    T(mamba_conv_c, mamba, "mamba.conv.c")                                                                   \
    T(mamba_conv_c_bias, mamba, "mamba.conv.c.bias")                                                         \
    T(mamba_dt_bias, mamba, "mamba.dt.bias")                                                                 \
    T(mamba_a_log, mamba, "mamba.a_log")                                                                     \
    T(mamba_d, mamba, "mamba.d")                                                                             \
    T(mamba_norm, mamba, "mamba.norm")                                                                       \
    T(mamba_x_to_dt, mamba, "mamba.x_to_dt")                                                                 \
    T(mamba_x_to_b, mamba, "mamba.x_to_b")                                                                   \
    T(mamba_x_to_c, mamba, "mamba.x_to_c")                                                                   \
    T(mamba_norm_dt, mamba, "mamba.norm.dt")                                                                 \
    T(mamba_norm_b, mamba, "mamba.norm.b")                                                                   \
    T(mamba_norm_c, mamba, "mamba.norm.c")                                                                   \
    T(mamba_output, mamba, "mamba.output")                                                                   \
    T(mamba_in_bias, mamba, "mamba.in.bias")                                                                 \
    T(mamba_output_bias, mamba, "mamba.output.bias")                                                         \
    T(mamba_scanned, mamba, "mamba.scanned")

inline constexpr double kStateBytes = 4;  // of a number of state, fp32

// Weights have the shapes of the released checkpoints, with fused projections and convolutions given apart.
// Kept are the tensors that the published kernels save: they recompute the states instead of keeping
// them. Operations are those of the forward, for one token and all heads, without projections; docs/step.md,
// "Layers without attention", has the formulas and their limits.

// A convolution over `span` tokens of these channels, of which `unit` stay together.
template <typename Id, typename S>
void visit_conv(Id weight, Id bias, std::int64_t channels, std::int64_t unit, std::int64_t span,
                bool has_bias, S& s) {
    s.columns(weight, saturating_product(channels, span), unit * std::max<std::int64_t>(span, 1));
    if (has_bias) s.columns(bias, channels, unit);
}

// Liquid AI 2025 (LFM2): two gates and the convolution's input.
template <typename S>
void visit_short_conv(const Linear& a, std::int64_t hidden, S& s) {
    using Id = typename S::Id;  // TensorId, which is made of the list above
    s.divides(hidden, "channels of a convolution");
    s.input(Id::mixer_gate_in, hidden);
    s.input(Id::mixer_gate_out, hidden);
    s.input(Id::mixer_x, hidden);
    visit_conv(Id::mixer_conv, Id::mixer_conv_bias, hidden, 1, a.conv, a.conv_bias, s);
    s.output(Id::mixer_output, hidden);
    if (a.conv_bias) {
        s.columns(Id::mixer_in_bias, saturating_product(3, hidden));
        s.whole(Id::mixer_output_bias, hidden);
    }
    for (const Id id : {Id::mixer_gate_in, Id::mixer_gate_out, Id::mixer_x, Id::mixer_convolved})
        s.keeps(id, hidden, 1);
    s.keeps_output(Id::mixer_output, hidden, 1);
    s.works({2 * number(a.conv) * number(hidden), 0, 0});
}

// Qin et al. 2024, section 3.2, with blocks of 256. There are as many query heads as value heads of the
// output. Kept: flash-linear-attention, ops/lightning_attn.
template <typename S>
void visit_lightning(const Linear& a, S& s) {
    using Id = typename S::Id;
    const std::int64_t dk = a.key_head_dim, dv = a.value_head_dim;
    const std::int64_t keys = saturating_product(a.key_heads, dk);
    const std::int64_t values = saturating_product(a.value_heads, dv);
    s.divides(a.key_heads, "key heads of linear attention");
    s.divides(a.value_heads, "value heads of linear attention");
    s.input(Id::mixer_q, values, dv);
    s.input(Id::mixer_k, keys, dk);
    s.input(Id::mixer_v, keys, dk);
    s.input(Id::mixer_gate, values, dv);
    s.columns(Id::mixer_norm, values, dv);
    if (a.qk_norm) s.whole(Id::mixer_norm_q, dk), s.whole(Id::mixer_norm_k, dk);
    s.output(Id::mixer_output, values, dv);
    s.keeps(Id::mixer_q, a.value_heads, dv);
    s.keeps(Id::mixer_k, a.key_heads, dk);
    s.keeps(Id::mixer_v, a.key_heads, dk);
    s.keeps(Id::mixer_gate, a.value_heads, dv);
    s.keeps(Id::mixer_scanned, a.value_heads, dv);
    s.keeps_output(Id::mixer_output, a.value_heads, dv);
    constexpr double kBlock = 256;
    const double width = number(a.value_heads) * number(dv), d = number(dv);
    s.works({4 * width * d, 4 * kBlock * width + 4 * width * d, 2 * kStateBytes * width * d / kBlock});
}

// For delta nets the recurrence is 4 products of a head's state (Megatron-LM training.py, "gated delta
// rule"). Chunks of 64 tokens, Yang et al. 2024 (Gated DeltaNet), section 3.3. Kept: flash-linear-attention,
// ops/gated_delta_rule/chunk.py and ops/kda/chunk.py, with the inputs of the convolutions and the gated norm.
// Kimi Team 2025, section 3, has decay and gate of low rank, and a decay for each channel of the keys.
template <typename S>
void visit_delta(const Linear& a, bool kimi, S& s) {
    using Id = typename S::Id;
    const std::int64_t dk = a.key_head_dim, dv = a.value_head_dim, heads = a.value_heads;
    const std::int64_t keys = saturating_product(a.key_heads, dk), values = saturating_product(heads, dv);
    s.divides(a.key_heads, "key heads of linear attention");
    s.divides(heads, "value heads of linear attention");
    s.input(Id::mixer_q, keys, dk);
    s.input(Id::mixer_k, keys, dk);
    s.input(Id::mixer_v, values, dv);
    visit_conv(Id::mixer_conv_q, Id::mixer_conv_q_bias, keys, dk, a.conv, a.conv_bias, s);
    visit_conv(Id::mixer_conv_k, Id::mixer_conv_k_bias, keys, dk, a.conv, a.conv_bias, s);
    visit_conv(Id::mixer_conv_v, Id::mixer_conv_v_bias, values, dv, a.conv, a.conv_bias, s);
    s.input(Id::mixer_beta, heads);
    s.columns(Id::mixer_a_log, heads);
    if (kimi) {
        s.low_rank(Id::mixer_decay_down, Id::mixer_decay_up, dk, keys, dk);
        s.columns(Id::mixer_dt_bias, keys, dk);
        s.low_rank(Id::mixer_gate_down, Id::mixer_gate_up, dv, values, dv);
    } else {
        s.input(Id::mixer_gate, values, dv);
        s.input(Id::mixer_decay, heads);
        s.columns(Id::mixer_dt_bias, heads);
    }
    s.whole(Id::mixer_norm, dv);
    s.output(Id::mixer_output, values, dv);

    constexpr std::int64_t kChunk = 64;  // tokens of which one triangular system is solved and kept
    s.keeps(Id::mixer_q, a.key_heads, dk);
    s.keeps(Id::mixer_k, a.key_heads, dk);
    s.keeps(Id::mixer_v, heads, dv);
    if (a.conv > 0) {
        s.keeps(Id::mixer_q_convolved, a.key_heads, dk);
        s.keeps(Id::mixer_k_convolved, a.key_heads, dk);
        s.keeps(Id::mixer_v_convolved, heads, dv);
    }
    s.keeps(Id::mixer_beta, heads, 1);
    s.keeps(Id::mixer_decay, kimi ? a.key_heads : heads, kimi ? dk : 1);
    s.keeps(Id::mixer_solved, heads, kChunk);
    s.keeps(Id::mixer_gate, heads, dv);
    s.keeps(Id::mixer_scanned, heads, dv);
    s.keeps_output(Id::mixer_output, heads, dv);

    // The kernel's sum has keys on keys and queries on keys, both sides of the solved system, values in the
    // chunk, three products with the state.
    const double state = number(heads) * number(dv) * number(dk);
    const double convolved = 2 * (number(a.key_heads) * number(dk)) + number(heads) * number(dv);
    s.works({8 * state + 2 * number(a.conv) * convolved,
             kChunk * number(heads) * (6 * number(dk) + 4 * number(dv)) + 6 * state,
             2 * kStateBytes * state / kChunk});
}

template <typename S>
void visit_scan(const Linear& a, std::int64_t hidden, S& s) {
    switch (a.kind) {
    case LinearKind::gated_delta: return visit_delta(a, false, s);
    case LinearKind::kimi_delta: return visit_delta(a, true, s);
    case LinearKind::lightning: return visit_lightning(a, s);
    case LinearKind::short_conv: return visit_short_conv(a, hidden, s);
    }
}

// Gu, Dao 2023: dt, B and C are made of x after the exchange over cp. Nothing runs on matrix units: the
// kernel goes element by element. Kept: mamba_ssm, ops/selective_scan_interface.py, MambaInnerFn with
// checkpoint_lvl 1: the products by which x makes dt, B and C are sums over tp, whole on each rank.
template <typename S>
void visit_mamba_1(const Mamba& a, S& s) {
    using Id = typename S::Id;
    s.divides(a.inner, "Mamba channels");
    s.input(Id::mamba_z, a.inner);
    s.input(Id::mamba_x, a.inner);
    visit_conv(Id::mamba_conv, Id::mamba_conv_bias, a.inner, 1, a.conv, a.conv_bias, s);
    s.from_channels(Id::mamba_x_to_dt, a.dt_rank, a.inner);
    s.from_channels(Id::mamba_x_to_b, a.state, a.inner);
    s.from_channels(Id::mamba_x_to_c, a.state, a.inner);
    s.to_channels(Id::mamba_dt, a.dt_rank, a.inner);
    s.columns(Id::mamba_dt_bias, a.inner);
    s.columns(Id::mamba_a_log, saturating_product(a.inner, a.state), a.state);
    s.columns(Id::mamba_d, a.inner);
    if (a.norm) {
        s.whole(Id::mamba_norm_dt, a.dt_rank);
        s.whole(Id::mamba_norm_b, a.state);
        s.whole(Id::mamba_norm_c, a.state);
    }
    s.output(Id::mamba_output, a.inner);
    if (a.bias) s.columns(Id::mamba_in_bias, saturating_product(2, a.inner));
    s.keeps(Id::mamba_z, a.inner, 1);
    s.keeps(Id::mamba_x, a.inner, 1);
    s.keeps(Id::mamba_dt, 1, a.dt_rank);
    s.keeps(Id::mamba_b, 1, a.state);
    s.keeps(Id::mamba_c, 1, a.state);
    s.keeps(Id::mamba_scanned, a.inner, 1);
    s.keeps_output(Id::mamba_output, a.inner, 1);
    // For Mamba it is 7 numbers of work for each number of state (Megatron-LM training.py,
    // mamba_layer_flops).
    s.works({7 * number(a.inner) * number(a.state) + 2 * number(a.conv) * number(a.inner), 0, 0});
}

// Dao, Gu 2024, section 6: C B^T in a chunk, its product with x, chunk states in and out. Kept: mamba_ssm,
// ops/triton/ssd_combined.py, saves of MambaSplitConv1dScanCombinedFn.
template <typename S>
void visit_mamba_2(const Mamba& a, S& s) {
    using Id = typename S::Id;
    const std::int64_t head = a.heads > 0 ? std::max<std::int64_t>(a.inner / a.heads, 1) : 1;
    const std::int64_t shared = saturating_product(a.groups, a.state);
    s.divides(a.heads, "Mamba heads");
    s.divides(a.groups, "Mamba groups", true);
    s.input(Id::mamba_z, a.inner, head);
    s.input(Id::mamba_x, a.inner, head);
    visit_conv(Id::mamba_conv, Id::mamba_conv_bias, a.inner, head, a.conv, a.conv_bias, s);
    s.input(Id::mamba_b, shared, a.state);
    s.input(Id::mamba_c, shared, a.state);
    s.input(Id::mamba_dt, a.heads);
    visit_conv(Id::mamba_conv_b, Id::mamba_conv_b_bias, shared, a.state, a.conv, a.conv_bias, s);
    visit_conv(Id::mamba_conv_c, Id::mamba_conv_c_bias, shared, a.state, a.conv, a.conv_bias, s);
    s.columns(Id::mamba_dt_bias, a.heads);
    s.columns(Id::mamba_a_log, a.heads);
    s.columns(Id::mamba_d, a.heads);
    if (a.norm) s.columns(Id::mamba_norm, a.inner, head);
    s.output(Id::mamba_output, a.inner, head);
    if (a.bias)
        s.columns(Id::mamba_in_bias, saturating_sum(saturating_product(2, a.inner),
                                                    saturating_sum(saturating_product(2, shared), a.heads)));
    s.keeps(Id::mamba_z, a.inner, 1);
    s.keeps(Id::mamba_x, a.inner, 1);
    s.keeps(Id::mamba_b, a.groups, a.state);
    s.keeps(Id::mamba_c, a.groups, a.state);
    s.keeps(Id::mamba_dt, a.heads, 1);
    s.keeps(Id::mamba_scanned, a.inner, 1);
    s.keeps_output(Id::mamba_output, a.inner, 1);
    constexpr double kChunk = 256;
    const double inner = number(a.inner), state = number(a.state), of_groups = number(a.groups) * state;
    s.works({7 * inner * state + 2 * number(a.conv) * (inner + 2 * of_groups),
             2 * kChunk * of_groups + 2 * kChunk * inner + 4 * state * inner,
             2 * kStateBytes * inner * state / kChunk});
}

template <typename S>
void visit_scan(const Mamba& a, std::int64_t hidden, S& s) {
    a.version == 1 ? visit_mamba_1(a, s) : visit_mamba_2(a, s);
    if (a.bias) s.whole(S::Id::mamba_output_bias, hidden);
}

}  // namespace pentamesh
