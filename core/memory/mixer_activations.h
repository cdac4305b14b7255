// Lists what linear and Mamba layers keep for their backward pass: the tensors that the published kernels
// save. They recompute the states of the scan instead of keeping them.
#pragma once

#include "core/model/local_shard.h"

#include <string_view>

namespace pentamesh {

// Calls put(id, width, local width, wide, symbol): numbers per token before and after tp; `wide` says that it
// has 16 bits in any compute type, otherwise it is a product's input.
// Mamba-2: mamba_ssm, ops/triton/ssd_combined.py, saves of MambaSplitConv1dScanCombinedFn.
// Mamba: mamba_ssm, ops/selective_scan_interface.py, MambaInnerFn with checkpoint_lvl 1.
// Delta nets: flash-linear-attention, ops/gated_delta_rule/chunk.py and ops/kda/chunk.py, with the inputs of
// the convolutions and the gated norm. Lightning: flash-linear-attention, ops/lightning_attn.
template <typename F>
void visit_mamba_activations(const Mamba& a, std::int64_t tp, F&& put) {
    const std::int64_t inner = divide_up(a.inner, tp);
    put(TensorId::mamba_z, a.inner, inner, true, "d_i");
    put(TensorId::mamba_x, a.inner, inner, true, "d_i");
    if (a.version != 1) {
        const std::int64_t shared = saturating_product(a.groups, a.state);
        const std::int64_t own = saturating_product(divide_up(a.groups, tp), a.state);
        put(TensorId::mamba_b, shared, own, true, "g n");
        put(TensorId::mamba_c, shared, own, true, "g n");
        put(TensorId::mamba_dt, a.heads, divide_up(a.heads, tp), true, "a_m");
    } else {  // after the products by which x makes them: the sums over tp are whole on each rank
        put(TensorId::mamba_dt, a.dt_rank, a.dt_rank, true, "r_dt");
        put(TensorId::mamba_b, a.state, a.state, true, "n");
        put(TensorId::mamba_c, a.state, a.state, true, "n");
    }
    put(TensorId::mamba_scanned, a.inner, inner, true, "d_i");
    put(TensorId::mamba_output, a.inner, inner, false, "d_i");
}

template <typename F>
void visit_linear_activations(const Linear& a, std::int64_t hidden, std::int64_t tp, F&& put) {
    using i64 = std::int64_t;
    const auto of_heads = [&](TensorId id, i64 heads, i64 dim, bool wide, std::string_view symbol) {
        put(id, saturating_product(heads, dim), saturating_product(divide_up(heads, tp), dim), wide, symbol);
    };
    if (a.kind == LinearKind::short_conv) {
        const i64 own = divide_up(hidden, tp);
        for (const TensorId id : {TensorId::mixer_gate_in, TensorId::mixer_gate_out, TensorId::mixer_x,
                                  TensorId::mixer_convolved})
            put(id, hidden, own, true, "h");
        put(TensorId::mixer_output, hidden, own, false, "h");
        return;
    }
    const bool lightning = a.kind == LinearKind::lightning;
    const auto projected = [&](TensorId q, TensorId k, TensorId v) {
        of_heads(q, lightning ? a.value_heads : a.key_heads, lightning ? a.value_head_dim : a.key_head_dim,
                 true, "a_k d_k");
        of_heads(k, a.key_heads, a.key_head_dim, true, "a_k d_k");
        of_heads(v, lightning ? a.key_heads : a.value_heads, lightning ? a.key_head_dim : a.value_head_dim,
                 true, "a_v d_v");
    };
    projected(TensorId::mixer_q, TensorId::mixer_k, TensorId::mixer_v);
    if (!lightning) {
        constexpr i64 kChunk = 64;  // tokens of which one triangular system is solved and kept
        if (a.conv > 0)
            projected(TensorId::mixer_q_convolved, TensorId::mixer_k_convolved, TensorId::mixer_v_convolved);
        of_heads(TensorId::mixer_beta, a.value_heads, 1, true, "a_v");
        if (a.kind == LinearKind::kimi_delta)
            of_heads(TensorId::mixer_decay, a.key_heads, a.key_head_dim, true, "a_k d_k");
        else
            of_heads(TensorId::mixer_decay, a.value_heads, 1, true, "a_v");
        of_heads(TensorId::mixer_solved, a.value_heads, kChunk, true, "64 a_v");
    }
    of_heads(TensorId::mixer_gate, a.value_heads, a.value_head_dim, true, "a_v d_v");
    of_heads(TensorId::mixer_scanned, a.value_heads, a.value_head_dim, true, "a_v d_v");
    of_heads(TensorId::mixer_output, a.value_heads, a.value_head_dim, false, "a_v d_v");
}

}  // namespace pentamesh
