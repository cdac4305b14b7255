// Builds the mixers of a layer: attention with its projections, latent attention, context parallelism, scans.
#include "core/layer/layer_tape.h"
#include "core/mesh/degrees.h"
#include "core/model/mixer_flops.h"

#include <cmath>

namespace pentamesh {
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
    if (type_.attends()) y = attention(x);
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
    const auto both = [&](const TapeStep& how, bool norm) {
        LayerTensor q2 = tensor(q), k2 = tensor(key);
        const Value q_in = q, k_in = key;
        TapeNode& n = node(TapeKind::kernel, {q, key}, {std::move(q2), std::move(k2)});
        q = n.out[0], key = n.out[1];
        step_of(n, how);
        if (norm) save(q_in, TensorId::norm_q_input), save(k_in, TensorId::norm_k_input);
    };
    if (m_.qk_norm != QkNorm::none)
        both({LayerOp::norm, What::norms_of_queries_and_keys, What::gradients_of_the_norms}, true);
    if (m_.positions == Positions::rope)
        both({LayerOp::rotary, What::rotary_positions, What::gradients_turned_back}, false);
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
Value LayerTape::latent_queries(Value u, const LayerDim& heads, Value& index_in) {
    const Mla& a = *m_.mla;
    const LayerDim head = whole_dim(DimName::head, a.qk_nope_head_dim + a.qk_rope_head_dim);
    const LayerTensor w_q = weight_of(a.q_lora_rank > 0 ? TensorId::attention_q_up : TensorId::attention_q,
                                      DimName::queries, DimName::latent);
    Value q_in = u;
    if (a.q_lora_rank > 0) {
        const LayerTensor w = weight_of(TensorId::attention_q_down, DimName::latent, DimName::hidden);
        const Value c = product(What::query_latents, What::gradient_of_attentions_input, u, {w},
                                {resized(u, "c_q", whole_dim(DimName::latent, a.q_lora_rank))})[0];
        save(u, TensorId::attention_input);
        q_in = norm_of(c, "c_q2", What::norm_of_the_query_latents, TensorId::norm_q_latent_input);
    }
    index_in = q_in;
    const Value q_all =
        a.q_lora_rank > 0
            ? enter(q_in, What::query_latents_before_attention, What::gradients_of_the_query_latents,
                    What::query_latents_again_for_the_weight_gradient)
            : enter(q_in, What::activations_before_attention, What::gradients_before_attention,
                    What::attention_input_again_for_the_weight_gradient);
    const Value q = product(What::queries_out_of_their_latents, What::gradient_of_the_query_latents, q_all,
                            {w_q}, {result_of(tensor(q_all), w_q, "q", {heads, head})})[0];
    save(q_all, a.q_lora_rank > 0 ? TensorId::attention_q_latent : TensorId::attention_input);
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
    const Value q = latent_queries(u, heads, index_in);
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
    const std::vector<Value> index = a.index_heads > 0 ? indexer(u, index_in) : std::vector<Value>();
    const Value o =
        core(turned[0], turned[1], turned[2],
             result_of(tensor(kv_all), w_kv, "o", {heads, whole_dim(DimName::head, a.v_head_dim)}), index);
    return leave(output(o), u, What::activations_after_attention, What::gradients_after_attention);
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
Value LayerTape::core(Value q, Value k, Value v, LayerTensor output, const std::vector<Value>& index) {
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
    std::vector<Value> in{q, k, v};
    in.insert(in.end(), index.begin(), index.end());
    double bytes = output.bytes();
    for (const Value x : in) bytes += tensor(x).bytes();
    Value o = kernel({LayerOp::attention, What::attention_core, What::gradient_of_the_attention_core}, in,
                     std::move(output));
    list_.steps.back().bytes_moved = bytes;
    const MixerFlops f = mixer_flops(m_, type_, number(t_.sequence_length), 1);
    list_.steps.back().flops = f.attention * number(t_.micro_batch) / (number(d_.cp) * tp());
    save(q, TensorId::attention_q), save(k, TensorId::attention_k), save(v, TensorId::attention_v);
    if (!index.empty())
        save(index[0], TensorId::attention_index_q), save(index[1], TensorId::attention_index_k),
            save(index[2], TensorId::attention_index_weights),
            save_extra(TensorId::attention_index_chosen, o);
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

}  // namespace pentamesh
