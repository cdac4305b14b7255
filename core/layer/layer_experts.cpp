// Builds the experts of a layer: router, the way of the tokens there and back, grouped products.
#include "core/layer/layer_tape.h"

namespace pentamesh {

LayerTensor LayerTape::dispatched(std::string name, double local, double width) const {
    // The ranks of an etp group bring different tokens.
    const double distinct = static_cast<double>(d_.etp), ep = static_cast<double>(d_.ep);
    LayerDim t{DimName::tokens, local * ep * distinct, local, {}};
    if (d_.ep > 1) t.cuts.push_back({GroupKind::ep, d_.ep});
    if (distinct > 1) t.cuts.push_back({GroupKind::etp, static_cast<i64>(distinct)});
    LayerTensor out;
    out.name = std::move(name);
    out.dims = {t, {DimName::hidden, width, width, {}}};
    out.bytes_per_number = w_.wide;
    return out;
}

Value LayerTape::router(Value u) {
    const LayerTensor w = weight_of(TensorId::router, DimName::experts, DimName::hidden);
    LayerTensor logits = result_of(tensor(u), w, "logits", {w.dims[0]});
    logits.bytes_per_number = bytes_of(Dtype::fp32);
    const Value out =
        product(What::router, What::gradient_of_the_routers_input, u, {w}, {std::move(logits)})[0];
    list_.steps.back().op = LayerOp::router;
    save(u, TensorId::router_input);
    save(out, TensorId::router_logits);
    return out;
}

Value LayerTape::permuted(std::vector<Value> in, LayerTensor out, bool back) {
    return kernel({LayerOp::permute,
                   back ? What::outputs_back_in_order_weighed : What::tokens_sorted_by_expert,
                   back ? What::gradients_sorted_by_expert : What::gradients_back_in_order},
                  std::move(in), std::move(out));
}

Value LayerTape::shared_experts(Value u) {
    const LayerPart around = std::exchange(part_, LayerPart::shared_experts);
    const Value x =
        enter(u, What::activations_before_the_shared_experts, What::gradients_before_the_shared_experts,
              What::shared_experts_input_again_for_the_weight_gradient);
    const Value y =
        leave(mlp_products(x, TensorModule::shared_expert), u, What::activations_after_the_shared_experts,
              What::gradients_after_the_shared_experts);
    part_ = around;
    return y;
}

Value LayerTape::experts(Value u) {
    const Moe& e = *m_.moe;
    const LayerPart around = std::exchange(part_, LayerPart::experts);
    const Value logits = router(u);
    const Value shared =
        saturating_product(e.shared_experts, e.shared_expert_ffn) > 0 ? shared_experts(u) : -1;
    Value x = u;
    const auto h = static_cast<double>(e.latent > 0 ? e.latent : m_.hidden);
    if (e.latent > 0) {
        const LayerTensor w =
            weight_of(TensorId::experts_latent_in, DimName::experts_latent, DimName::hidden);
        LayerTensor c = result_of(tensor(u), w, "c", {w.dims[0]});
        x = product(What::into_the_experts_latents, What::gradient_of_the_latents_input, u, {w},
                    {std::move(c)})[0];
        save(u, TensorId::experts_latent_in_input);
    }
    const bool same = call_of(What::activations_after_the_mlp) != nullptr;
    if (same) x = own_part(x);
    const double own = tokens_.of(Tokens::region) / tp();
    const double copies = own * static_cast<double>(e.top_k) * t_.router_imbalance;
    const bool gathers = plan_.layout.ep_comm == EpComm::allgather;
    const Value arrived =
        gathers ? gathered_experts(x, logits, own, copies, h) : exchanged_experts(x, logits, copies, h);
    LayerTensor y = tensor(x);
    y.name = "y", y.dims.back() = {e.latent > 0 ? DimName::experts_latent : DimName::hidden, h, h, {}};
    std::vector<Value> back{arrived, logits};
    const bool adds = shared >= 0 && e.latent == 0, at_once = adds && !gathers && !same;
    if (at_once) back.push_back(shared);
    Value out = gathers ? arrived : permuted(std::move(back), std::move(y), true);
    if (same) out = all_parts(out, u);
    if (adds && !at_once) out = add(out, shared, true);
    if (e.latent > 0) {
        const LayerTensor w =
            weight_of(TensorId::experts_latent_out, DimName::hidden, DimName::experts_latent);
        LayerTensor wide = result_of(tensor(out), w, "y", {w.dims[0]});
        const Value in = out;
        out = product(What::out_of_the_experts_latents, What::gradient_of_the_latents, out, {w},
                      {std::move(wide)})[0];
        save_extra(TensorId::experts_latent_out_input, in);
        if (shared >= 0) out = add(out, shared, true);
    }
    part_ = around;
    return out;
}

Value LayerTape::own_part(Value x) {
    LayerTensor part = tensor(x);
    part.name += "_part";
    LayerDim& tokens = part.dims.front();
    tokens.local /= tp();
    tokens.cuts.push_back({GroupKind::tp, d_.tp});
    return node(TapeKind::slice, {x}, {std::move(part)}).out[0];
}

Value LayerTape::all_parts(Value y, Value like) {
    LayerTensor whole = tensor(y);
    for (std::size_t i = 0; i + 1 < whole.dims.size(); ++i) whole.dims[i] = tensor(like).dims[i];
    return collective(TapeKind::copies, What::activations_after_the_mlp, What::none, {y},
                      {std::move(whole)})[0];
}

// A copy of each token goes to each of its experts, and comes back.
Value LayerTape::exchanged_experts(Value x, Value logits, double copies, double h) {
    Value t = permuted({x, logits}, dispatched("t", copies, h), false);
    const auto move = [&](Value v, What what, What back) {
        if (!call_of(what)) return v;
        LayerTensor moved = tensor(v);
        return collective(TapeKind::exchange, what, back, {v}, {std::move(moved)})[0];
    };
    t = move(t, What::dispatch_of_tokens_to_experts, What::combine_of_input_gradients);
    weights_in(true);
    const Value whole =
        enter(t, What::tokens_of_the_experts_shards, What::input_gradients_of_the_experts_shards, What::none);
    const Value y = leave(mlp_products(whole, TensorModule::experts), t, What::outputs_of_the_experts_shards,
                          What::output_gradients_of_the_experts_shards);
    weights_behind(true);
    return move(y, What::combine_of_experts_outputs, What::dispatch_of_output_gradients);
}

// Every rank sees every token and keeps those of its experts (Megatron-LM token_dispatcher.py).
Value LayerTape::gathered_experts(Value x, Value logits, double own, double copies, double h) {
    const double ep = static_cast<double>(d_.ep);
    LayerTensor all = dispatched("t", own * ep, h);
    std::erase_if(all.dims[0].cuts, [](const LayerCut& c) { return c.group == GroupKind::ep; });
    all.dims[0].size /= ep;
    Value t = -1;
    if (d_.ep <= 1)
        t = node(TapeKind::view, {x}, {all}).out[0];
    else
        t = collective(TapeKind::gather, What::tokens_to_all_ranks_of_experts, What::sum_of_input_gradients,
                       {x}, {all})[0];
    weights_in(true);
    const Value entered =
        enter(t, What::tokens_of_the_experts_shards, What::input_gradients_of_the_experts_shards, What::none);
    LayerTensor chosen = tensor(entered);
    const double parts = chosen.dims[0].local / (own * ep);
    chosen.name = "t";
    chosen.dims = {chosen.dims[0], {DimName::hidden, h, h, {}}};
    chosen.dims[0].local = copies * parts;
    const Value mine = permuted({entered, logits}, std::move(chosen), false);
    const Value y = mlp_products(mine, TensorModule::experts);
    LayerTensor outputs = tensor(entered);
    outputs.name = "y", outputs.partial = tensor(y).partial;
    const Value in_order = permuted({y, logits}, std::move(outputs), true);
    Value out =
        leave(in_order, t, What::outputs_of_the_experts_shards, What::output_gradients_of_the_experts_shards);
    // No product after it would gather its gradient: the order of tokens is in between.
    if (out != in_order && list_.steps.back().op == LayerOp::reduce_scatter)
        nodes_.back().kind = TapeKind::sum;
    weights_behind(true);
    LayerTensor sum = tensor(x);
    sum.name = "y";
    if (d_.ep <= 1) return node(TapeKind::view, {out}, {std::move(sum)}).out[0];
    return collective(TapeKind::sum, What::sum_of_experts_outputs,
                      What::output_gradients_to_all_ranks_of_experts, {out}, {std::move(sum)})[0];
}

}  // namespace pentamesh
