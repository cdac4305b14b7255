// Lists the parts of a layer's mixer: attention, latent attention, scans, and context parallelism between
// them.
#include "core/layer/part_lister.h"
#include "core/layer/scan_widths.h"
#include "core/mesh/degrees.h"

#include <algorithm>

namespace pentamesh {

void PartLister::mixer_calls() {
    part_ = LayerPart::mixer;
    if (type_.mixer == MixerKind::none) return;
    if (latent())
        latent_calls(*m_.mla);
    else
        region({What::activations_before_attention, What::activations_after_attention,
                What::gradients_before_attention, What::gradients_after_attention,
                again(What::attention_input_again_for_the_weight_gradient)},
               t_.recompute.whole_layers());
    if (type_.attends()) attention_over_cp();
    if (!type_.attends() || type_.mamba_beside) scan_over_cp();
}

// The products into the latents are whole on each rank and run on the tokens between regions; the latents and
// the rotary keys are gathered (Megatron-LM multi_latent_attention.py).
void PartLister::latent_calls(const Mla& a) {
    const GroupKind tp = GroupKind::tp;
    using enum Collective;
    const bool cut = d_.sequence_parallel, repeats = recomputes(RecomputeModule::mla_up_proj);
    struct Way {
        What in, grad_in, again;
        i64 width;
    };
    const Way query = a.q_lora_rank > 0
                          ? Way{What::query_latents_before_attention, What::gradients_of_the_query_latents,
                                What::query_latents_again_for_the_weight_gradient, a.q_lora_rank}
                          : Way{What::activations_before_attention, What::gradients_before_attention,
                                again(What::attention_input_again_for_the_weight_gradient), m_.hidden};
    const Way keys{What::key_and_value_latents_before_attention, What::gradients_of_the_key_and_value_latents,
                   What::key_and_value_latents_again_for_the_weight_gradient, a.kv_lora_rank};
    const Way rope{What::rotary_keys_before_attention, What::gradients_of_the_rotary_keys, What::none,
                   a.qk_rope_head_dim};
    for (const Way& w : {query, keys, rope}) {
        const double bytes = tokens_ * static_cast<double>(w.width) * wire_;
        if (cut) forward(tp, d_.tp, all_gather, w.in, bytes, repeats);
        backward(tp, d_.tp, cut ? reduce_scatter : all_reduce, w.grad_in, bytes);
        if (cut && w.again != What::none) backward(tp, d_.tp, all_gather, w.again, bytes);
    }
    forward(tp, d_.tp, cut ? reduce_scatter : all_reduce, What::activations_after_attention, hidden_bytes_,
            t_.recompute.whole_layers());
    if (cut) backward(tp, d_.tp, all_gather, What::gradients_after_attention, hidden_bytes_);
}

double PartLister::kv_bytes() const {
    if (latent()) {
        const Mla& a = *m_.mla;
        const double width = static_cast<double>(a.qk_nope_head_dim + a.qk_rope_head_dim + a.v_head_dim);
        return tokens_ * static_cast<double>(type_.heads) / tp_ * width * wire_;
    }
    const double heads = std::max(static_cast<double>(type_.kv_heads) / tp_, 1.0);
    return tokens_ * heads * static_cast<double>(type_.head_dim + type_.value_head_dim) * wire_;
}

double PartLister::key_bytes() const {
    if (latent()) return query_bytes(false);
    const double heads = std::max(static_cast<double>(type_.kv_heads) / tp_, 1.0);
    return tokens_ * heads * static_cast<double>(type_.head_dim) * wire_;
}

double PartLister::query_bytes(bool output) const {
    double width = static_cast<double>(output ? type_.value_head_dim : type_.head_dim);
    if (latent())
        width = static_cast<double>(output ? m_.mla->v_head_dim
                                           : m_.mla->qk_nope_head_dim + m_.mla->qk_rope_head_dim);
    return tokens_ * static_cast<double>(type_.heads) / tp_ * width * wire_;
}

double PartLister::repeated_kv(i64 ranks) const {
    if (latent()) return 1;
    const double heads = static_cast<double>(type_.kv_heads) / tp_;
    return std::max(static_cast<double>(ranks) / std::max(heads, 1.0), 1.0);
}

void PartLister::attention_over_cp() {
    using enum Collective;
    const GroupKind cp = GroupKind::cp;
    // Software that names the tensors it keeps also keeps the core's output: only queries, keys and values
    // are recomputed.
    const bool by_name =
        !software_.selective_keeps.empty() && t_.recompute == RecomputeChoice(Recompute::selective);
    const bool repeats = recomputes(RecomputeModule::core_attn) && !by_name;
    // They are recomputed before they are handed out to heads.
    const bool repeats_in = repeats || by_name || (latent() && recomputes(RecomputeModule::mla_up_proj));
    const double kv = kv_bytes();
    switch (plan_.layout.cp_comm) {
    case CpComm::ring:  // Liu et al. 2023 (Ring Attention)
        forward(cp, d_.cp, send_recv, What::keys_and_values_rotated, kv, repeats, cp_ - 1);
        backward(cp, d_.cp, send_recv, What::keys_and_values_rotated, kv, cp_ - 1);
        backward(cp, d_.cp, send_recv, What::gradients_of_keys_and_values_rotated, kv, cp_);
        break;
    case CpComm::allgather:  // Llama Team 2024, section 3.3.2
        for (const bool values : {false, true}) {
            const double own = (values ? kv - key_bytes() : key_bytes()) * cp_;
            const What what = values ? What::values : What::keys;
            forward(cp, d_.cp, all_gather, what, own, repeats);
            backward(cp, d_.cp, all_gather, what, own);
            backward(cp, d_.cp, reduce_scatter, values ? What::gradients_of_values : What::gradients_of_keys,
                     own);
        }
        break;
    case CpComm::ulysses: ulysses(d_.cp, repeats_in, repeats); break;
    // Ulysses inside, a ring of the inner groups outside (Fang and Zhao 2024, USP; Megatron-LM's
    // a2a+p2p).
    case CpComm::ulysses_ring: {
        const i64 inner = head_ranks_of(plan_.layout, d_.cp), outer = d_.cp / inner;
        ulysses(inner, repeats_in, repeats);
        // A rank then holds `inner` times the tokens and as many times fewer heads.
        const double block = kv * repeated_kv(inner), rounds = static_cast<double>(outer);
        const What what = What::keys_and_values_rotated;
        forward(cp, outer, send_recv, what, block, repeats, rounds - 1);
        backward(cp, outer, send_recv, what, block, rounds - 1);
        backward(cp, outer, send_recv, What::gradients_of_keys_and_values_rotated, block,
                 outer > 1 ? rounds : 0);
        break;
    }
    }
}

// From Jacobs et al. 2023: kv heads fewer than the ranks are repeated.
void PartLister::ulysses(i64 ranks, bool repeats_in, bool repeats_out) {
    const GroupKind cp = GroupKind::cp;
    const Collective c = Collective::all_to_all;
    const double in = query_bytes(false) + kv_bytes() * repeated_kv(ranks), out = query_bytes(true);
    forward(cp, ranks, c, What::queries_keys_and_values_to_heads, in, repeats_in);
    forward(cp, ranks, c, What::attention_output_to_tokens, out, repeats_out);
    backward(cp, ranks, c, What::gradients_of_the_output_to_heads, out);
    backward(cp, ranks, c, What::gradients_of_queries_keys_and_values_to_tokens, in);
}

// A scan needs all tokens of a head in order: heads are exchanged for tokens and back, as in Ulysses
// (Megatron-LM ssm/mamba_context_parallel.py).
void PartLister::scan_over_cp() {
    const auto [in, out] = scan_widths(m_, type_);
    const double bytes = tokens_ / tp_ * wire_;
    const GroupKind cp = GroupKind::cp;
    const Collective c = Collective::all_to_all;
    const bool repeats = t_.recompute.whole_layers();
    forward(cp, d_.cp, c, What::inputs_of_the_scan_to_heads, in * bytes, repeats);
    forward(cp, d_.cp, c, What::outputs_of_the_scan_to_tokens, out * bytes, repeats);
    backward(cp, d_.cp, c, What::gradients_of_the_scans_outputs_to_heads, out * bytes);
    backward(cp, d_.cp, c, What::gradients_of_the_scans_inputs_to_tokens, in * bytes);
}

}  // namespace pentamesh
