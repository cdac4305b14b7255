#include "core/base/text.h"
#include "core/io/hf_families.h"
#include "core/model/model.h"
#include "core/plan/plan_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace pentamesh {
namespace {

using hf::Family;
using hf::Fields;

// Describes a config with several parts: where the language model's part lies, and its type where the part
// does not name it.
struct Wrapper {
    std::string_view type, part, inner;
};
constexpr std::array<Wrapper, 41> kWrappers{{{"aya_vision", "text_config", "cohere2"},
                                             {"cohere2_vision", "text_config", "cohere2"},
                                             {"exaone4_5", "text_config", "exaone4"},
                                             {"gemma3", "text_config", "gemma3_text"},
                                             {"gemma4", "text_config", "gemma4_text"},
                                             {"gemma4_unified", "text_config", "gemma4_unified_text"},
                                             {"glm46v", "text_config", "glm4v_text"},
                                             {"glm4v", "text_config", "glm4v_text"},
                                             {"glm4v_moe", "text_config", "glm4v_moe_text"},
                                             {"glmga", "text_config", "glm4v_text"},
                                             {"got_ocr2", "text_config", "qwen2"},
                                             {"idefics3", "text_config", "llama"},
                                             {"internvl", "text_config", "qwen2"},
                                             {"internvl_chat", "llm_config", "qwen2"},
                                             {"kimi_k25", "text_config", "kimi_k2"},
                                             {"kimi_vl", "text_config", "deepseek_v3"},
                                             {"lfm2_vl", "text_config", "lfm2"},
                                             {"llama4", "text_config", "llama4_text"},
                                             {"llava", "text_config", "llama"},
                                             {"llava_next", "text_config", "mistral"},
                                             {"llava_next_video", "text_config", "llama"},
                                             {"llava_onevision", "text_config", "qwen2"},
                                             {"mistral3", "text_config", "mistral"},
                                             {"muse_glimmer", "text_config", "muse_glimmer_text"},
                                             {"ovis2", "text_config", "qwen2"},
                                             {"paligemma", "text_config", "gemma"},
                                             {"perception_lm", "text_config", "llama"},
                                             {"qwen2_5_omni", "thinker_config", "qwen2"},
                                             {"qwen2_5_vl", "text_config", "qwen2"},
                                             {"qwen2_audio", "text_config", "qwen2"},
                                             {"qwen2_vl", "text_config", "qwen2"},
                                             {"qwen3_5", "text_config", "qwen3_5_text"},
                                             {"qwen3_5_moe", "text_config", "qwen3_5_moe_text"},
                                             {"qwen3_omni_moe", "thinker_config", "qwen3_moe"},
                                             {"qwen3_vl", "text_config", "qwen3"},
                                             {"qwen3_vl_moe", "text_config", "qwen3_moe"},
                                             {"smolvlm", "text_config", "llama"},
                                             {"step3p7", "text_config", "step3p5"},
                                             {"video_llava", "text_config", "llama"},
                                             {"vipllava", "text_config", "llama"},
                                             {"voxtral", "text_config", "llama"}}};

struct Alias {
    std::string_view type, means;
};
constexpr std::array<Alias, 7> kAliases{{{"exaone4_5_text", "exaone4"},
                                         {"qwen2_5_omni_text", "qwen2"},
                                         {"qwen2_5_vl_text", "qwen2"},
                                         {"qwen2_vl_text", "qwen2"},
                                         {"qwen3_omni_moe_text", "qwen3_moe"},
                                         {"qwen3_vl_moe_text", "qwen3_moe"},
                                         {"qwen3_vl_text", "qwen3"}}};

// Names a family that no plan can state, and the fields that a plan would need for it.
struct Refused {
    std::string_view type, missing;
};
constexpr std::array<Refused, 52> kRefused{{
    {"axk1", "a norm after the experts that its dense layers have not"},
    {"axk2", "gated norms and queries made of two inputs"},
    {"bailing_hybrid", "its lightning layers beside latent attention"},
    {"biogpt", "a table of positions with two more rows"},
    {"bitnet", "norms inside attention and MLP"},
    {"bloom", "the norm after its embedding and ALiBi's positions"},
    {"blt", "bytes that make patches of different lengths"},
    {"cohere2_moe", "experts beside attention, behind the same norm"},
    {"cpmant", "biases of attention by distance, in buckets"},
    {"ctrl", "sinusoidal positions"},
    {"diffllama", "differential attention"},
    {"doge", "attention with a dynamic mask and weights on its residuals"},
    {"ernie4_5_moe_vl", "experts for each kind of input"},
    {"ernie4_5_vl_moe", "experts for each kind of input"},
    {"falcon_mamba", "a model without attention: heads have no meaning"},
    {"gemma3n", "embeddings for each layer, AltUp and LAuReL"},
    {"gemma3n_text", "embeddings for each layer, AltUp and LAuReL"},
    {"gpt_neo", "a bias of only attention's output"},
    {"gpt_neox_japanese", "a bias in only the last layer"},
    {"hrm_text", "stacks of layers that one step runs several times"},
    {"hymba", "attention and Mamba in one head and meta tokens"},
    {"inkling_mm_model", "relative positions with parameters and convolutions in every layer"},
    {"inkling_text", "relative positions with parameters and convolutions in every layer"},
    {"jetmoe", "experts inside attention"},
    {"longcat_flash", "two attentions in a layer and experts that compute nothing"},
    {"longcat_flash_ngram", "two attentions in a layer, experts that compute nothing and n-gram tables"},
    {"mamba", "a model without attention: heads have no meaning"},
    {"mamba2", "a model without attention: heads have no meaning"},
    {"minimax_m3_vl", "an indexer that picks blocks of keys"},
    {"minimax_m3_vl_text", "an indexer that picks blocks of keys"},
    {"mllama", "layers with attention to an image"},
    {"mllama_text_model", "layers with attention to an image"},
    {"modernbert-decoder", "a norm after its embedding and a head of two products"},
    {"mpt", "ALiBi's positions"},
    {"openai-gpt", "norms after attention and MLP without a last one"},
    {"openelm", "a different number of heads in each layer"},
    {"opt", "an MLP with ReLU"},
    {"persimmon", "norms of queries and keys that have biases"},
    {"phi4_multimodal", "adapters for images and sound"},
    {"phi4flash", "differential attention and shared keys over a distance"},
    {"phi4mini_flash", "differential attention and shared keys over a distance"},
    {"qwen4_exp", "streams mixed at low rank and tables of n-grams"},
    {"qwen4_exp_text", "streams mixed at low rank and tables of n-grams"},
    {"recurrent_gemma", "its RG-LRU layers"},
    {"rwkv", "its time mix"},
    {"rwkv7", "its time mix"},
    {"step3", "attention whose queries are factored"},
    {"xglm", "sinusoidal positions"},
    {"xlstm", "its recurrent cells"},
    {"zamba", "one attention that several layers share"},
    {"zamba2", "blocks that several layers share, with adapters"},
    {"zaya", "its compressed convolutional attention"},
}};

std::array<std::span<const Family>, 6> all_families() {
    return {hf::dense_families(), hf::moe_families(),    hf::linear_families(),
            hf::mamba_families(), hf::uneven_families(), hf::further_families()};
}

const Family* find_family(std::string_view type) {
    for (const Alias& a : kAliases)
        if (a.type == type) type = a.means;
    for (const std::span<const Family> families : all_families())
        for (const Family& f : families)
            if (f.type == type) return &f;
    return nullptr;
}

[[noreturn]] void refuse_type(const Fields& f, const std::string& type) {
    for (const Refused& r : kRefused)
        if (r.type == type)
            f.fail("model_type", "\"" + type + "\" is a family that a plan cannot state: it has no field for "
                                     + std::string(r.missing));
    std::vector<std::string_view> near = hf_model_types();
    std::stable_sort(near.begin(), near.end(), [&](std::string_view a, std::string_view b) {
        return edit_distance(type, a) < edit_distance(type, b);
    });
    std::string text = "unknown model_type \"" + type + "\"; of the " + std::to_string(near.size())
                       + " known ones the closest are";
    for (const std::string_view known : {near[0], near[1], near[2]})
        text += (known == near[0] ? " " : ", ") + std::string(known);
    text += ". The file has these fields:";
    int shown = 0;
    for (const auto& item : f.object().items()) {
        text += (shown == 0 ? " " : ", ") + item.key().substr(0, 60);
        if (++shown == 60) {
            text += ", and more";
            break;
        }
    }
    f.fail("model_type", text);
}

std::string name_for(const Fields& f, const std::string& type) {
    const nlohmann::json* given = f.find("_name_or_path");
    if (given && given->is_string() && !given->get<std::string>().empty()) return given->get<std::string>();
    const std::filesystem::path file(f.path());
    std::string stem = file.stem().string();
    if (stem == "config") stem = file.parent_path().filename().string();
    return stem.empty() || stem == "-" || stem == "." ? type : stem;
}

// Holds the language model's part of a config and its type.
struct Part {
    nlohmann::json object;
    std::string prefix, type;
};
Part language_part(const Fields& top, const std::string& type) {
    Part part{top.object(), "", type};
    for (const Wrapper& w : kWrappers) {
        if (w.type != type) continue;
        const nlohmann::json* inner = top.find(w.part);
        if (inner && !inner->is_object()) top.fail(w.part, "must be an object");
        part.type = w.inner;
        if (!inner) break;  // newer and older files of a family: all in one
        part.prefix = "/" + std::string(w.part);
        if (w.part == "thinker_config" && inner->contains("text_config")
            && (*inner)["text_config"].is_object()) {
            part.prefix += "/text_config";
            part.object = (*inner)["text_config"];
        } else {
            part.object = *inner;
        }
        const Fields own(part.object, top, part.prefix);
        part.type = own.text("model_type", w.inner);
        // The switch that ties head and table may be outside the part.
        const nlohmann::json* tied = top.find("tie_word_embeddings");
        if (tied && !own.find("tie_word_embeddings")) part.object["tie_word_embeddings"] = *tied;
        break;
    }
    return part;
}

}  // namespace

bool is_hf_config(const nlohmann::json& value) {
    return value.is_object() && (value.contains("model_type") || value.contains("architectures"));
}

const std::vector<std::string_view>& hf_model_types() {
    static const std::vector<std::string_view> types = [] {
        std::vector<std::string_view> all;
        for (const std::span<const Family> families : all_families())
            for (const Family& f : families) all.push_back(f.type);
        for (const Wrapper& w : kWrappers) all.push_back(w.type);
        for (const Alias& a : kAliases) all.push_back(a.type);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }();
    return types;
}

Model model_from_hf(const nlohmann::json& config, const std::string& path, std::set<std::string>* read) {
    if (!config.is_object())
        throw Error(ErrorKind::invalid, path, "",
                    "found " + shown_json(config) + ", a Hugging Face config.json must be an object");
    const Fields top(config, path, "", read);
    const std::string type = top.text("model_type", "");
    if (type.empty())
        top.fail("model_type", "is missing: it says which architecture the other fields describe");
    const Part part = language_part(top, type);
    const Fields fields(part.object, top, part.prefix);
    const Family* family = find_family(part.type);
    if (!family) refuse_type(part.prefix.empty() ? top : fields, part.type);
    Model model = hf::read_family(*family, fields);
    if (!counts_all(count_parameters(model)))
        throw Error(ErrorKind::invalid, path, fields.prefix(), uncounted_text(model));
    model.name = name_for(top, type);
    return model;
}

Model model_from_hf(std::string_view text, const std::string& path, std::set<std::string>* read) {
    return model_from_hf(parse_json(text, path), path, read);
}

}  // namespace pentamesh

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

// Reads families with linear attention or short convolutions between layers of attention.

namespace {

// Qwen3-Next and Qwen 3.5 have three gated delta nets, then attention with a gate on its output.
Model qwen3_next(const Fields& f) {
    const bool has_ffn = f.find("intermediate_size") != nullptr;
    nlohmann::json filled = f.object();
    if (!has_ffn) filled["intermediate_size"] = f.need("moe_intermediate_size");
    const Fields own(filled, f, f.prefix());
    Model m = gated_decoder(own, {.head_dim = 256});
    m.attention_bias = f.flag("attention_bias", false);
    m.qk_norm = QkNorm::head;
    if (f.flag("attn_output_gate", true)) m.attention_gate = AttentionGate::full;
    m.sliding_window = 0;
    m.linear = Linear{LinearKind::gated_delta,
                      f.need("linear_num_key_heads"),
                      f.need("linear_num_value_heads"),
                      f.need("linear_key_head_dim"),
                      f.need("linear_value_head_dim"),
                      f.or_else("linear_conv_kernel_dim", 4),
                      false,
                      false};
    if (f.or_else("num_experts", 0, 0, Fields::kMostExperts) > 0) {
        m.moe = experts(f, "num_experts", "moe_intermediate_size");
        share_experts(*m.moe, 1, f.or_else("shared_expert_intermediate_size", 0, 0));
        m.moe->shared_expert_gate = m.moe->shared_experts > 0;
        qwen_sparse_layers(f, m);
    }
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers)) {
        const std::int64_t every = f.or_else("full_attention_interval", 4, 1, Fields::kMostLayers);
        for (std::size_t i = 0; i < layers.size(); ++i)
            if ((static_cast<std::int64_t>(i) + 1) % every != 0) layers[i].kind = MixerKind::linear;
    }
    set_layers(f, m, layers);
    if (!has_ffn) m.ffn = 0;
    m.mtp_layers = f.or_else("mtp_num_hidden_layers", f.or_else("num_nextn_predict_layers", 0, 0), 0,
                             Fields::kMostLayers);
    return m;
}

// Kimi Linear has three Kimi delta layers, then latent attention; layers are counted from 1.
Model kimi_linear(const Fields& f) {
    Model m = gated_decoder(f);
    m.kv_heads = m.heads;
    m.sliding_window = 0;
    latent_attention(f, m);
    const nlohmann::json* linear = f.find("linear_attn_config");
    if (!linear || !linear->is_object()) f.fail("linear_attn_config", "is missing, must be an object");
    const Fields own(*linear, f, f.prefix() + "/linear_attn_config");
    const std::int64_t heads = own.need("num_heads"), dim = own.need("head_dim");
    m.linear = Linear{LinearKind::kimi_delta,
                      heads,
                      heads,
                      dim,
                      dim,
                      own.or_else("short_conv_kernel_size", 4),
                      false,
                      false};
    const std::int64_t count = f.or_else("num_experts", 0, 0, Fields::kMostExperts);
    if (count > 0) {
        const bool token = f.find("num_experts_per_token") != nullptr;
        m.moe = experts(f, "num_experts", "moe_intermediate_size",
                        token ? "num_experts_per_token" : "num_experts_per_tok");
        m.moe->router_bias = true;
        share_experts(f, *m.moe, "num_shared_experts");
        deepseek_sparse_layers(f, m);
    }
    Layers layers = plain_layers(m);
    const nlohmann::json* listed = own.find("kda_layers");
    if (!listed || !listed->is_array()) own.fail("kda_layers", "is missing, must be a list of layers");
    for (const nlohmann::json& i : *listed) {
        if (!i.is_number_integer() || i.get<std::int64_t>() < 1 || i.get<std::int64_t>() > m.layers)
            own.fail("kda_layers",
                     "found " + shown_json(i) + ", must be layers from 1 to " + std::to_string(m.layers));
        layers[i.get<std::int64_t>() - 1].kind = MixerKind::linear;
    }
    set_layers(f, m, layers);
    m.mtp_layers = prediction_layers(f);
    return m;
}

// MiniMax-01 and M1 have seven lightning layers, then softmax attention, experts everywhere.
Model minimax(const Fields& f) {
    Model m = gated_decoder(f);
    m.sliding_window = 0;
    m.linear = Linear{LinearKind::lightning, m.heads, m.heads, m.head_dim, m.head_dim, 0, false, false};
    m.moe = experts(f, "num_local_experts", "intermediate_size");
    share_experts(*m.moe, 1, f.or_else("shared_intermediate_size", 0, 0));
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers)) {
        const auto types = per_layer(f, "attn_type_list", m.layers);  // 1: softmax
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const bool full = types.empty() ? (i + 1) % 2 == 0 : types[i] == 1;
            if (!full) layers[i].kind = MixerKind::linear;
        }
    }
    set_layers(f, m, layers);
    return m;
}

// Ring-linear has groups of lightning layers that end in attention.
Model bailing_linear(const Fields& f) {
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("use_bias", false);
    m.mlp_bias = m.attention_bias;
    m.qkv_bias = f.flag("use_qkv_bias", false) && !m.attention_bias;
    if (m.attention_bias || m.qkv_bias)
        f.fail(m.attention_bias ? "use_bias" : "use_qkv_bias",
               "true in a model with linear layers cannot be stated");
    const bool norms = f.flag("use_qk_norm", false);
    if (norms) m.qk_norm = QkNorm::head;
    m.sliding_window = 0;
    m.linear = Linear{LinearKind::lightning, m.kv_heads, m.heads, m.head_dim, m.head_dim, 0, false, norms};
    ling_experts(f, m);
    const std::int64_t group = f.need("layer_group_size", Fields::kMostLayers);
    Layers layers = plain_layers(m);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto n = static_cast<std::int64_t>(i);
        const bool full = (n + 1) % group == 0 || n >= m.layers / group * group;
        if (!full) layers[i].kind = MixerKind::linear;
    }
    set_layers(f, m, layers);
    m.mtp_layers = prediction_layers(f);
    return m;
}

// LFM2 has gated short convolutions with attention between them.
void short_convolutions(const Fields& f, Model& m) {
    m.tied_embeddings = f.flag("tie_embedding", f.flag("tie_word_embeddings", true));
    m.qk_norm = QkNorm::head;
    m.sliding_window = 0;
    m.linear = Linear{LinearKind::short_conv,     0,    0, 0, 0, f.or_else("conv_L_cache", 3),
                      f.flag("conv_bias", false), false};
    Layers layers = plain_layers(m);
    const nlohmann::json* full = f.find("full_attn_idxs");
    if (!read_layer_types(f, layers) && full && full->is_array())
        for (std::size_t i = 0; i < layers.size(); ++i)
            if (std::find(full->begin(), full->end(), nlohmann::json(i)) == full->end())
                layers[i].kind = MixerKind::linear;
    set_layers(f, m, layers);
}

Model lfm2(const Fields& f) {
    nlohmann::json filled = f.object();
    if (f.find("block_ff_dim")) filled["intermediate_size"] = filled["block_ff_dim"];
    if (!f.find("num_attention_heads") && f.find("num_heads"))
        filled["num_attention_heads"] = filled["num_heads"];
    Model m = gated_decoder(Fields(filled, f, f.prefix()));
    if (f.flag("block_auto_adjust_ff_dim", true)) {
        double width = std::floor(2.0 * static_cast<double>(m.ffn) / 3.0);
        const nlohmann::json* by = f.find("block_ffn_dim_multiplier");
        if (by && !by->is_number())
            f.fail("block_ffn_dim_multiplier", "found " + shown_json(*by) + ", must be a number");
        if (by) width = std::floor(width * by->get<double>());
        const std::int64_t unit = f.or_else("block_multiple_of", 256);
        if (!(width >= 1 && width < 1e9)) f.fail("block_ffn_dim_multiplier", "makes no width of an MLP");
        m.ffn = (static_cast<std::int64_t>(width) + unit - 1) / unit * unit;
    }
    short_convolutions(f, m);
    return m;
}

Model lfm2_moe(const Fields& f) {
    Model m = gated_decoder(f);
    m.moe = experts(f, "num_experts", "moe_intermediate_size");
    m.moe->router_bias = f.flag("use_expert_bias", true);
    dense_before(f, "num_dense_layers", m, 2);
    short_convolutions(f, m);
    return m;
}

constexpr std::array<Family, 13> kLinearFamilies{{{"bailing_moe_linear", bailing_linear},
                                                  {"kimi_linear", kimi_linear},
                                                  {"lfm2", lfm2},
                                                  {"lfm2_moe", lfm2_moe},
                                                  {"minimax", minimax},
                                                  {"minimax_m1", minimax},
                                                  {"minimax_text_01", minimax},
                                                  {"MiniMaxText01", minimax},
                                                  {"MiniMaxM1", minimax},
                                                  {"qwen3_5_moe_text", qwen3_next},
                                                  {"qwen3_5_text", qwen3_next},
                                                  {"qwen3_next", qwen3_next},
                                                  {"ring_linear", bailing_linear}}};

}  // namespace

std::span<const Family> linear_families() {
    return kLinearFamilies;
}

// Reads families with Mamba layers.

namespace {

struct MambaNames {
    std::string_view heads, head_dim, groups, state, conv, conv_bias, bias;
};
constexpr MambaNames kMambaNames{"mamba_n_heads", "mamba_d_head",    "mamba_n_groups", "mamba_d_state",
                                 "mamba_d_conv",  "mamba_conv_bias", "mamba_proj_bias"};

// Reads version 2. Where `inner` is 0, it is heads times the head's width, or mamba_expand times the hidden
// width.
Mamba mamba2(const Fields& f, const MambaNames& n, std::int64_t hidden, std::int64_t inner = 0) {
    Mamba a;
    a.heads = f.need(n.heads);
    const nlohmann::json* dim = f.find(n.head_dim);
    const bool automatic = !dim || dim->is_string();
    if (inner == 0) inner = automatic ? f.or_else("mamba_expand", 2) * hidden : a.heads * f.need(n.head_dim);
    if (inner % a.heads != 0)
        f.fail(n.heads,
               std::to_string(a.heads) + " does not divide the mixer's width " + std::to_string(inner));
    a.inner = inner;
    a.groups = f.or_else(n.groups, 1);
    a.state = f.need(n.state);
    a.conv = f.or_else(n.conv, 4);
    a.conv_bias = f.flag(n.conv_bias, true);
    a.bias = f.flag(n.bias, false);
    return a;
}

// transformers 5 writes linear_attention for any layer with a state, in place of mamba.
bool read_mamba_types(const Fields& f, Layers& layers, std::string_view name = "layer_types") {
    if (!read_layer_types(f, layers, name)) return false;
    for (LayerRun& l : layers)
        if (l.kind == MixerKind::linear) l.kind = MixerKind::mamba;
    return true;
}

// Granite 4 has Mamba-2 and attention, experts with a shared MLP, or only that MLP.
Model granite_hybrid(const Fields& f) {
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("attention_bias", false);
    m.sliding_window = 0;
    const std::int64_t shared = f.or_else("shared_intermediate_size", 0, 0);
    if (f.or_else("num_local_experts", 0, 0, Fields::kMostExperts) > 0) {
        m.moe = experts(f, "num_local_experts", "intermediate_size");
        share_experts(*m.moe, 1, shared);
    } else if (shared > 0) {
        m.ffn = shared;
    }
    Layers layers = plain_layers(m);
    if (!read_mamba_types(f, layers) && !read_mamba_types(f, layers, "layers_block_type"))
        for (LayerRun& l : layers) l.kind = MixerKind::mamba;
    const bool any = std::any_of(layers.begin(), layers.end(),
                                 [](const LayerRun& l) { return l.kind == MixerKind::mamba; });
    if (any) m.mamba = mamba2(f, kMambaNames, m.hidden);
    set_layers(f, m, layers);
    return m;
}

// Bamba has Mamba-2 and, in the layers that are listed, attention; a dense MLP in each.
Model bamba(const Fields& f) {
    Model m = llama_decoder(f);
    m.mamba = mamba2(f, kMambaNames, m.hidden);
    Layers layers = plain_layers(m);
    if (!read_mamba_types(f, layers)) {
        const nlohmann::json* full = f.find("attn_layer_indices");
        for (std::size_t i = 0; i < layers.size(); ++i)
            if (!full || std::find(full->begin(), full->end(), nlohmann::json(i)) == full->end())
                layers[i].kind = MixerKind::mamba;
    }
    set_layers(f, m, layers);
    return m;
}

// Falcon-H1 has attention and Mamba-2 side by side after one norm.
Model falcon_h1(const Fields& f) {
    Model m = llama_decoder(f);
    Mamba a =
        mamba2(f, kMambaNames, m.hidden, f.or_else("mamba_d_ssm", f.or_else("mamba_expand", 2) * m.hidden));
    a.norm = f.flag("mamba_rms_norm", false);
    if (f.flag("projectors_bias", false) != a.bias)
        f.fail("projectors_bias",
               "differs from mamba_proj_bias: a plan states one bias for both projections");
    m.mamba = a;
    Layers layers = plain_layers(m);
    for (LayerRun& l : layers) l.mamba_beside = true;
    set_layers(f, m, layers);
    return m;
}

// Jamba has the first Mamba with norms inside, attention each attn_layer_period, experts each
// expert_layer_period.
Model jamba(const Fields& f) {
    Model m = gated_decoder(f);
    m.sliding_window = 0;
    Mamba a;
    a.version = 1;
    a.inner = f.or_else("mamba_expand", 2) * m.hidden;
    a.state = f.or_else("mamba_d_state", 16);
    a.conv = f.or_else("mamba_d_conv", 4);
    const nlohmann::json* rank = f.find("mamba_dt_rank");
    a.dt_rank = rank && !rank->is_string() ? f.need("mamba_dt_rank") : (m.hidden + 15) / 16;
    a.conv_bias = f.flag("mamba_conv_bias", true);
    a.bias = f.flag("mamba_proj_bias", false);
    m.mamba = a;
    const std::int64_t count = f.or_else("num_experts", 16, 1, Fields::kMostExperts);
    if (count > 1) m.moe = experts(f, "num_experts", "intermediate_size");
    Layers layers(static_cast<std::size_t>(m.layers));
    if (!read_mamba_types(f, layers, "layers_block_type") && !read_mamba_types(f, layers)) {
        const std::int64_t period = f.or_else("attn_layer_period", 8, 1),
                           offset = f.or_else("attn_layer_offset", 4, 0);
        for (std::size_t i = 0; i < layers.size(); ++i)
            if (static_cast<std::int64_t>(i) % period != offset) layers[i].kind = MixerKind::mamba;
    }
    const std::int64_t period = f.or_else("expert_layer_period", 2, 1),
                       offset = f.or_else("expert_layer_offset", 1, 0);
    set_ffn(layers, [&](std::int64_t i) { return count > 1 && i % period == offset; });
    set_layers(f, m, layers);
    return m;
}

// In Nemotron-H, Nano 2 and 3 every layer is one of Mamba-2, attention, MLP, experts.
LayerRun nemotron_layer(const Fields& f, std::string_view name, const nlohmann::json& word) {
    const std::string w = word.is_string() ? word.get<std::string>() : std::string();
    if (w == "M" || w == "mamba" || w == "linear_attention") return {MixerKind::mamba, LayerFfn::none};
    if (w == "*" || w == "attention" || w == "full_attention") return {MixerKind::full, LayerFfn::none};
    if (w == "-" || w == "mlp") return {MixerKind::none, LayerFfn::dense};
    if (w == "E" || w == "moe") return {MixerKind::none, LayerFfn::moe};
    f.fail(name, "found " + shown_json(word) + ", known: M (mamba), * (attention), - (mlp), E (moe)");
}

Model nemotron_h(const Fields& f) {
    nlohmann::json filled = f.object();
    const nlohmann::json* letters = f.find("hybrid_override_pattern");
    const bool newer = !f.find("layers_block_type") && f.find("layer_types");
    const std::string_view name = letters ? "hybrid_override_pattern"
                                  : newer ? "layer_types"
                                          : "layers_block_type";
    std::vector<nlohmann::json> words;
    if (letters && letters->is_string())
        for (const char c : letters->get<std::string>()) words.emplace_back(std::string(1, c));
    else if (const nlohmann::json* list = f.find(name); list && list->is_array())
        words.assign(list->begin(), list->end());
    if (words.empty()) f.fail(name, "is missing, it says what each layer is");
    if (!f.find("num_hidden_layers")) filled["num_hidden_layers"] = words.size();
    if (!f.find("intermediate_size")) filled["intermediate_size"] = 1;
    const Fields own(filled, f, f.prefix());
    Model m = decoder(own, {.head_dim = f.or_else("attention_head_dim", 0)});
    if (static_cast<std::int64_t>(words.size()) != m.layers)
        f.fail(name, "has " + std::to_string(words.size()) + " layers, num_hidden_layers is "
                         + std::to_string(m.layers));
    m.ffn_kind = plain(f, "mlp_hidden_act", "relu2");
    m.attention_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    m.sliding_window = 0;
    Layers layers;
    for (const nlohmann::json& word : words) layers.push_back(nemotron_layer(f, name, word));
    const auto any = [&](auto&& is) { return std::any_of(layers.begin(), layers.end(), is); };
    if (any([](const LayerRun& l) { return l.kind == MixerKind::mamba; }))
        m.mamba = mamba2(f,
                         {"mamba_num_heads", "mamba_head_dim", "n_groups", "ssm_state_size", "conv_kernel",
                          "use_conv_bias", "mamba_proj_bias"},
                         m.hidden);
    if (any([](const LayerRun& l) { return l.ffn == LayerFfn::moe; })) {
        m.moe = experts(f, "n_routed_experts", "moe_intermediate_size");
        m.moe->router_bias = true;
        m.moe->latent = f.or_else("moe_latent_size", 0, 0);
        const bool shares = f.or_else("n_shared_experts", 0, 0, Fields::kMostExperts) > 0;
        if (shares) share_experts(*m.moe, 1, f.need("moe_shared_expert_intermediate_size"));
        if (m.mlp_bias && m.moe->latent > 0) f.fail("mlp_bias", "true with moe_latent_size cannot be stated");
        limit_groups(f, *m.moe);
    }
    if (!f.find("intermediate_size") && !any([](const LayerRun& l) { return l.ffn == LayerFfn::dense; }))
        m.ffn = 0;
    set_layers(f, m, layers);
    m.mtp_layers = prediction_layers(f);
    return m;
}

constexpr std::array<Family, 5> kMambaFamilies{{{"bamba", bamba},
                                                {"falcon_h1", falcon_h1},
                                                {"granitemoehybrid", granite_hybrid},
                                                {"jamba", jamba},
                                                {"nemotron_h", nemotron_h}}};

}  // namespace

std::span<const Family> mamba_families() {
    return kMambaFamilies;
}

}  // namespace pentamesh::hf
