#include "core/io/hf_families.h"
#include "core/model/layer_types.h"
#include "core/model/model.h"
#include "core/plan/plan_fields.h"

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

void hunyuan_head_dim(const Fields& f, Model& m) {
    if (!f.find("head_dim")) m.head_dim = f.or_else("attention_head_dim", m.head_dim);
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

void share_experts(const Fields& f, Moe& e, std::string_view count_name) {
    share_experts(e, f.or_else(count_name, 0, 0, Fields::kMostExperts), e.expert_ffn);
}

void ling_experts(const Fields& f, Model& m) {
    m.moe = experts(f, "num_experts", "moe_intermediate_size");
    const std::int64_t width = f.or_else("moe_shared_expert_intermediate_size", m.moe->expert_ffn);
    if (f.flag("moe_router_enable_shared_expert", true))
        share_experts(*m.moe, f.or_else("num_shared_experts", 0, 0, Fields::kMostExperts), width);
    m.moe->router_bias = f.flag("moe_router_enable_expert_bias", false);
    dense_before(f, "first_k_dense_replace", m, 0);
    limit_groups(f, *m.moe);
}

void limit_groups(const Fields& f, Moe& e) {
    const std::int64_t groups = f.or_else("n_group", 1), used = f.or_else("topk_group", groups);
    // A file with one group leaves the other field at its class's default.
    if (used > groups && groups > 1)
        f.fail("topk_group", std::to_string(used) + " is more than n_group = " + std::to_string(groups));
    e.max_nodes_per_token = used < groups ? used : 0;
}

void latent_attention(const Fields& f, Model& m, std::int64_t v_head_dim) {
    m.attention = AttentionKind::mla;
    m.mla = Mla{f.or_else("q_lora_rank", 0), f.need("kv_lora_rank"), f.need("qk_nope_head_dim"),
                f.need("qk_rope_head_dim"), need_or(f, "v_head_dim", v_head_dim)};
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

// ---- layers that differ -----------------------------------------------------------------------------------
namespace {

// Returns the runs of one period.
std::vector<LayerRun> runs_of(const Layers& layers) {
    constexpr std::size_t kMostSearched = 4096;  // beyond these layers no period is looked for
    std::size_t period = layers.size() > kMostSearched ? layers.size() : 1;
    const auto repeats = [&](std::size_t p) {
        for (std::size_t i = p; i < layers.size(); ++i)
            if (!(layers[i] == layers[i - p])) return false;
        return true;
    };
    while (!repeats(period)) ++period;
    std::vector<LayerRun> runs;
    for (std::size_t i = 0; i < period; ++i) {
        LayerRun one = layers[i];
        if (!runs.empty()) {
            one.count = runs.back().count;
            if (one == runs.back()) {
                ++runs.back().count;
                continue;
            }
            one.count = 1;
        }
        runs.push_back(one);
    }
    return runs;
}

bool says_the_same(const Model& m, const Layers& layers) {
    const MixerKind kind = m.sliding_window > 0 ? MixerKind::window : MixerKind::full;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool moe = is_moe_layer(m, static_cast<std::int64_t>(i));
        if (!(layers[i] == LayerRun{kind, moe ? LayerFfn::moe : LayerFfn::dense})) return false;
    }
    return true;
}

struct Word {
    std::string_view word;
    MixerKind kind;
};
// Chunked attention of Llama 4 meets at most as many keys as a window of that size.
constexpr std::array<Word, 9> kWords{{{"full_attention", MixerKind::full},
                                      {"attention", MixerKind::full},
                                      {"sliding_attention", MixerKind::window},
                                      {"chunked_attention", MixerKind::window},
                                      {"linear_attention", MixerKind::linear},
                                      {"conv", MixerKind::linear},
                                      {"short_conv", MixerKind::linear},
                                      {"mamba", MixerKind::mamba},
                                      {"hybrid", MixerKind::full}}};

}  // namespace

Layers plain_layers(const Model& m) {
    Layers layers(static_cast<std::size_t>(m.layers));
    set_ffn(layers, [&](std::int64_t i) { return is_moe_layer(m, i); });
    return layers;
}

std::vector<nlohmann::json> per_layer(const Fields& f, std::string_view name, std::int64_t layers) {
    const nlohmann::json* v = f.find(name);
    if (!v) return {};
    if (!v->is_array()) f.fail(name, "found " + shown_json(*v) + ", must be a list");
    if (static_cast<std::int64_t>(v->size()) < layers)
        f.fail(name, "lists " + std::to_string(v->size()) + " layers of " + std::to_string(layers));
    return {v->begin(), v->begin() + layers};
}

bool read_layer_types(const Fields& f, Layers& layers, std::string_view name) {
    const auto words = per_layer(f, name, static_cast<std::int64_t>(layers.size()));
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = words[i].is_string() ? words[i].get<std::string>() : std::string();
        const auto known =
            std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.word == word; });
        if (known == kWords.end())
            f.fail(name, "layer " + std::to_string(i) + " is " + shown_json(words[i])
                             + ", a kind of layer that a plan cannot state");
        layers[i].kind = known->kind;
    }
    return !words.empty();
}

void slide_all_but(Layers& layers, std::int64_t every) {
    for (std::size_t i = 0; i < layers.size(); ++i)
        layers[i].kind =
            (static_cast<std::int64_t>(i) + 1) % every == 0 ? MixerKind::full : MixerKind::window;
}

void set_layers(const Fields& f, Model& m, const Layers& layers) {
    m.pattern.clear();
    const bool windows = std::any_of(layers.begin(), layers.end(),
                                     [](const LayerRun& l) { return l.kind == MixerKind::window; });
    if (!windows) m.sliding_window = 0;
    if (windows && m.sliding_window == 0)
        f.fail("sliding_window", "is missing, but there are layers with a window");
    if (says_the_same(m, layers)) return;
    m.pattern = runs_of(layers);
    if (m.pattern.size() > kMostRuns)
        f.fail("num_hidden_layers", "its layers make " + std::to_string(m.pattern.size())
                                        + " runs, a plan holds at most " + std::to_string(kMostRuns));
    if (!layer_types(m).complete)
        f.fail("num_hidden_layers", "its layers are of more kinds than the " + std::to_string(kMostLayerTypes)
                                        + " that a plan can hold");
    if (m.moe) m.moe->first_dense_layers = 0, m.moe->every = 1;  // the pattern says which
}

void qwen_sparse_layers(const Fields& f, Model& m) {
    const std::int64_t step = f.or_else("decoder_sparse_step", 1, 1, Fields::kMostLayers);
    m.moe->every = step;
    const nlohmann::json* only = f.find("mlp_only_layers");
    if (!only) return;
    if (!only->is_array()) f.fail("mlp_only_layers", "found " + shown_json(*only) + ", must be a list");
    std::vector<bool> dense(static_cast<std::size_t>(m.layers));
    for (const nlohmann::json& v : *only) {
        if (!v.is_number_integer() || v.get<std::int64_t>() < 0 || v.get<std::int64_t>() >= m.layers)
            f.fail("mlp_only_layers",
                   "found " + shown_json(v) + ", must be layers from 0 to " + std::to_string(m.layers - 1));
        dense[v.get<std::int64_t>()] = true;
    }
    // A number says how many dense layers come before all others; a pattern says any other order.
    std::int64_t first = 0;
    while (first < m.layers / step * step && dense[first + step - 1]) first += step;
    m.moe->first_dense_layers = first;
    Layers layers = plain_layers(m);
    set_ffn(layers, [&](std::int64_t i) { return (i + 1) % step == 0 && !dense[i]; });
    if (m.sliding_window > 0)
        for (LayerRun& l : layers) l.kind = MixerKind::window;
    set_layers(f, m, layers);
}

void deepseek_sparse_layers(const Fields& f, Model& m) {
    const std::int64_t first = f.or_else("first_k_dense_replace", 0, 0),
                       freq = f.or_else("moe_layer_freq", 1, 1, Fields::kMostLayers);
    if (first > m.layers)
        f.fail("first_k_dense_replace",
               std::to_string(first) + " is more than num_hidden_layers = " + std::to_string(m.layers));
    const std::int64_t first_moe = (first + freq - 1) / freq * freq;
    if (first_moe + 1 >= freq) {
        m.moe->first_dense_layers = first_moe + 1 - freq;
        m.moe->every = freq;
        return;
    }
    Layers layers = plain_layers(m);
    set_ffn(layers, [&](std::int64_t i) { return i >= first && i % freq == 0; });
    set_layers(f, m, layers);
}

void dense_before(const Fields& f, std::string_view name, Model& m, std::int64_t otherwise) {
    const std::int64_t first = f.or_else(name, otherwise, 0);
    if (first > m.layers)
        f.fail(name, std::to_string(first) + " is more than num_hidden_layers = " + std::to_string(m.layers));
    m.moe->first_dense_layers = first;
}

}  // namespace pentamesh::hf
