// Lists the parts of a scan: what linear and Mamba layers have in the place of attention.
#include "core/layer/kernel_costs.h"
#include "core/layer/part_lister.h"

namespace pentamesh {

// Mamba-1 makes dt, B and C of its x after the exchange. Delta nets exchange q, k, v, gate, beta and decay
// (Megatron-LM ssm/gated_delta_net.py, tensor_a2a_cp2hp); Kimi's decay is as wide as the keys.
PartLister::ScanWidths PartLister::scan_widths() const {
    if (type_.has_mamba() && m_.mamba) {
        const Mamba& a = *m_.mamba;
        const i64 second = a.version == 1 ? 0 : 2 * a.groups * a.state + a.heads;
        return {static_cast<double>(2 * a.inner + second), static_cast<double>(a.inner)};
    }
    if (!m_.linear) return {};
    const Linear& a = *m_.linear;
    const double keys = static_cast<double>(a.key_heads * a.key_head_dim);
    const double values = static_cast<double>(a.value_heads * a.value_head_dim);
    const double heads = static_cast<double>(a.value_heads);
    switch (a.kind) {
    case LinearKind::short_conv: return {3 * hidden_, hidden_};
    case LinearKind::lightning: return {2 * keys + 2 * values, values};
    case LinearKind::gated_delta: return {2 * keys + 2 * values + 2 * heads, values};
    case LinearKind::kimi_delta: return {3 * keys + 2 * values + heads, values};
    }
    return {};
}

// A scan needs all tokens of a head in order: heads are exchanged for tokens and back, as in Ulysses
// (Megatron-LM ssm/mamba_context_parallel.py).
void PartLister::scan_over_cp() {
    const auto [in, out] = scan_widths();
    const double bytes = tokens_ / tp_ * wire_;
    const GroupKind cp = GroupKind::cp;
    const Collective c = Collective::all_to_all;
    const bool repeats = t_.recompute.whole_layers();
    forward(cp, d_.cp, c, What::inputs_of_the_scan_to_heads, in * bytes, repeats);
    forward(cp, d_.cp, c, What::outputs_of_the_scan_to_tokens, out * bytes, repeats);
    backward(cp, d_.cp, c, What::gradients_of_the_scans_outputs_to_heads, out * bytes);
    backward(cp, d_.cp, c, What::gradients_of_the_scans_inputs_to_tokens, in * bytes);
}

// Adds convolution, chunked scan, gated norm. `more` numbers of a token are made between the exchange and
// them.
void PartLister::scan_kernel(const ScanFlops& f, double more) {
    const auto [in, out] = scan_widths();
    LayerKernel& k = kernel(What::scan_of_the_state, LayerRate::scan);
    k.bytes = tokens_ * (((in + more) * 2 + out * 2) * kNormBytes + f.state_bytes) / tp_;
    k.kernels = kMixerKernels;
    k.flops = tokens_ * f.kernel / tp_;
}

// Small products between the way in and the scan (Mamba's dt, Kimi's decay) count with the scan.
void PartLister::mamba_kernels(const Mamba& a) {
    const double inner = static_cast<double>(a.inner) / tp_;
    product(What::inputs_of_the_scan, tokens_, hidden_, scan_widths().in / tp_);
    if (a.version == 1) {
        const double rank = static_cast<double>(a.dt_rank);
        product(What::scan_of_the_state, tokens_, inner, rank + 2 * static_cast<double>(a.state));
        product(What::scan_of_the_state, tokens_, rank, inner);
    }
    scan_kernel(scan_flops(a), a.version == 1 ? static_cast<double>(a.inner) : 0);
    product(What::output_of_the_scan, tokens_, inner, hidden_);
}

void PartLister::linear_kernels(const Linear& a) {
    auto [in, out] = scan_widths();
    if (a.kind == LinearKind::kimi_delta) {  // decay and gate are of low rank
        const double keys = static_cast<double>(a.key_heads * a.key_head_dim), values = out;
        const double dk = static_cast<double>(a.key_head_dim), dv = static_cast<double>(a.value_head_dim);
        product(What::scan_of_the_state, tokens_, hidden_, dk + dv);
        product(What::scan_of_the_state, tokens_, dk, keys / tp_);
        product(What::scan_of_the_state, tokens_, dv, values / tp_);
        in -= keys + values;
    }
    product(What::inputs_of_the_scan, tokens_, hidden_, in / tp_);
    scan_kernel(scan_flops(a, m_.hidden));
    product(What::output_of_the_scan, tokens_, out / tp_, hidden_);
}

// A scan keeps the tensors that the published kernels save. They recompute the states instead of
// keeping them.
// Mamba-2: mamba_ssm, ops/triton/ssd_combined.py, saves of MambaSplitConv1dScanCombinedFn.
// Mamba: mamba_ssm, ops/selective_scan_interface.py, MambaInnerFn with checkpoint_lvl 1.
// Delta nets: flash-linear-attention, ops/gated_delta_rule/chunk.py and ops/kda/chunk.py, with the inputs of
// the convolutions and the gated norm. Lightning: flash-linear-attention, ops/lightning_attn.
void PartLister::mamba_kept(const Mamba& a) {
    const auto keep = [&](TensorId id, i64 width, i64 local, bool wide) {
        keep_region(id, width, local, wide ? wire_ : product_bytes_);
    };
    const i64 inner = divide_up(a.inner, d_.tp);
    keep(TensorId::mamba_z, a.inner, inner, true);
    keep(TensorId::mamba_x, a.inner, inner, true);
    if (a.version != 1) {
        const i64 shared = saturating_product(a.groups, a.state);
        const i64 own = saturating_product(divide_up(a.groups, d_.tp), a.state);
        keep(TensorId::mamba_b, shared, own, true);
        keep(TensorId::mamba_c, shared, own, true);
        keep(TensorId::mamba_dt, a.heads, divide_up(a.heads, d_.tp), true);
    } else {  // after the products by which x makes them: the sums over tp are whole on each rank
        keep(TensorId::mamba_dt, a.dt_rank, a.dt_rank, true);
        keep(TensorId::mamba_b, a.state, a.state, true);
        keep(TensorId::mamba_c, a.state, a.state, true);
    }
    keep(TensorId::mamba_scanned, a.inner, inner, true);
    keep(TensorId::mamba_output, a.inner, inner, false);
}

void PartLister::linear_kept(const Linear& a) {
    const auto keep = [&](TensorId id, i64 width, i64 local, bool wide) {
        keep_region(id, width, local, wide ? wire_ : product_bytes_);
    };
    const auto of_heads = [&](TensorId id, i64 heads, i64 dim, bool wide) {
        keep(id, saturating_product(heads, dim), saturating_product(divide_up(heads, d_.tp), dim), wide);
    };
    if (a.kind == LinearKind::short_conv) {
        const i64 own = divide_up(m_.hidden, d_.tp);
        for (const TensorId id : {TensorId::mixer_gate_in, TensorId::mixer_gate_out, TensorId::mixer_x,
                                  TensorId::mixer_convolved})
            keep(id, m_.hidden, own, true);
        keep(TensorId::mixer_output, m_.hidden, own, false);
        return;
    }
    const bool lightning = a.kind == LinearKind::lightning;
    const auto projected = [&](TensorId q, TensorId k, TensorId v) {
        of_heads(q, lightning ? a.value_heads : a.key_heads, lightning ? a.value_head_dim : a.key_head_dim,
                 true);
        of_heads(k, a.key_heads, a.key_head_dim, true);
        of_heads(v, lightning ? a.key_heads : a.value_heads, lightning ? a.key_head_dim : a.value_head_dim,
                 true);
    };
    projected(TensorId::mixer_q, TensorId::mixer_k, TensorId::mixer_v);
    if (!lightning) {
        constexpr i64 kChunk = 64;  // tokens of which one triangular system is solved and kept
        if (a.conv > 0)
            projected(TensorId::mixer_q_convolved, TensorId::mixer_k_convolved, TensorId::mixer_v_convolved);
        of_heads(TensorId::mixer_beta, a.value_heads, 1, true);
        if (a.kind == LinearKind::kimi_delta)
            of_heads(TensorId::mixer_decay, a.key_heads, a.key_head_dim, true);
        else
            of_heads(TensorId::mixer_decay, a.value_heads, 1, true);
        of_heads(TensorId::mixer_solved, a.value_heads, kChunk, true);
    }
    of_heads(TensorId::mixer_gate, a.value_heads, a.value_head_dim, true);
    of_heads(TensorId::mixer_scanned, a.value_heads, a.value_head_dim, true);
    of_heads(TensorId::mixer_output, a.value_heads, a.value_head_dim, false);
}

}  // namespace pentamesh
