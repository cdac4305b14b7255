// Builds the forward of a layer: its two halves, norms, a dense MLP.
#include "core/layer/layer_tape.h"

namespace pentamesh {

std::string LayerTape::normed_name() const {
    return x_count_ == 0 ? "u" : "u" + std::to_string(x_count_ + 1);
}

Value LayerTape::norm_of(Value x, std::string name, What what, TensorId activation) {
    LayerTensor u = tensor(x);
    u.name = std::move(name);
    const Value out = kernel({LayerOp::norm, what, What::gradient_of_the_norm}, {x}, std::move(u));
    save(x, activation);
    return out;
}

Value LayerTape::add(Value x, Value y, bool fused) {
    LayerTensor sum = tensor(x);
    sum.name = "x" + std::to_string(++x_count_ + 1);
    return kernel(
        {LayerOp::residual, fused ? What::added_on_the_way : What::added_to_the_residual_stream, What::none},
        {x, y}, std::move(sum), TapeKind::residual);
}

// Adds a norm after the block, and dropout: it is fused with the addition, whose bytes it shares.
Value LayerTape::after(Value y, TensorId norm, TensorId mask) {
    if (m_.post_norms) y = norm_of(y, "y", What::norm_behind_the_block, norm);
    if (!t_.dropout) return y;
    LayerTensor dropped = tensor(y);
    y = kernel({LayerOp::dropout, What::dropout, What::gradient_of_the_dropout}, {y}, std::move(dropped));
    save_extra(mask, y);
    return y;
}

Value LayerTape::forward(Value x) {
    const bool mixes = type_.mixer != MixerKind::none, moe = type_.is_moe() && m_.moe;
    const bool shares = type_.shares_norm(m_);
    Value u = -1, shared = -1;
    if (mixes) {
        block_ = LayerBlock::mixer;
        u = norm_of(branch(x), normed_name(), What::norm_before_attention, TensorId::norm_attention_input);
        if (shares) shared = branch(u);
        x = add(x, after(mixer(u), TensorId::norm_after_attention_input, TensorId::attention_dropout_mask));
    }
    if (type_.ffn == LayerFfn::none) return x;
    block_ = LayerBlock::mlp;
    part_ = LayerPart::mlp;
    const bool of_experts = moe && !m_.moe->beside_mlp;
    if (shares)
        u = shared;
    else
        u = norm_of(branch(x), normed_name(),
                    of_experts ? What::norm_before_the_experts : What::norm_before_the_mlp,
                    TensorId::norm_mlp_input);
    Value y = -1;
    if (type_.ffn_width > 0) {
        y = mlp(u);
        if (moe && m_.moe->beside_mlp) {
            y = norm_of(y, "y", What::norm_behind_the_mlp, TensorId::norm_after_dense_mlp_input);
            u = norm_of(branch(x), normed_name(), What::norm_before_the_experts,
                        TensorId::norm_experts_input);
        }
    }
    if (moe) {
        Value z = experts(u);
        if (m_.moe->beside_mlp)
            z = norm_of(z, "y", What::norm_behind_the_experts, TensorId::norm_after_experts_input);
        y = y < 0 ? z : add(y, z, true);
    }
    return add(x, after(y, TensorId::norm_after_mlp_input, TensorId::mlp_dropout_mask));
}

// Gate and up are one product. The experts of a rank have a product each.
Value LayerTape::mlp_products(Value x, TensorModule module) {
    const bool shared = module == TensorModule::shared_expert, experts = module == TensorModule::experts;
    const MlpTensors& ids = mlp_tensors(module);
    const auto own = [&](std::string_view tensor) { return std::string(tensor) + (shared ? "_shared" : ""); };
    std::vector<LayerTensor> weights;
    if (gated()) weights.push_back(weight_of(ids.gate, DimName::ffn, DimName::hidden));
    weights.push_back(weight_of(ids.up, DimName::ffn, DimName::hidden));
    const auto outputs = [](const LayerTensor& w) { return w.dims[w.dims.size() - 2]; };
    const LayerDim f = outputs(weights[0]);
    std::vector<LayerTensor> outs;
    if (gated()) outs.push_back(result_of(tensor(x), weights[0], own("g"), {f}));
    outs.push_back(result_of(tensor(x), weights[0], own("up"), {f}));
    const What up = experts  ? What::gate_and_up_of_the_experts
                    : shared ? What::gate_and_up_of_the_shared_experts
                             : What::gate_and_up;
    const std::vector<Value> in =
        product(up, experts ? What::gradient_of_the_experts_input : What::gradient_of_the_mlps_input, x,
                weights, std::move(outs));
    if (!shared) save(x, experts ? TensorId::experts_input : TensorId::mlp_input);
    LayerTensor z = tensor(in.back());
    z.name = own("z");
    const Value product_in =
        kernel({LayerOp::activation, What::activation_function, What::gradient_of_the_activation_function},
               in, std::move(z));
    if (gated()) save(in[0], ids.gate);
    save(in.back(), ids.up);
    save_extra(ids.activated, product_in);
    const LayerTensor down = weight_of(ids.down, DimName::hidden, DimName::ffn);
    LayerTensor out = result_of(tensor(product_in), down, own("y"), {outputs(down)});
    const Value y = product(experts  ? What::down_of_the_experts
                            : shared ? What::down_of_the_shared_experts
                                     : What::down,
                            What::gradient_of_the_activated, product_in, {down}, {std::move(out)})[0];
    save(product_in, ids.product);
    return y;
}

Value LayerTape::mlp(Value u) {
    const LayerPart around = std::exchange(part_, LayerPart::mlp);
    const Value x = enter(u, What::activations_before_the_mlp, What::gradients_before_the_mlp,
                          What::mlp_input_again_for_the_weight_gradient);
    const Value y = leave(mlp_products(x, TensorModule::mlp), u, What::activations_after_the_mlp,
                          What::gradients_after_the_mlp);
    part_ = around;
    return y;
}

}  // namespace pentamesh
