// Lists the calls between ranks of context parallelism.
#include "core/comm/comm_rows.h"
#include "core/layer/scan_widths.h"
#include "core/mesh/degrees.h"

#include <algorithm>

namespace pentamesh {

double CommRows::kv_bytes(const LayerType& type) const {
    const Model& m = plan_.model;
    if (m.attention == AttentionKind::mla && m.mla) {
        const Mla& a = *m.mla;
        const double width = static_cast<double>(a.qk_nope_head_dim + a.qk_rope_head_dim + a.v_head_dim);
        return v_.tokens * static_cast<double>(type.heads) / v_.tp * width * v_.wire;
    }
    const double heads = std::max(static_cast<double>(type.kv_heads) / v_.tp, 1.0);
    return v_.tokens * heads * static_cast<double>(type.head_dim + type.value_head_dim) * v_.wire;
}

double CommRows::key_bytes(const LayerType& type) const {
    const Model& m = plan_.model;
    if (m.attention == AttentionKind::mla && m.mla) return query_bytes(type, false);
    const double heads = std::max(static_cast<double>(type.kv_heads) / v_.tp, 1.0);
    return v_.tokens * heads * static_cast<double>(type.head_dim) * v_.wire;
}

double CommRows::query_bytes(const LayerType& type, bool output) const {
    const Model& m = plan_.model;
    double width = static_cast<double>(output ? type.value_head_dim : type.head_dim);
    if (m.attention == AttentionKind::mla && m.mla)
        width = static_cast<double>(output ? m.mla->v_head_dim
                                           : m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim);
    return v_.tokens * static_cast<double>(type.heads) / v_.tp * width * v_.wire;
}

void CommRows::context_parallel() {
    LayerMask seen = 0;
    for (int t = 0; t < types_.size(); ++t) {
        const LayerType& type = types_[t];
        if (has(seen, t) || type.mixer == MixerKind::none) continue;
        mixers_ = types_.where([&](const LayerType& other) {
            return other.attends() == type.attends() && other.heads == type.heads
                   && other.kv_heads == type.kv_heads && other.head_dim == type.head_dim
                   && other.value_head_dim == type.value_head_dim && other.has_mamba() == type.has_mamba()
                   && (other.mixer == MixerKind::linear) == (type.mixer == MixerKind::linear)
                   && (other.mixer == MixerKind::none) == (type.mixer == MixerKind::none);
        });
        seen |= mixers_;
        if ((mixers_ & present_) == 0) continue;
        if (type.attends()) attention_over_cp(type);
        if (!type.attends() || type.mamba_beside) scan_over_cp(type);
    }
}

void CommRows::scan_over_cp(const LayerType& type) {
    using enum Collective;
    const auto [in, out] = scan_widths(plan_.model, type);
    const double bytes = v_.tokens / v_.tp * v_.wire;
    const Unit u = Unit::every_layer;
    const GroupKind cp = GroupKind::cp;
    const bool repeats = recomputes_layers();
    repeat(put(cp, u, Phase::forward, all_to_all, What::inputs_of_the_scan_to_heads, in * bytes), repeats);
    repeat(put(cp, u, Phase::forward, all_to_all, What::outputs_of_the_scan_to_tokens, out * bytes), repeats);
    put(cp, u, Phase::backward, all_to_all, What::gradients_of_the_scans_outputs_to_heads, out * bytes);
    put(cp, u, Phase::backward, all_to_all, What::gradients_of_the_scans_inputs_to_tokens, in * bytes);
}

void CommRows::attention_over_cp(const LayerType& type) {
    using enum Collective;
    const GroupKind cp = GroupKind::cp;
    const Unit u = Unit::every_layer;
    // Software that names the tensors it keeps also keeps the core's output: only queries, keys and values
    // are recomputed.
    const bool by_name = !resolved_.software.selective_keeps.empty()
                         && plan_.training.recompute == RecomputeChoice(Recompute::selective);
    const bool repeats = recomputes(RecomputeModule::core_attn) && !by_name;
    // They are recomputed before they are handed out to heads.
    const bool latent = plan_.model.attention == AttentionKind::mla;
    const bool repeats_in = repeats || by_name || (latent && recomputes(RecomputeModule::mla_up_proj));
    const double kv = kv_bytes(type), c = v_.cp;
    switch (plan_.layout.cp_comm) {
    case CpComm::ring:  // Liu et al. 2023 (Ring Attention)
        repeat(put(cp, u, Phase::forward, send_recv, What::keys_and_values_rotated, kv, c - 1), repeats);
        put(cp, u, Phase::backward, send_recv, What::keys_and_values_rotated, kv, c - 1);
        put(cp, u, Phase::backward, send_recv, What::gradients_of_keys_and_values_rotated, kv, c);
        break;
    case CpComm::allgather:  // Llama Team 2024, section 3.3.2
        for (const bool values : {false, true}) {
            const double own = (values ? kv - key_bytes(type) : key_bytes(type)) * c;
            const What what = values ? What::values : What::keys;
            repeat(put(cp, u, Phase::forward, all_gather, what, own), repeats);
            put(cp, u, Phase::backward, all_gather, what, own);
            put(cp, u, Phase::backward, reduce_scatter,
                values ? What::gradients_of_values : What::gradients_of_keys, own);
        }
        break;
    case CpComm::ulysses: ulysses(type, plan_.layout.cp, repeats_in, repeats); break;
    // Ulysses inside, a ring of the inner groups outside (Fang and Zhao 2024, USP; Megatron-LM's
    // a2a+p2p).
    case CpComm::ulysses_ring: {
        const std::int64_t inner = head_ranks_of(plan_.layout, plan_.layout.cp),
                           outer = plan_.layout.cp / inner;
        ulysses(type, inner, repeats_in, repeats);
        // A rank then holds `inner` times the tokens and as many times fewer heads.
        const double block = kv * repeated_kv(type, inner), rounds = static_cast<double>(outer);
        const auto turn = [&](Phase phase, What what, double calls) {
            return put(cp, outer, u, phase, send_recv, what, block, calls);
        };
        repeat(turn(Phase::forward, What::keys_and_values_rotated, rounds - 1), repeats);
        turn(Phase::backward, What::keys_and_values_rotated, rounds - 1);
        turn(Phase::backward, What::gradients_of_keys_and_values_rotated, outer > 1 ? rounds : 0);
        break;
    }
    }
}

double CommRows::repeated_kv(const LayerType& type, std::int64_t ranks) const {
    if (plan_.model.attention == AttentionKind::mla) return 1;
    const double heads = static_cast<double>(type.kv_heads) / v_.tp;
    return std::max(static_cast<double>(ranks) / std::max(heads, 1.0), 1.0);
}

void CommRows::ulysses(const LayerType& type, std::int64_t ranks, bool repeats_in, bool repeats_out) {
    using enum Collective;
    const auto send = [&](Phase phase, What what, double bytes) {
        return put(GroupKind::cp, ranks, Unit::every_layer, phase, all_to_all, what, bytes, 1);
    };
    const double in = query_bytes(type, false) + kv_bytes(type) * repeated_kv(type, ranks);
    const double out = query_bytes(type, true);
    repeat(send(Phase::forward, What::queries_keys_and_values_to_heads, in), repeats_in);
    repeat(send(Phase::forward, What::attention_output_to_tokens, out), repeats_out);
    send(Phase::backward, What::gradients_of_the_output_to_heads, out);
    send(Phase::backward, What::gradients_of_queries_keys_and_values_to_tokens, in);
}

}  // namespace pentamesh
