// The tensors of what stands for attention in linear and Mamba layers. Shapes are those of the released
// checkpoints, with fused projections and convolutions given apart.
#pragma once

#include "core/model/model.h"

#include <algorithm>

namespace pentamesh {

// Calls put(name, cut, rows, cols, unit). Tensor parallelism cuts by heads (Megatron-LM ssm/mamba_mixer.py,
// ssm/gated_delta_net.py): columns in, rows out, convolutions and states with their channels.
template <typename F>
void visit_linear(const Linear& a, std::int64_t hidden, F&& put) {
    using i64 = std::int64_t;
    const i64 dk = a.key_head_dim, dv = a.value_head_dim;
    const i64 keys = saturating_product(a.key_heads, dk), values = saturating_product(a.value_heads, dv);
    const TpCut column = TpCut::column, none = TpCut::none;
    const auto conv = [&](std::string_view name, std::string_view bias, i64 channels, i64 unit) {
        put(name, column, saturating_product(channels, a.conv), 1, unit * std::max<i64>(a.conv, 1));
        if (a.conv_bias) put(bias, column, channels, 1, unit);
    };
    if (a.kind == LinearKind::short_conv) {  // Liquid AI 2025 (LFM2): two gates and the convolution's input
        put("mixer.gate_in", column, hidden, hidden);
        put("mixer.gate_out", column, hidden, hidden);
        put("mixer.x", column, hidden, hidden);
        conv("mixer.conv", "mixer.conv.bias", hidden, 1);
        put("mixer.output", TpCut::row, hidden, hidden);
        if (a.conv_bias) {
            put("mixer.in.bias", column, saturating_product(3, hidden));
            put("mixer.output.bias", none, hidden);
        }
        return;
    }
    if (a.kind == LinearKind::lightning) {  // as many query heads as value heads of the output
        put("mixer.q", column, values, hidden, dv);
        put("mixer.k", column, keys, hidden, dk);
        put("mixer.v", column, keys, hidden, dk);
        put("mixer.gate", column, values, hidden, dv);
        put("mixer.norm", column, values, 1, dv);
        if (a.qk_norm) put("mixer.norm.q", none, dk), put("mixer.norm.k", none, dk);
        put("mixer.output", TpCut::row, hidden, values, dv);
        return;
    }
    put("mixer.q", column, keys, hidden, dk);
    put("mixer.k", column, keys, hidden, dk);
    put("mixer.v", column, values, hidden, dv);
    conv("mixer.conv.q", "mixer.conv.q.bias", keys, dk);
    conv("mixer.conv.k", "mixer.conv.k.bias", keys, dk);
    conv("mixer.conv.v", "mixer.conv.v.bias", values, dv);
    put("mixer.beta", column, a.value_heads, hidden);
    put("mixer.a_log", column, a.value_heads);
    if (a.kind == LinearKind::gated_delta) {
        put("mixer.gate", column, values, hidden, dv);
        put("mixer.decay", column, a.value_heads, hidden);
        put("mixer.dt_bias", column, a.value_heads);
    } else {  // Kimi Team 2025, section 3: decay and gate of low rank, a decay for each channel of the keys
        put("mixer.decay_down", none, dk, hidden);
        put("mixer.decay_up", column, keys, dk, dk);
        put("mixer.dt_bias", column, keys, 1, dk);
        put("mixer.gate_down", none, dv, hidden);
        put("mixer.gate_up", column, values, dv, dv);
    }
    put("mixer.norm", none, dv);
    put("mixer.output", TpCut::row, hidden, values, dv);
}

template <typename F>
void visit_mamba(const Mamba& a, std::int64_t hidden, F&& put) {
    using i64 = std::int64_t;
    const TpCut column = TpCut::column, none = TpCut::none;
    const bool second = a.version != 1;
    const i64 unit = second && a.heads > 0 ? std::max<i64>(a.inner / a.heads, 1) : 1;
    const auto conv = [&](std::string_view name, std::string_view bias, i64 channels, i64 together) {
        put(name, column, saturating_product(channels, a.conv), 1, together * a.conv);
        if (a.conv_bias) put(bias, column, channels, 1, together);
    };
    put("mamba.z", column, a.inner, hidden, unit);
    put("mamba.x", column, a.inner, hidden, unit);
    conv("mamba.conv", "mamba.conv.bias", a.inner, unit);
    if (second) {
        const i64 shared = saturating_product(a.groups, a.state);
        put("mamba.b", column, shared, hidden, a.state);
        put("mamba.c", column, shared, hidden, a.state);
        put("mamba.dt", column, a.heads, hidden);
        conv("mamba.conv.b", "mamba.conv.b.bias", shared, a.state);
        conv("mamba.conv.c", "mamba.conv.c.bias", shared, a.state);
        put("mamba.dt.bias", column, a.heads);
        put("mamba.a_log", column, a.heads);
        put("mamba.d", column, a.heads);
        if (a.norm) put("mamba.norm", column, a.inner, 1, unit);
    } else {
        put("mamba.x_to_dt", TpCut::row, a.dt_rank, a.inner);
        put("mamba.x_to_b", TpCut::row, a.state, a.inner);
        put("mamba.x_to_c", TpCut::row, a.state, a.inner);
        put("mamba.dt", column, a.inner, a.dt_rank);
        put("mamba.dt.bias", column, a.inner);
        put("mamba.a_log", column, saturating_product(a.inner, a.state), 1, a.state);
        put("mamba.d", column, a.inner);
        if (a.norm)
            put("mamba.norm.dt", none, a.dt_rank), put("mamba.norm.b", none, a.state),
                put("mamba.norm.c", none, a.state);
    }
    put("mamba.output", TpCut::row, hidden, a.inner, unit);
    if (!a.bias) return;
    put("mamba.in.bias", column,
        saturating_sum(
            saturating_product(2, a.inner),
            second ? saturating_sum(saturating_product(2, saturating_product(a.groups, a.state)), a.heads)
                   : 0));
    put("mamba.output.bias", none, hidden);
}

}  // namespace pentamesh
