// Builds the forward of a layer: its two halves, norms, a dense MLP.
#include "core/layer/calls.h"
#include "core/layer/layer_tape.h"
#include "core/mesh/mesh.h"
#include "core/model/model.h"

#include <cmath>

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

// Xie et al. 2025 (arXiv 2512.24880), equations 3 and 5 to 8: the weights come of all streams, which are then
// joined.
Value LayerTape::into_block(Value x) {
    if (m_.hyper_streams <= 0) return branch(x);
    const bool mixer = block_ == LayerBlock::mixer;
    const TensorId id = mixer ? TensorId::attention_hyper : TensorId::mlp_hyper;
    const LayerTensor w = weight_of(id, DimName::inner, DimName::hidden);
    LayerTensor h = tensor(x), joined = tensor(x);
    h.name = "h", h.dims.back() = w.dims[0];
    h.bytes_per_number = bytes_of(Dtype::fp32);
    stream_weights_ =
        product(What::weights_of_the_streams, What::gradient_of_the_streams, x, {w}, {std::move(h)})[0];
    save(x, mixer ? TensorId::attention_hyper_input : TensorId::mlp_hyper_input);
    save(stream_weights_, id);
    const double width = number(m_.hidden);
    joined.name = "v", joined.dims.back() = {DimName::hidden, width, width, {}};
    return kernel({LayerOp::residual, What::streams_joined, What::gradient_of_the_streams},
                  {x, stream_weights_}, std::move(joined));
}

Value LayerTape::out_of_block(Value x, Value y) {
    if (m_.hyper_streams <= 0) return add(x, y);
    LayerTensor mixed = tensor(x);
    mixed.name = "x" + std::to_string(++x_count_ + 1);
    const Value out = kernel({LayerOp::residual, What::streams_mixed, What::gradient_of_the_streams},
                             {x, stream_weights_, y}, std::move(mixed));
    save(y, block_ == LayerBlock::mixer ? TensorId::attention_hyper_output : TensorId::mlp_hyper_output);
    return out;
}

Value LayerTape::forward(Value x) {
    const bool mixes = type_.mixer != MixerKind::none, moe = type_.is_moe() && m_.moe;
    const bool shares = type_.shares_norm(m_);
    Value u = -1, shared = -1;
    if (mixes) {
        block_ = LayerBlock::mixer;
        u = norm_of(into_block(x), normed_name(), What::norm_before_attention,
                    TensorId::norm_attention_input);
        if (shares) shared = branch(u);
        x = out_of_block(
            x, after(mixer(u), TensorId::norm_after_attention_input, TensorId::attention_dropout_mask));
    }
    if (type_.ffn == LayerFfn::none) return x;
    block_ = LayerBlock::mlp;
    part_ = LayerPart::mlp;
    const bool of_experts = moe && !m_.moe->beside_mlp;
    if (shares)
        u = shared;
    else
        u = norm_of(into_block(x), normed_name(),
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
    return out_of_block(x, after(y, TensorId::norm_after_mlp_input, TensorId::mlp_dropout_mask));
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

// Builds the mixers of a layer: attention with its projections, latent attention, context parallelism, scans.

namespace {

LayerDim whole_dim(DimName name, std::int64_t n) {
    return {name, number(n), number(n), {}};
}

}  // namespace

Value LayerTape::mixer(Value u) {
    Value y = -1;
    if (type_.attends() && m_.attention == AttentionKind::mla && m_.mla) return latent_attention(u);
    // There is one way in and one out, even where two mixers are side by side after the norm.
    const Value x = enter(u, What::activations_before_attention, What::gradients_before_attention,
                          What::attention_input_again_for_the_weight_gradient);
    if (type_.attends()) y = compresses_keys(m_) ? compressed_attention(x) : attention(x);
    if (!type_.attends() || type_.mamba_beside) {
        const Value z = other_mixer(x);
        y = y < 0 ? z : add(y, z, true);
    }
    return leave(y, u, What::activations_after_attention, What::gradients_after_attention);
}

Value LayerTape::attention(Value x) {
    const LayerType& t = type_;
    const i64 kv_local = divide_up(t.kv_heads, d_.tp);
    const LayerDim a =
        cut_dim(DimName::heads, number(t.heads), number(divide_up(t.heads, d_.tp)), GroupKind::tp, d_.tp);
    const LayerDim k = cut_dim(DimName::kv_heads, number(t.kv_heads), number(kv_local), GroupKind::tp, d_.tp);
    const LayerDim d{DimName::head, number(t.head_dim), number(t.head_dim), {}};
    const LayerDim dv{DimName::head, number(t.value_head_dim), number(t.value_head_dim), {}};
    std::vector<LayerTensor> weights{weight_of(TensorId::attention_q, DimName::queries, DimName::hidden)};
    for (const TensorId id : {TensorId::attention_k, TensorId::attention_v})
        if (has_weight(id)) weights.push_back(weight_of(id, DimName::keys, DimName::hidden));
    const LayerTensor xt = tensor(x);
    std::vector<LayerTensor> outs{result_of(xt, weights[0], "q", {a, d}),
                                  result_of(xt, weights[0], "k", {k, d}),
                                  result_of(xt, weights[0], "v", {k, dv})};
    const bool gate = m_.attention_gate != AttentionGate::none;
    if (gate) {
        weights.push_back(weight_of(TensorId::attention_gate, DimName::queries, DimName::hidden));
        const bool full = m_.attention_gate == AttentionGate::full;
        outs.push_back(result_of(xt, weights[0], "gate", full ? std::vector{a, dv} : std::vector{a}));
    }
    const std::vector<Value> p = product(What::queries_keys_and_values, What::gradient_of_attentions_input, x,
                                         weights, std::move(outs));
    save(x, TensorId::attention_input);
    Value q = p[0], key = p[1];
    if (m_.qk_norm != QkNorm::none)
        turn(q, key, {LayerOp::norm, What::norms_of_queries_and_keys, What::gradients_of_the_norms}, true);
    if (m_.positions == Positions::rope)
        turn(q, key, {LayerOp::rotary, What::rotary_positions, What::gradients_turned_back}, false);
    Value o = core(q, key, p[2], result_of(xt, weights[0], "o", {a, dv}));
    if (gate) {
        LayerTensor gated = tensor(o);
        gated.name = "o_gated";
        o = kernel({LayerOp::activation, What::gate_of_the_output, What::gradient_of_the_gate}, {o, p[3]},
                   std::move(gated));
        save(p[3], TensorId::attention_gate);
    }
    return output(o, gate ? std::optional(TensorId::attention_gated) : std::nullopt);
}

void LayerTape::turn(Value& q, Value& key, const TapeStep& how, bool norm) {
    LayerTensor q2 = tensor(q), k2 = tensor(key);
    const Value q_in = q, k_in = key;
    TapeNode& n = node(TapeKind::kernel, {q, key}, {std::move(q2), std::move(k2)});
    q = n.out[0], key = n.out[1];
    step_of(n, how);
    if (norm) save(q_in, TensorId::norm_q_input), save(k_in, TensorId::norm_k_input);
}

Value LayerTape::output(Value o, std::optional<TensorId> activation) {
    const LayerTensor w = weight_of(TensorId::attention_output, DimName::hidden, DimName::queries);
    LayerTensor y = result_of(tensor(o), w, "y", {w.dims[0]});
    const Value out =
        product(What::output_of_attention, What::gradient_of_attentions_output, o, {w}, {std::move(y)})[0];
    if (activation) save(o, *activation);
    save_extra(TensorId::attention_output_cast, o);
    return out;
}

LayerTensor LayerTape::resized(Value x, std::string name, LayerDim width) const {
    LayerTensor t = tensor(x);
    t.name = std::move(name);
    t.dims.back() = std::move(width);
    return t;
}

// DeepSeek-AI 2025 (DeepSeek-V3.2), section 2.1: the indexer is whole on each rank. Its queries come from
// `q_in`.
std::vector<Value> LayerTape::indexer(Value u, Value q_in) {
    const Mla& a = *m_.mla;
    const LayerTensor wi = weight_of(TensorId::attention_index_q, DimName::inner,
                                     a.q_lora_rank > 0 ? DimName::latent : DimName::hidden);
    std::vector<Value> out =
        product(What::queries_of_the_indexer, What::gradient_of_the_indexer, q_in, {wi},
                {resized(u, "i_q", whole_dim(DimName::inner, a.index_heads * a.index_head_dim))});
    const std::vector<LayerTensor> wk{
        weight_of(TensorId::attention_index_k, DimName::inner, DimName::hidden),
        weight_of(TensorId::attention_index_weights, DimName::inner, DimName::hidden)};
    for (const Value v : product(What::keys_and_weights_of_the_indexer, What::gradient_of_the_indexer, u, wk,
                                 {resized(u, "i_k", whole_dim(DimName::inner, a.index_head_dim)),
                                  resized(u, "i_w", whole_dim(DimName::inner, a.index_heads))}))
        out.push_back(v);
    return out;
}

// Makes the queries of latent attention, out of their own latents where there are such. `index_in` is set to
// what the indexer's queries come from.
Value LayerTape::latent_queries(Value u, const LayerDim& heads, i64 rank, i64 width, Value& index_in) {
    const LayerDim head = whole_dim(DimName::head, width);
    const LayerTensor w_q = weight_of(rank > 0 ? TensorId::attention_q_up : TensorId::attention_q,
                                      DimName::queries, DimName::latent);
    Value q_in = u;
    if (rank > 0) {
        const LayerTensor w = weight_of(TensorId::attention_q_down, DimName::latent, DimName::hidden);
        const Value c = product(What::query_latents, What::gradient_of_attentions_input, u, {w},
                                {resized(u, "c_q", whole_dim(DimName::latent, rank))})[0];
        save(u, TensorId::attention_input);
        q_in = norm_of(c, "c_q2", What::norm_of_the_query_latents, TensorId::norm_q_latent_input);
    }
    index_in = q_in;
    const Value q_all =
        rank > 0 ? enter(q_in, What::query_latents_before_attention, What::gradients_of_the_query_latents,
                         What::query_latents_again_for_the_weight_gradient)
                 : enter(q_in, What::activations_before_attention, What::gradients_before_attention,
                         What::attention_input_again_for_the_weight_gradient);
    const Value q = product(What::queries_out_of_their_latents, What::gradient_of_the_query_latents, q_all,
                            {w_q}, {result_of(tensor(q_all), w_q, "q", {heads, head})})[0];
    save(q_all, rank > 0 ? TensorId::attention_q_latent : TensorId::attention_input);
    return q;
}

// DeepSeek-AI 2024 (DeepSeek-V2), section 2.1. The products into the latents are whole on each rank and run
// on the tokens between regions; the latents, which are narrow, are gathered (Megatron-LM
// multi_latent_attention.py).
Value LayerTape::latent_attention(Value u) {
    const Mla& a = *m_.mla;
    const i64 qk = a.qk_nope_head_dim + a.qk_rope_head_dim, own = divide_up(type_.heads, d_.tp);
    const LayerDim heads = cut_dim(DimName::heads, number(type_.heads), number(own), GroupKind::tp, d_.tp);
    Value index_in = u;
    const Value q = latent_queries(u, heads, a.q_lora_rank, qk, index_in);
    const LayerTensor w_down = weight_of(TensorId::attention_kv_down, DimName::latent, DimName::hidden);
    const Value c =
        product(What::key_and_value_latents, What::gradient_of_attentions_input, u, {w_down},
                {resized(u, "c_kv", whole_dim(DimName::latent, a.kv_lora_rank + a.qk_rope_head_dim))})[0];
    TapeNode& n = node(TapeKind::kernel, {c},
                       {resized(c, "c_kv2", whole_dim(DimName::latent, a.kv_lora_rank)),
                        resized(c, "k_rope", whole_dim(DimName::head, a.qk_rope_head_dim))});
    const Value latent = n.out[0], rope = n.out[1];
    step_of(n, {LayerOp::norm, What::norm_of_the_key_and_value_latents, What::gradient_of_the_norm});
    save(c, TensorId::norm_kv_latent_input);
    const LayerTensor w_kv = weight_of(TensorId::attention_kv_up, DimName::queries, DimName::latent);
    const Value kv_all = enter(latent, What::key_and_value_latents_before_attention,
                               What::gradients_of_the_key_and_value_latents,
                               What::key_and_value_latents_again_for_the_weight_gradient);
    const Value kv =
        product(What::keys_and_values_out_of_their_latents, What::gradient_of_the_key_and_value_latents,
                kv_all, {w_kv},
                {result_of(tensor(kv_all), w_kv, "kv",
                           {heads, whole_dim(DimName::head, a.qk_nope_head_dim + a.v_head_dim)})})[0];
    save(kv_all, TensorId::attention_kv_latent);
    // Every rank's heads have the same rotary keys: where heads are cut, tokens are gathered.
    const Value rope_all =
        enter(rope, What::rotary_keys_before_attention, What::gradients_of_the_rotary_keys, What::none);
    LayerTensor q2 = tensor(q);
    const LayerTensor k2 = result_of(tensor(kv_all), w_kv, "k", {heads, whole_dim(DimName::head, qk)});
    const LayerTensor v2 =
        result_of(tensor(kv_all), w_kv, "v", {heads, whole_dim(DimName::head, a.v_head_dim)});
    TapeNode& turn = node(TapeKind::kernel, {q, kv, rope_all}, {std::move(q2), k2, v2});
    const std::vector<Value> turned = turn.out;
    step_of(turn, {LayerOp::rotary, What::rotary_positions, What::gradients_turned_back});
    const std::vector<Value> index = type_.has_indexer(m_) ? indexer(u, index_in) : std::vector<Value>();
    const Value o =
        core(turned[0], turned[1], turned[2],
             result_of(tensor(kv_all), w_kv, "o", {heads, whole_dim(DimName::head, a.v_head_dim)}), index);
    return leave(output(o), u, What::activations_after_attention, What::gradients_after_attention);
}

// Its queries come from the latents of attention's queries, its keys are compressed as attention's are.
std::vector<Value> LayerTape::compressed_indexer(Value x, Value q_in) {
    const Compressed& a = *m_.compressed;
    const i64 width = saturating_product(type_.key_parts(), a.index_head_dim);
    const LayerTensor w_q = weight_of(TensorId::attention_index_q, DimName::inner, DimName::latent);
    std::vector<Value> out =
        product(What::queries_of_the_indexer, What::gradient_of_the_indexer, q_in, {w_q},
                {resized(x, "i_q", whole_dim(DimName::inner, a.index_heads * a.index_head_dim))});
    const std::vector<LayerTensor> weights{
        weight_of(TensorId::attention_index_kv, DimName::inner, DimName::hidden),
        weight_of(TensorId::attention_index_weights, DimName::inner, DimName::hidden),
        weight_of(TensorId::attention_index_gate, DimName::inner, DimName::hidden)};
    for (const Value v :
         product(What::keys_and_weights_of_the_indexer, What::gradient_of_the_indexer, x, weights,
                 {resized(x, "i_k", whole_dim(DimName::inner, width)),
                  resized(x, "i_w", whole_dim(DimName::inner, a.index_heads)),
                  resized(x, "i_g", whole_dim(DimName::inner, width))}))
        out.push_back(v);
    return out;
}

// DeepSeek-V4 (transformers, modeling_deepseek_v4.py): one key head, whose keys serve as values, a window,
// and behind it keys that are made of `compress` tokens each. Each group of heads has its output projected.
Value LayerTape::compressed_attention(Value x) {
    const Compressed& a = *m_.compressed;
    const i64 own = divide_up(type_.heads, d_.tp), width = type_.head_dim;
    const LayerDim heads = cut_dim(DimName::heads, number(type_.heads), number(own), GroupKind::tp, d_.tp);
    const LayerDim head = whole_dim(DimName::head, width);
    Value index_in = x;
    Value q = latent_queries(x, heads, a.q_lora_rank, width, index_in);
    const LayerTensor xt = tensor(x);
    const LayerTensor w_k = weight_of(TensorId::attention_k, DimName::keys, DimName::hidden);
    Value key = product(What::keys, What::gradient_of_attentions_input, x, {w_k}, {resized(x, "k", head)})[0];
    turn(q, key, {LayerOp::norm, What::norms_of_queries_and_keys, What::gradients_of_the_norms}, true);
    turn(q, key, {LayerOp::rotary, What::rotary_positions, What::gradients_turned_back}, false);
    Value compressed = -1;
    if (type_.compress > 0) {
        const LayerDim parts = whole_dim(DimName::inner, saturating_product(type_.key_parts(), width));
        const std::vector<LayerTensor> weights{
            weight_of(TensorId::attention_compress_kv, DimName::inner, DimName::hidden),
            weight_of(TensorId::attention_compress_gate, DimName::inner, DimName::hidden)};
        const std::vector<Value> p = product(What::keys_to_compress, What::gradient_of_attentions_input, x,
                                             weights, {resized(x, "c_k", parts), resized(x, "c_g", parts)});
        LayerTensor pooled = resized(x, "k_c", head);
        pooled.dims[0].size /= number(type_.compress), pooled.dims[0].local /= number(type_.compress);
        compressed = kernel(
            {LayerOp::activation, What::compression_of_keys, What::gradient_of_the_compression}, p, pooled);
        save(p[0], TensorId::attention_compress_kv), save(p[1], TensorId::attention_compress_gate);
    }
    const std::vector<Value> index =
        type_.picks_compressed ? compressed_indexer(x, index_in) : std::vector<Value>();
    const Value o = core(q, key, key, result_of(xt, w_k, "o", {heads, head}), index, compressed);
    const LayerTensor w_down = weight_of(TensorId::attention_output_down, DimName::latent, DimName::queries);
    LayerTensor c = result_of(tensor(o), w_down, "c_o", {w_down.dims[0]});
    const Value latents =
        product(What::output_latents, What::gradient_of_attentions_output, o, {w_down}, {std::move(c)})[0];
    return output(latents, TensorId::attention_output_down);
}

void LayerTape::exchange_heads(i64 ranks, bool to_heads, What what, What back, std::vector<Value*> values) {
    std::vector<Value> in;
    std::vector<LayerTensor> out;
    for (Value* v : values) {
        LayerTensor t = tensor(*v);
        LayerDim &s = t.dims[0], &heads = t.dims[2];
        const auto n = number(ranks);
        std::erase_if(s.cuts, [](const LayerCut& c) { return c.group == GroupKind::cp; });
        if (to_heads) {
            s.local *= n;
            if (d_.cp > ranks) s.cuts.insert(s.cuts.begin(), {GroupKind::cp, d_.cp / ranks});
            heads.local = std::ceil(heads.local / n);
            heads.cuts.push_back({GroupKind::cp, ranks});
        } else {
            s.local /= n;
            s.cuts.insert(s.cuts.begin(), {GroupKind::cp, d_.cp});
            std::erase_if(heads.cuts, [](const LayerCut& c) { return c.group == GroupKind::cp; });
            heads.local *= n;
        }
        in.push_back(*v);
        out.push_back(std::move(t));
    }
    const std::vector<Value> moved =
        collective(TapeKind::exchange, what, back, std::move(in), std::move(out));
    for (std::size_t i = 0; i < values.size(); ++i) *values[i] = moved[i];
}

// Scores meet queries with keys: both have tokens cut by cp, which no product can have. Keys and values are
// gathered, sent round, or heads are cut in the place of tokens.
Value LayerTape::core(Value q, Value k, Value v, LayerTensor output, const std::vector<Value>& index,
                      Value compressed) {
    const CpComm how = plan_.layout.cp_comm;
    const i64 inner = head_ranks_of(plan_.layout, d_.cp);
    const bool cp = d_.cp > 1;
    if (cp && inner > 1)
        exchange_heads(inner, true, What::queries_keys_and_values_to_heads,
                       What::gradients_of_queries_keys_and_values_to_tokens, {&q, &k, &v});
    const auto whole = [&](Value x) {
        LayerTensor t = tensor(x);
        t.name += "_all";
        const auto parts = number(d_.cp / inner);
        t.dims[0].local *= parts;
        std::erase_if(t.dims[0].cuts, [](const LayerCut& c) { return c.group == GroupKind::cp; });
        return t;
    };
    if (cp && how == CpComm::allgather) {
        LayerTensor kt = whole(k), vt = whole(v);
        k = collective(TapeKind::gather, What::keys, What::gradients_of_keys, {k}, {std::move(kt)})[0];
        v = collective(TapeKind::gather, What::values, What::gradients_of_values, {v}, {std::move(vt)})[0];
    } else if (cp && d_.cp > inner && (how == CpComm::ring || how == CpComm::ulysses_ring)) {
        LayerTensor kt = whole(k), vt = whole(v);
        const std::vector<Value> all =
            collective(TapeKind::gather, What::keys_and_values_rotated,
                       What::gradients_of_keys_and_values_rotated, {k, v}, {std::move(kt), std::move(vt)});
        k = all[0], v = all[1];
    }
    output.dims[0] = tensor(q).dims[0];
    output.dims[2] = tensor(q).dims[2];
    std::vector<Value> in{q, k};
    if (v != k) in.push_back(v);  // where keys serve as values, they are read once
    if (compressed >= 0) in.push_back(compressed);
    in.insert(in.end(), index.begin(), index.end());
    double bytes = output.bytes();
    for (const Value x : in) bytes += tensor(x).bytes();
    Value o = kernel({LayerOp::attention, What::attention_core, What::gradient_of_the_attention_core}, in,
                     std::move(output));
    list_.steps.back().bytes_moved = bytes;
    const MixerFlops f = mixer_flops(m_, type_, number(t_.sequence_length), 1);
    list_.steps.back().flops = f.attention * number(t_.micro_batch) / (number(d_.cp) * tp());
    save(q, TensorId::attention_q), save(k, TensorId::attention_k), save(v, TensorId::attention_v);
    if (compressed >= 0) save(compressed, TensorId::attention_compressed);
    if (!index.empty())
        save(index[0], TensorId::attention_index_q), save(index[1], TensorId::attention_index_k),
            save(index[2], TensorId::attention_index_weights),
            save_extra(TensorId::attention_index_chosen, o);
    if (index.size() > 3)
        save(index[1], TensorId::attention_index_kv), save(index[3], TensorId::attention_index_gate);
    for (const TensorId id :
         {TensorId::attention_softmax, TensorId::attention_softmax_dropout_mask,
          TensorId::attention_softmax_dropped, TensorId::attention_log_sum_exp, TensorId::attention_copies})
        save_extra(id, o);
    save(o, TensorId::attention_output);
    if (cp && inner > 1)
        exchange_heads(inner, false, What::attention_output_to_tokens, What::gradients_of_the_output_to_heads,
                       {&o});
    return o;
}

// A scan mixer is a product in, the scan with its convolutions and inner norms, a product out. Small products
// between the two (Mamba's dt, Kimi's decay and gate) count with the scan: what they make has no name here.
Value LayerTape::other_mixer(Value x) {
    const auto own = [](const Tensor& t) { return t.kind == TensorKind::mixer && t.is_matrix(); };
    TensorId out_id = TensorId::mixer_output;
    for (const Tensor& t : weights_)
        if (own(t) && t.cut == TpCut::row) out_id = t.id;  // the last of them leads out
    std::vector<LayerTensor> weights, outs;
    for (const Tensor& t : weights_) {
        const bool of_input = t.cols == m_.hidden && t.cut != TpCut::none && t.cut != TpCut::row;
        if (!own(t) || t.id == out_id || !of_input) continue;
        weights.push_back(weight_of(t.id, DimName::inner, DimName::hidden));
        outs.push_back(
            result_of(tensor(x), weights.back(), std::string(short_name_of(t.id)), {weights.back().dims[0]}));
    }
    std::vector<Value> in =
        product(What::inputs_of_the_scan, What::gradient_of_the_scans_input, x, weights, std::move(outs));
    if (!type_.attends()) save(x, TensorId::attention_input);
    const auto exchange = [&](std::vector<Value> v, What what, What back) {
        if (!call_of(what)) return v;
        std::vector<LayerTensor> out;
        for (const Value i : v) out.push_back(tensor(i));
        return collective(TapeKind::exchange, what, back, std::move(v), std::move(out));
    };
    in = exchange(in, What::inputs_of_the_scan_to_heads, What::gradients_of_the_scans_inputs_to_tokens);
    const LayerTensor w_out = weight_of(out_id, DimName::hidden, DimName::inner);
    LayerTensor scanned = result_of(tensor(x), weights[0], "o", {w_out.dims[1]});
    Value o = kernel({LayerOp::attention, What::scan_of_the_state, What::gradient_of_the_scan}, in,
                     std::move(scanned));
    list_.steps.back().flops += scan_flops(m_, type_).model * tokens_.of(Tokens::region) / tp();
    for (const Activation& a : parts_.kept)
        if (module_of(a.id) == module_of(out_id)) save_extra(a.id, o);
    o = exchange({o}, What::outputs_of_the_scan_to_tokens, What::gradients_of_the_scans_outputs_to_heads)[0];
    LayerTensor y = result_of(tensor(o), w_out, "y", {w_out.dims[0]});
    return product(What::output_of_the_scan, What::gradient_of_the_scans_output, o, {w_out},
                   {std::move(y)})[0];
}

// Builds the experts of a layer: router, the way of the tokens there and back, grouped products.

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

// Adds the collectives of data parallelism for a layer's weights and gradients, and finds who takes part in a
// collective.

LayerTape::StateMoves LayerTape::moves_of(bool experts) const {
    StateMoves s{list_state_calls(plan_, mesh_, groups_, experts)};
    for (const Tensor& t : weights_)
        if (t.per_expert == experts) s.numbers += numbers_held(t, d_);
    return s;
}

const StateCall* LayerTape::StateMoves::find(Collective c, bool again) const {
    for (const StateCall& call : calls)
        if (call.collective == c && call.again == again && call.ranks > 1 && numbers > 0) return &call;
    return nullptr;
}

LayerTensor LayerTape::StateMoves::flat(std::string name, bool cut, double bytes) const {
    LayerTensor t;
    t.name = std::move(name);
    t.weight = true;
    t.bytes_per_number = bytes;
    LayerDim d{DimName::numbers, numbers, numbers, {}};
    const double parts = calls.back().cut;
    if (cut && parts > 1) {
        d.local = std::ceil(numbers / parts);
        d.cuts.push_back({calls[0].group, calls[0].ranks});
    }
    t.dims.push_back(d);
    return t;
}

void LayerTape::set_call(LayerStep& step, const StateCall& call, double numbers) const {
    step.per_step = call.rounds.each != GradientReduction::micro_batch;
    step.per_run = call.rounds.each == GradientReduction::run;
    set_call(step, call.group, call.ranks, numbers / call.cut * call.bytes, 1);
}

void LayerTape::weights_in(bool of_experts) {
    const StateMoves s = moves_of(of_experts);
    if (std::ranges::none_of(s.calls, [&](const StateCall& c) { return s.find(c.collective, c.again); }))
        return;
    const LayerBlock outer = std::exchange(block_, LayerBlock::weights);
    const StateCall* const gather = s.find(Collective::all_gather, false);
    const double bytes = plan_.layout.zero >= 3 ? gathered_bytes(t_) : updated_bytes(t_);
    const std::string name = of_experts ? "W_experts" : "W";
    std::vector<LayerTensor> out{s.flat(name, false, bytes)};
    const Value in = put(s.flat(name, true, bytes));
    TapeNode& n = node(TapeKind::weights_in, {in}, std::move(out));
    n.experts = of_experts;
    if (gather) set_call(step_of(n, {LayerOp::all_gather, gather->what, What::none}), *gather, s.numbers);
    block_ = outer;
}

void LayerTape::weights_behind(bool of_experts) {
    const StateMoves s = moves_of(of_experts);
    const StateCall* const gather = s.find(Collective::all_gather, true);
    if (gather && gather->rounds.times > 0) node(TapeKind::weights_again, {}, {}).experts = of_experts;
}

void LayerTape::back_weights(const TapeNode& n) {
    const StateMoves s = moves_of(n.experts);
    const std::string name = n.experts ? "W_experts" : "W";
    const auto say = [&](LayerOp op, LayerTensor in, LayerTensor out, const StateCall& c) {
        set_call(
            emit(LayerPass::backward, op, LayerBlock::weights, c.what, {std::move(in)}, {std::move(out)}), c,
            s.numbers);
    };
    const double p = gathered_bytes(t_), g = bytes_of(t_.gradients);
    if (n.kind == TapeKind::weights_again)
        return say(LayerOp::all_gather, s.flat(name, true, p), s.flat(name, false, p),
                   *s.find(Collective::all_gather, true));
    const StateCall* const scatter = s.find(Collective::reduce_scatter, false);
    const StateCall* const reduce = s.find(Collective::all_reduce, false);
    const LayerTensor all = s.flat("d" + name, true, g);
    LayerTensor sums = s.flat("d" + name, false, g), summands = all;
    if (reduce) summands.partial.push_back(reduce->group);
    if (scatter) {
        sums.partial.push_back(scatter->group);
        say(LayerOp::reduce_scatter, sums, summands, *scatter);
    }
    if (reduce) say(LayerOp::all_reduce, summands, all, *reduce);
}

// Returns the first ranks of the group, found from its factors: no list of all ranks is made.
std::vector<std::int64_t> LayerTape::members(GroupKind group, i64 ranks, bool outer) const {
    std::vector<Factor> factors;
    i64 first = first_rank_of_group(mesh_, group, rank_);
    const auto all = group_factors(mesh_, group);
    const i64 degree = groups_[group].degree;
    if (group == GroupKind::cp && ranks < degree) {  // inner: neighbours; outer: one of each of these
        const Factor f = mesh_.dense[Axis::cp];
        const i64 at = dense_coordinates(mesh_, rank_)[Axis::cp], step = outer ? degree / ranks : 1;
        factors.push_back({ranks, f.stride * step});
        first = rank_ - (outer ? at / step * step : at % ranks) * f.stride;
    } else {
        factors.assign(all.span().begin(), all.span().end());
    }
    std::vector<i64> out;
    const i64 count = most_members_ > 0 ? std::min(ranks, most_members_) : ranks;
    for (i64 i = 0; i < count; ++i) {
        i64 rank = first, left = i;
        for (const Factor& f : factors) rank += left % f.size * f.stride, left /= f.size;
        out.push_back(rank);
    }
    return out;
}

void LayerTape::set_call(LayerStep& s, GroupKind group, i64 ranks, double message, double calls) const {
    s.group = group;
    s.group_size = ranks;
    s.ranks = members(group, ranks, s.op == LayerOp::ring_send);
    s.message_bytes = message;
    s.calls = calls;
    s.sent_bytes = calls * sent_bytes(collective_of(s.op), ranks, message);
    if (group == GroupKind::ep && s.op == LayerOp::all_to_all && plan_.layout.ep_comm != EpComm::alltoall) {
        s.slow_share = slow_share(plan_, groups_[GroupKind::ep]);
        s.forwarded = true;
    }
}

}  // namespace pentamesh
