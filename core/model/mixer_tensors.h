// Lists the tensors that linear and Mamba layers have in the place of attention. Shapes are those of the
// released checkpoints, with fused projections and convolutions given apart.
#pragma once

#include "core/model/model.h"

#include <algorithm>

namespace pentamesh {

// Calls put(id, cut, rows, cols, unit). Tensor parallelism cuts by heads (Megatron-LM ssm/mamba_mixer.py,
// ssm/gated_delta_net.py): columns in, rows out, convolutions and states with their channels.
template <typename F>
void visit_linear(const Linear& a, std::int64_t hidden, F&& put) {
    using i64 = std::int64_t;
    const i64 dk = a.key_head_dim, dv = a.value_head_dim;
    const i64 keys = saturating_product(a.key_heads, dk), values = saturating_product(a.value_heads, dv);
    const TpCut column = TpCut::column, none = TpCut::none;
    const auto conv = [&](TensorId id, TensorId bias, i64 channels, i64 unit) {
        put(id, column, saturating_product(channels, a.conv), 1, unit * std::max<i64>(a.conv, 1));
        if (a.conv_bias) put(bias, column, channels, 1, unit);
    };
    if (a.kind == LinearKind::short_conv) {  // Liquid AI 2025 (LFM2): two gates and the convolution's input
        put(TensorId::mixer_gate_in, column, hidden, hidden);
        put(TensorId::mixer_gate_out, column, hidden, hidden);
        put(TensorId::mixer_x, column, hidden, hidden);
        conv(TensorId::mixer_conv, TensorId::mixer_conv_bias, hidden, 1);
        put(TensorId::mixer_output, TpCut::row, hidden, hidden);
        if (a.conv_bias) {
            put(TensorId::mixer_in_bias, column, saturating_product(3, hidden));
            put(TensorId::mixer_output_bias, none, hidden);
        }
        return;
    }
    if (a.kind == LinearKind::lightning) {  // as many query heads as value heads of the output
        put(TensorId::mixer_q, column, values, hidden, dv);
        put(TensorId::mixer_k, column, keys, hidden, dk);
        put(TensorId::mixer_v, column, keys, hidden, dk);
        put(TensorId::mixer_gate, column, values, hidden, dv);
        put(TensorId::mixer_norm, column, values, 1, dv);
        if (a.qk_norm) put(TensorId::mixer_norm_q, none, dk), put(TensorId::mixer_norm_k, none, dk);
        put(TensorId::mixer_output, TpCut::row, hidden, values, dv);
        return;
    }
    put(TensorId::mixer_q, column, keys, hidden, dk);
    put(TensorId::mixer_k, column, keys, hidden, dk);
    put(TensorId::mixer_v, column, values, hidden, dv);
    conv(TensorId::mixer_conv_q, TensorId::mixer_conv_q_bias, keys, dk);
    conv(TensorId::mixer_conv_k, TensorId::mixer_conv_k_bias, keys, dk);
    conv(TensorId::mixer_conv_v, TensorId::mixer_conv_v_bias, values, dv);
    put(TensorId::mixer_beta, column, a.value_heads, hidden);
    put(TensorId::mixer_a_log, column, a.value_heads);
    if (a.kind == LinearKind::gated_delta) {
        put(TensorId::mixer_gate, column, values, hidden, dv);
        put(TensorId::mixer_decay, column, a.value_heads, hidden);
        put(TensorId::mixer_dt_bias, column, a.value_heads);
    } else {  // Kimi Team 2025, section 3: decay and gate of low rank, a decay for each channel of the keys
        put(TensorId::mixer_decay_down, none, dk, hidden);
        put(TensorId::mixer_decay_up, column, keys, dk, dk);
        put(TensorId::mixer_dt_bias, column, keys, 1, dk);
        put(TensorId::mixer_gate_down, none, dv, hidden);
        put(TensorId::mixer_gate_up, column, values, dv, dv);
    }
    put(TensorId::mixer_norm, none, dv);
    put(TensorId::mixer_output, TpCut::row, hidden, values, dv);
}

template <typename F>
void visit_mamba(const Mamba& a, std::int64_t hidden, F&& put) {
    using i64 = std::int64_t;
    const TpCut column = TpCut::column, none = TpCut::none;
    const bool second = a.version != 1;
    const i64 unit = second && a.heads > 0 ? std::max<i64>(a.inner / a.heads, 1) : 1;
    const auto conv = [&](TensorId id, TensorId bias, i64 channels, i64 together) {
        put(id, column, saturating_product(channels, a.conv), 1, together * a.conv);
        if (a.conv_bias) put(bias, column, channels, 1, together);
    };
    put(TensorId::mamba_z, column, a.inner, hidden, unit);
    put(TensorId::mamba_x, column, a.inner, hidden, unit);
    conv(TensorId::mamba_conv, TensorId::mamba_conv_bias, a.inner, unit);
    if (second) {
        const i64 shared = saturating_product(a.groups, a.state);
        put(TensorId::mamba_b, column, shared, hidden, a.state);
        put(TensorId::mamba_c, column, shared, hidden, a.state);
        put(TensorId::mamba_dt, column, a.heads, hidden);
        conv(TensorId::mamba_conv_b, TensorId::mamba_conv_b_bias, shared, a.state);
        conv(TensorId::mamba_conv_c, TensorId::mamba_conv_c_bias, shared, a.state);
        put(TensorId::mamba_dt_bias, column, a.heads);
        put(TensorId::mamba_a_log, column, a.heads);
        put(TensorId::mamba_d, column, a.heads);
        if (a.norm) put(TensorId::mamba_norm, column, a.inner, 1, unit);
    } else {
        put(TensorId::mamba_x_to_dt, TpCut::row, a.dt_rank, a.inner);
        put(TensorId::mamba_x_to_b, TpCut::row, a.state, a.inner);
        put(TensorId::mamba_x_to_c, TpCut::row, a.state, a.inner);
        put(TensorId::mamba_dt, column, a.inner, a.dt_rank);
        put(TensorId::mamba_dt_bias, column, a.inner);
        put(TensorId::mamba_a_log, column, saturating_product(a.inner, a.state), 1, a.state);
        put(TensorId::mamba_d, column, a.inner);
        if (a.norm)
            put(TensorId::mamba_norm_dt, none, a.dt_rank), put(TensorId::mamba_norm_b, none, a.state),
                put(TensorId::mamba_norm_c, none, a.state);
    }
    put(TensorId::mamba_output, TpCut::row, hidden, a.inner, unit);
    if (!a.bias) return;
    put(TensorId::mamba_in_bias, column,
        saturating_sum(
            saturating_product(2, a.inner),
            second ? saturating_sum(saturating_product(2, saturating_product(a.groups, a.state)), a.heads)
                   : 0));
    put(TensorId::mamba_output_bias, none, hidden);
}

}  // namespace pentamesh
