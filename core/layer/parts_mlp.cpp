// Lists the parts of a layer's MLP and of its experts.
#include "core/layer/kernel_costs.h"
#include "core/layer/part_lister.h"
#include "core/layer/wire_bytes.h"

#include <algorithm>

namespace pentamesh {

PartLister::PartLister(const Plan& plan, const Degrees& degrees, const LayerType& type, LayerParts& out)
    : plan_(plan), m_(plan.model), t_(plan.training), d_(degrees), type_(type),
      software_(facts_of(plan.training.software)), tp_(static_cast<double>(degrees.tp)),
      cp_(static_cast<double>(degrees.cp)), wire_(wire_bytes(plan.training.compute)),
      product_bytes_(bytes_of(plan.training.compute)),
      tokens_(static_cast<double>(t_.micro_batch) * static_cast<double>(t_.sequence_length) / cp_),
      outer_(degrees.sequence_parallel ? tokens_ / tp_ : tokens_), hidden_(static_cast<double>(m_.hidden)),
      hidden_bytes_(tokens_ * hidden_ * wire_), calls_(out.calls), kernels_(out.kernels), kept_(out.kept) {}

void PartLister::list() {
    calls_.clear(), kernels_.clear(), kept_.clear();
    calls();
    kernels();
    kept();
}

void PartLister::calls() {
    mixer_calls();
    mlp_calls();
    context_calls();
    if (type_.is_moe() && m_.moe) expert_calls(*m_.moe);
}

void PartLister::region(const Region& r, bool repeats) {
    const GroupKind tp = GroupKind::tp;
    using enum Collective;
    if (!d_.sequence_parallel) {
        forward(tp, d_.tp, all_reduce, r.out, hidden_bytes_, repeats);
        backward(tp, d_.tp, all_reduce, r.grad_in, hidden_bytes_);
        return;
    }
    forward(tp, d_.tp, all_gather, r.in, hidden_bytes_, repeats);
    forward(tp, d_.tp, reduce_scatter, r.out, hidden_bytes_, repeats);
    backward(tp, d_.tp, all_gather, r.grad_out, hidden_bytes_);
    backward(tp, d_.tp, reduce_scatter, r.grad_in, hidden_bytes_);
    if (r.gather_again != What::none) backward(tp, d_.tp, all_gather, r.gather_again, hidden_bytes_);
}

void PartLister::mlp_calls() {
    part_ = LayerPart::mlp;
    if (type_.ffn_width > 0)
        region({What::activations_before_the_mlp, What::activations_after_the_mlp,
                What::gradients_before_the_mlp, What::gradients_after_the_mlp,
                again(What::mlp_input_again_for_the_weight_gradient)},
               recomputes(RecomputeModule::mlp));
    part_ = LayerPart::shared_experts;
    if (type_.is_moe() && m_.moe && m_.moe->shared_experts > 0)
        region({What::activations_before_the_shared_experts, What::activations_after_the_shared_experts,
                What::gradients_before_the_shared_experts, What::gradients_after_the_shared_experts,
                What::shared_experts_input_again_for_the_weight_gradient},
               recomputes(RecomputeModule::moe) || recomputes(RecomputeModule::shared_experts));
}

// Tokens that go to the experts come back, forward and backward.
void PartLister::expert_calls(const Moe& e) {
    using enum Collective;
    part_ = LayerPart::experts;
    const GroupKind ep = GroupKind::ep, etp = GroupKind::etp;
    const bool repeats = recomputes(RecomputeModule::moe);
    const double h = static_cast<double>(e.latent > 0 ? e.latent : m_.hidden);
    const double own = tokens_ / tp_;
    // Without sequence parallelism tensor-parallel ranks hold the same tokens. Each sends its part of them
    // and gathers the outputs; the backward of the part is a gather of its gradients (DeepSpeed
    // moe/mappings.py).
    if (!plan_.layout.sequence_parallel) {
        const double all = tokens_ * h * wire_;
        forward(GroupKind::tp, d_.tp, all_gather, What::activations_after_the_mlp, all, repeats);
        backward(GroupKind::tp, d_.tp, all_gather, What::gradients_before_the_mlp, all);
    }
    double shard = 0;  // of the tokens that a rank's experts get
    if (plan_.layout.ep_comm == EpComm::allgather) {
        // Every rank sees every token and keeps those of its experts (Megatron-LM token_dispatcher.py).
        const double all = own * static_cast<double>(d_.ep) * h * wire_;
        forward(ep, d_.ep, all_gather, What::tokens_to_all_ranks_of_experts, all, repeats);
        forward(ep, d_.ep, reduce_scatter, What::sum_of_experts_outputs, all, repeats);
        backward(ep, d_.ep, all_gather, What::output_gradients_to_all_ranks_of_experts, all);
        backward(ep, d_.ep, reduce_scatter, What::sum_of_input_gradients, all);
        shard = all;
    } else {
        // A copy of each token goes to each of its experts.
        const double copies = own * sent_copies(plan_);
        const double wide = copies * h * wire_, dispatched = copies * h * dispatch_bytes(t_.compute);
        forward(ep, d_.ep, all_to_all, What::dispatch_of_tokens_to_experts, dispatched, repeats);
        forward(ep, d_.ep, all_to_all, What::combine_of_experts_outputs, wide, repeats);
        backward(ep, d_.ep, all_to_all, What::dispatch_of_output_gradients, dispatched);
        backward(ep, d_.ep, all_to_all, What::combine_of_input_gradients, wide);
        shard = own * static_cast<double>(e.top_k) * t_.router_imbalance * h * wire_;
    }
    // The ranks of an etp group bring different tokens, and each needs all of them.
    const double all = shard * static_cast<double>(d_.etp);
    forward(etp, d_.etp, all_gather, What::tokens_of_the_experts_shards, all, repeats);
    forward(etp, d_.etp, reduce_scatter, What::outputs_of_the_experts_shards, all, repeats);
    backward(etp, d_.etp, all_gather, What::output_gradients_of_the_experts_shards, all);
    backward(etp, d_.etp, reduce_scatter, What::input_gradients_of_the_experts_shards, all);
}

void PartLister::kernels() {
    const RecomputeModules norms(RecomputeModule::layernorm);
    const bool moe = type_.is_moe() && m_.moe, beside = moe && m_.moe->beside_mlp;
    part_ = LayerPart::mixer;
    if (type_.mixer != MixerKind::none) {
        norm(What::norm_before_attention, latent() ? norms : RecomputeModules());
        mixer_kernels();
        if (m_.post_norms) norm(What::norm_behind_the_block);
        addition();
    }
    if (type_.ffn == LayerFfn::none) return;
    part_ = LayerPart::mlp;
    if (!type_.shares_norm(m_)) {
        const bool of_experts = moe && !beside;
        norm(of_experts ? What::norm_before_the_experts : What::norm_before_the_mlp,
             of_experts ? norms : RecomputeModules());
    }
    if (type_.ffn_width > 0)
        mlp_kernels(What::gate_and_up, What::down, static_cast<double>(type_.ffn_width) / tp_,
                    RecomputeModules(RecomputeModule::mlp));
    if (beside) {
        norm(What::norm_behind_the_mlp);
        norm(What::norm_before_the_experts, norms);
        norm(What::norm_behind_the_experts);
    }
    if (m_.post_norms) norm(What::norm_behind_the_block);
    addition();
    if (moe) expert_kernels(*m_.moe);
}

void PartLister::norm(What what, RecomputeModules modules) {
    element_wise(what, outer_ * hidden_ * kNormBytes, 1, modules).on_stream = true;
}

void PartLister::addition() {
    element_wise(What::added_to_the_residual_stream, outer_ * hidden_ * kAddBytes, 1).on_stream = true;
}

void PartLister::mlp_kernels(What up_what, What down, double width, RecomputeModules modules) {
    product(up_what, tokens_, hidden_, up(width), modules);
    product(down, tokens_, width, hidden_, modules);
    activation(tokens_, width, modules);
}

LayerKernel& PartLister::activation(double tokens, double width, RecomputeModules modules) {
    return element_wise(What::activation_function, tokens * (up(width) + width) * kTwo, 1, modules);
}

void PartLister::expert_kernels(const Moe& e) {
    part_ = LayerPart::experts;
    const RecomputeModules moe(RecomputeModule::moe);
    product(What::router, outer_, hidden_, static_cast<double>(e.experts), moe, LayerRate::wide).kernels =
        kRouterKernels;
    const auto latent_width = static_cast<double>(e.latent);
    if (e.latent > 0) {
        product(What::into_the_experts_latents, outer_, hidden_, latent_width, moe);
        product(What::out_of_the_experts_latents, outer_, latent_width, hidden_, moe);
    }
    const double h = e.latent > 0 ? latent_width : hidden_, etp = static_cast<double>(d_.etp);
    // These are the tokens that a rank's experts get, once for each expert. Each of the ranks that hold the
    // same tokens sends its part.
    const double copies = tokens_ / tp_ * static_cast<double>(e.top_k) * t_.router_imbalance * etp;
    const double width = static_cast<double>(e.expert_ffn) / etp;
    element_wise(What::tokens_sorted_by_expert, copies / etp * h * kNormBytes, kPermuteKernels / 2, moe);
    element_wise(What::outputs_back_in_order_weighed, 2 * copies / etp * h * kNormBytes, kPermuteKernels / 2,
                 moe);
    // Grouped products. Fused: the first applies the activation and casts what it writes for the second, and
    // so does the second's input gradient on the way back (TransformerEngine's operation fuser, with gate and
    // up interleaved).
    const double local = std::max(static_cast<double>(e.experts) / static_cast<double>(d_.ep), 1.0);
    const bool apart = !t_.fused_experts;
    product(What::gate_and_up_of_the_experts, copies / local, h, up(width), moe, LayerRate::grouped, local)
        .casts_gradient = apart;
    product(What::down_of_the_experts, copies / local, width, h, moe, LayerRate::grouped, local).casts_input =
        apart;
    RecomputeModules by(RecomputeModule::moe_act);
    if (apart) by.add(RecomputeModule::moe);
    activation(copies, width, by).fused = !apart;
    // Grouped products add no bias on their way out, and Megatron Core fuses no gated activation with one:
    // the bias of both products, then clamp, gate and product of the two halves are each read and written.
    if (m_.mlp_bias) {
        const double gate = gated() ? 4 * kNormBytes + kAddBytes : 0;
        element_wise(What::activation_function, copies * ((up(width) + hidden_) * kNormBytes + width * gate),
                     gated() ? 7 : 2, moe);
    }
    if (e.shared_experts <= 0) return;
    element_wise(What::added_on_the_way, 0, 0, moe);  // fused into another kernel
    part_ = LayerPart::shared_experts;
    mlp_kernels(What::gate_and_up_of_the_shared_experts, What::down_of_the_shared_experts,
                static_cast<double>(e.shared_experts * e.shared_expert_ffn) / tp_,
                RecomputeModules(RecomputeModule::moe, RecomputeModule::shared_experts));
}

void PartLister::kept() {
    const bool mixes = type_.mixer != MixerKind::none, moe = type_.is_moe() && m_.moe;
    // Recomputing norms takes those that are kernels of their own: MLA's and a MoE layer's. Elsewhere the
    // norm is fused into the product after it (Megatron-LM gpt_layer_specs.py, transformer_layer.py).
    if (mixes) {
        keep_between(TensorId::norm_attention_input, m_.hidden, wire_, true);
        if (latent() && m_.mla->q_lora_rank > 0)  // into the latents: not cut by tp, so not gathered
            keep_between(TensorId::attention_input, m_.hidden, product_bytes_, false,
                         RecomputeModules(RecomputeModule::layernorm));
        else
            keep_product_input(TensorId::attention_input,
                               latent() ? RecomputeModules(RecomputeModule::layernorm) : RecomputeModules());
        mixer_kept();
        if (m_.post_norms) keep_between(TensorId::norm_after_attention_input, m_.hidden, wire_);
        if (t_.dropout) keep_between(TensorId::attention_dropout_mask, m_.hidden, 1);
    }
    if (type_.ffn == LayerFfn::none) return;
    if (!type_.shares_norm(m_)) keep_between(TensorId::norm_mlp_input, m_.hidden, wire_, !mixes);
    if (type_.ffn_width > 0) {
        const RecomputeModules recomputed_by(RecomputeModule::mlp);
        // After a shared norm both halves have one input; where it is kept as gathered, each keeps its own.
        if (!m_.shared_norm || !mixes || (software_.inputs_whole && d_.sequence_parallel))
            keep_product_input(TensorId::mlp_input, recomputed_by);
        mlp_kept(mlp_tensors(TensorModule::mlp), Tokens::region, type_.ffn_width, d_.tp, recomputed_by,
                 recomputed_by);
    }
    if (moe) experts_kept(*m_.moe);
    if (moe && m_.moe->beside_mlp)
        for (const TensorId id : {TensorId::norm_experts_input, TensorId::norm_after_dense_mlp_input,
                                  TensorId::norm_after_experts_input})
            keep_between(id, m_.hidden, wire_);
    if (m_.post_norms) keep_between(TensorId::norm_after_mlp_input, m_.hidden, wire_);
    if (t_.dropout) keep_between(TensorId::mlp_dropout_mask, m_.hidden, 1);
}

void PartLister::keep_between(TensorId id, i64 width, double bytes, bool input,
                              RecomputeModules recomputed_by) {
    kept_.push_back({id, Tokens::between, width, width, bytes, recomputed_by, input});
}

void PartLister::keep_region(TensorId id, i64 width, i64 local, double bytes, RecomputeModules recomputed_by,
                             bool of_kv_heads) {
    kept_.push_back({id, Tokens::region, width, local, bytes, recomputed_by, false, of_kv_heads});
}

void PartLister::keep_product_input(TensorId id, RecomputeModules recomputed_by) {
    if (software_.inputs_whole && d_.sequence_parallel)
        keep_region(id, m_.hidden, m_.hidden, product_bytes_, recomputed_by);
    else
        keep_between(id, m_.hidden, product_bytes_, false, recomputed_by);
}

void PartLister::mlp_kept(const MlpTensors& ids, Tokens tokens, i64 width, i64 degree,
                          RecomputeModules recomputed_by, RecomputeModules activated) {
    const i64 local = divide_up(width, degree);
    const auto one = [&](TensorId id, double bytes, RecomputeModules by) {
        kept_.push_back(Activation{id, tokens, width, local, bytes, by, false});
    };
    if (gated()) one(ids.gate, wire_, recomputed_by);
    one(ids.up, wire_, recomputed_by);
    if (gated() && software_.activation_apart) one(ids.activated, wire_, activated);
    one(ids.product, product_bytes_, activated);
}

void PartLister::experts_kept(const Moe& e) {
    const RecomputeModules layer(RecomputeModule::moe);
    const RecomputeModules shared_recomputed_by(RecomputeModule::moe, RecomputeModule::shared_experts);
    keep_between(TensorId::router_input, m_.hidden, wire_, false,
                 RecomputeModules(RecomputeModule::layernorm));
    keep_between(TensorId::router_logits, e.experts, 4, false, layer);
    const i64 width = e.latent > 0 ? e.latent : m_.hidden;
    if (e.latent > 0) {
        keep_between(TensorId::experts_latent_in_input, m_.hidden, product_bytes_, false, layer);
        keep_between(TensorId::experts_latent_out_input, e.latent, product_bytes_, false, layer);
    }
    kept_.push_back(
        Activation{TensorId::experts_input, Tokens::dispatched, width, width, product_bytes_, layer, false});
    mlp_kept(mlp_tensors(TensorModule::experts), Tokens::dispatched, e.expert_ffn, d_.etp, layer,
             RecomputeModules(RecomputeModule::moe, RecomputeModule::moe_act));
    const i64 shared = saturating_product(e.shared_experts, e.shared_expert_ffn);
    if (shared > 0)
        mlp_kept(mlp_tensors(TensorModule::shared_expert), Tokens::region, shared, d_.tp,
                 shared_recomputed_by, shared_recomputed_by);
}

void list_parts(const Plan& plan, const Degrees& degrees, const LayerType& type, LayerParts& out) {
    PartLister(plan, degrees, type, out).list();
}

void list_parts(const Plan& plan, const Degrees& degrees, const LayerTypes& types, PartsByType& out) {
    LayerParts none;  // resize by itself would fill its room with zeros
    out.type.resize(static_cast<std::size_t>(types.size()), none);
    for (int t = 0; t < types.size(); ++t)
        list_parts(plan, degrees, types[t], out.type[static_cast<std::size_t>(t)]);
}

}  // namespace pentamesh
