#include "core/io/hf_families.h"

#include <algorithm>

namespace pentamesh::hf {
namespace {

std::int64_t need_or(const Fields& f, std::string_view name, std::int64_t otherwise) {
    return otherwise > 0 ? f.or_else(name, otherwise) : f.need(name);
}

}  // namespace

std::int64_t head_dim_of(const Fields& f, std::string_view hidden_name, std::string_view heads_name,
                         std::int64_t hidden, std::int64_t heads) {
    if (hidden % heads != 0)
        f.fail(heads_name, std::to_string(heads) + " does not divide " + std::string(hidden_name) + " = "
                               + std::to_string(hidden) + ", and there is no head_dim");
    return hidden / heads;
}

FfnKind gated(const Fields& f, std::string_view name, std::string_view otherwise) {
    const std::string act = f.text(name, otherwise);
    if (act == "silu" || act == "swish") return FfnKind::swiglu;
    if (act.rfind("gelu", 0) == 0) return FfnKind::geglu;
    f.fail(name, "found \"" + act + "\", known for a gated MLP: silu, swish, gelu and its variants");
}

FfnKind plain(const Fields& f, std::string_view name, std::string_view otherwise) {
    const std::string act = f.text(name, otherwise);
    if (act == "relu2") return FfnKind::relu2;
    if (act == "xielu") return FfnKind::xielu;
    if (act.rfind("gelu", 0) == 0) return FfnKind::gelu;
    f.fail(name, "found \"" + act + "\", known for an MLP without gate: gelu and its variants, relu2, xielu");
}

Model decoder(const Fields& f, const Defaults& d) {
    Model m;
    m.layers = f.need("num_hidden_layers", Fields::kMostLayers);
    m.hidden = f.need("hidden_size");
    m.heads = need_or(f, "num_attention_heads", d.heads);
    m.kv_heads = f.or_else("num_key_value_heads", d.kv_heads > 0 ? d.kv_heads : m.heads);
    if (m.heads % m.kv_heads != 0)
        f.fail("num_key_value_heads", std::to_string(m.kv_heads) + " does not divide num_attention_heads = "
                                          + std::to_string(m.heads));
    m.head_dim = f.or_else("head_dim", d.head_dim);
    if (m.head_dim == 0) m.head_dim = head_dim_of(f, "hidden_size", "num_attention_heads", m.hidden, m.heads);
    m.ffn = f.need("intermediate_size");
    m.vocab = need_or(f, "vocab_size", d.vocab);
    m.tied_embeddings = f.flag("tie_word_embeddings", d.tied);
    m.sliding_window = f.or_else("sliding_window", 0, 0);
    return m;
}

Model gated_decoder(const Fields& f, const Defaults& d) {
    Model m = decoder(f, d);
    m.ffn_kind = gated(f, d.activation_name, d.activation);
    return m;
}

Model llama_decoder(const Fields& f, const Defaults& d) {
    Model m = gated_decoder(f, d);
    m.attention_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    m.sliding_window = 0;
    return m;
}

std::int64_t prediction_layers(const Fields& f) {
    return f.or_else("num_nextn_predict_layers", 0, 0, Fields::kMostLayers);
}

// Newer files of the hub spell every count of experts num_local_experts (transformers' attribute_map).
Moe experts(const Fields& f, std::string_view count_name, std::string_view ffn_name,
            std::string_view used_name) {
    Moe e;
    if (!f.find(count_name) && f.find("num_local_experts")) count_name = "num_local_experts";
    e.experts = f.need(count_name, Fields::kMostExperts);
    if (!f.find(used_name))
        f.fail(used_name, "is missing, but there are experts (" + std::string(count_name) + " = "
                              + std::to_string(e.experts) + "): how many does a token use?");
    e.top_k = same_in_all(f, used_name, 0);
    if (e.top_k > e.experts)
        f.fail(used_name, std::to_string(e.top_k) + " is more than " + std::string(count_name) + " = "
                              + std::to_string(e.experts));
    e.expert_ffn = same_in_all(f, ffn_name, 0);
    if (e.expert_ffn == 0) static_cast<void>(f.need(ffn_name));
    return e;
}

void share_experts(Moe& e, std::int64_t count, std::int64_t width) {
    e.shared_experts = width > 0 ? count : 0;
    e.shared_expert_ffn = count > 0 ? width : 0;
}

void limit_groups(const Fields& f, Moe& e) {
    const std::int64_t groups = f.or_else("n_group", 1), used = f.or_else("topk_group", groups);
    // A file with one group leaves the other field at its class's default.
    if (used > groups && groups > 1)
        f.fail("topk_group", std::to_string(used) + " is more than n_group = " + std::to_string(groups));
    e.max_nodes_per_token = used < groups ? used : 0;
}

void latent_attention(const Fields& f, Model& m) {
    m.attention = AttentionKind::mla;
    m.mla = Mla{f.or_else("q_lora_rank", 0), f.need("kv_lora_rank"), f.need("qk_nope_head_dim"),
                f.need("qk_rope_head_dim"), f.need("v_head_dim")};
    m.head_dim = m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim;
    if (!f.find("index_n_heads") && !f.find("index_topk")) return;
    m.mla->index_heads = f.need("index_n_heads");
    m.mla->index_head_dim = f.need("index_head_dim");
    m.mla->index_top_k = f.need("index_topk");
}

std::int64_t same_in_all(const Fields& f, std::string_view name, std::int64_t otherwise, std::int64_t least) {
    const nlohmann::json* v = f.find(name);
    if (!v || !v->is_array()) return f.or_else(name, otherwise, least);
    if (v->empty()) return otherwise;
    for (const nlohmann::json& one : *v)
        if (one != v->front())
            f.fail(name, "has a different value for each layer (" + shown_json(v->front()) + " and "
                             + shown_json(one) + "): a plan cannot state that");
    const nlohmann::json all{{"0", v->front()}};
    return Fields(all, f, f.prefix() + "/" + std::string(name)).or_else("0", otherwise, least);
}

}  // namespace pentamesh::hf
