// What linear and Mamba layers keep for their backward pass: what the published kernels save. They make the
// states of the scan again instead of keeping them.
#pragma once

#include "core/model/local_shard.h"

#include <string_view>

namespace pentamesh {

// Calls put(name, width, local width, wide, symbol): numbers per token before and after tp; `wide`: of 16
// bits whatever the compute type, otherwise a product's input.
//   Mamba-2: mamba_ssm, ops/triton/ssd_combined.py, what MambaSplitConv1dScanCombinedFn saves.
//   Mamba: mamba_ssm, ops/selective_scan_interface.py, MambaInnerFn with checkpoint_lvl 1.
//   Delta nets: flash-linear-attention, ops/gated_delta_rule/chunk.py and ops/kda/chunk.py, with the inputs
//   of the convolutions and the gated norm. Lightning: flash-linear-attention, ops/lightning_attn.
template <typename F>
void visit_mamba_activations(const Mamba& a, std::int64_t tp, F&& put) {
    const std::int64_t inner = divide_up(a.inner, tp);
    put("mamba.z", a.inner, inner, true, "d_i");
    put("mamba.x", a.inner, inner, true, "d_i");
    if (a.version != 1) {
        const std::int64_t shared = saturating_product(a.groups, a.state);
        const std::int64_t own = saturating_product(divide_up(a.groups, tp), a.state);
        put("mamba.b", shared, own, true, "g n");
        put("mamba.c", shared, own, true, "g n");
        put("mamba.dt", a.heads, divide_up(a.heads, tp), true, "a_m");
    } else {  // after the products by which x makes them: the sums over tp are whole on each rank
        put("mamba.dt", a.dt_rank, a.dt_rank, true, "r_dt");
        put("mamba.b", a.state, a.state, true, "n");
        put("mamba.c", a.state, a.state, true, "n");
    }
    put("mamba.scanned", a.inner, inner, true, "d_i");
    put("mamba.output", a.inner, inner, false, "d_i");
}

template <typename F>
void visit_linear_activations(const Linear& a, std::int64_t hidden, std::int64_t tp, F&& put) {
    using i64 = std::int64_t;
    const auto of_heads = [&](std::string_view name, i64 heads, i64 dim, bool wide, std::string_view symbol) {
        put(name, saturating_product(heads, dim), saturating_product(divide_up(heads, tp), dim), wide,
            symbol);
    };
    if (a.kind == LinearKind::short_conv) {
        const i64 own = divide_up(hidden, tp);
        for (const std::string_view name : {"mixer.gate_in", "mixer.gate_out", "mixer.x", "mixer.convolved"})
            put(name, hidden, own, true, "h");
        put("mixer.output", hidden, own, false, "h");
        return;
    }
    const bool lightning = a.kind == LinearKind::lightning;
    const auto projected = [&](std::string_view q, std::string_view k, std::string_view v) {
        of_heads(q, lightning ? a.value_heads : a.key_heads, lightning ? a.value_head_dim : a.key_head_dim,
                 true, "a_k d_k");
        of_heads(k, a.key_heads, a.key_head_dim, true, "a_k d_k");
        of_heads(v, lightning ? a.key_heads : a.value_heads, lightning ? a.key_head_dim : a.value_head_dim,
                 true, "a_v d_v");
    };
    projected("mixer.q", "mixer.k", "mixer.v");
    if (!lightning) {
        constexpr i64 kChunk = 64;  // tokens of which one triangular system is solved and kept
        if (a.conv > 0) projected("mixer.q.convolved", "mixer.k.convolved", "mixer.v.convolved");
        of_heads("mixer.beta", a.value_heads, 1, true, "a_v");
        if (a.kind == LinearKind::kimi_delta)
            of_heads("mixer.decay", a.key_heads, a.key_head_dim, true, "a_k d_k");
        else
            of_heads("mixer.decay", a.value_heads, 1, true, "a_v");
        of_heads("mixer.solved", a.value_heads, kChunk, true, "64 a_v");
    }
    of_heads("mixer.gate", a.value_heads, a.value_head_dim, true, "a_v d_v");
    of_heads("mixer.scanned", a.value_heads, a.value_head_dim, true, "a_v d_v");
    of_heads("mixer.output", a.value_heads, a.value_head_dim, false, "a_v d_v");
}

}  // namespace pentamesh
