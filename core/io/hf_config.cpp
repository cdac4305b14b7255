#include "core/io/hf_config.h"

#include "core/io/hf_fields.h"
#include "core/model/model.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace pentamesh {
namespace {

using Fields = HfFields;

// ---- parts that families share --------------------------------------------------------------------------

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
    if (act.rfind("gelu", 0) == 0) return FfnKind::gelu;
    f.fail(name, "found \"" + act + "\", known for an MLP without gate: gelu and its variants, relu2");
}

struct Defaults {
    std::int64_t head_dim = 0;  // 0: hidden / heads
    bool tied = false;
    std::int64_t heads = 0, kv_heads = 0, vocab = 0;  // 0: heads and vocab must be there, kv_heads = heads
    std::string_view activation_name = "hidden_act";
    std::string_view activation = "silu";
};

std::int64_t need_or(const Fields& f, std::string_view name, std::int64_t otherwise) {
    return otherwise > 0 ? f.or_else(name, otherwise) : f.need(name);
}

// Everything that is named alike in Llama and its descendants, with a gated MLP.
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

Model gated_decoder(const Fields& f, const Defaults& d = {}) {
    Model m = decoder(f, d);
    m.ffn_kind = gated(f, d.activation_name, d.activation);
    return m;
}

// Newer files of the hub spell every count of experts num_local_experts (transformers' attribute_map).
Moe experts(const Fields& f, std::string_view count_name, std::string_view ffn_name) {
    Moe e;
    if (!f.find(count_name) && f.find("num_local_experts")) count_name = "num_local_experts";
    e.experts = f.need(count_name, Fields::kMostExperts);
    if (!f.find("num_experts_per_tok"))
        f.fail("num_experts_per_tok", "is missing, but there are experts (" + std::string(count_name) + " = "
                                          + std::to_string(e.experts) + "): how many does a token use?");
    e.top_k = f.need("num_experts_per_tok");
    if (e.top_k > e.experts)
        f.fail("num_experts_per_tok", std::to_string(e.top_k) + " is more than " + std::string(count_name)
                                          + " = " + std::to_string(e.experts));
    e.expert_ffn = f.need(ffn_name);
    return e;
}

// ---- which layers are MoE -------------------------------------------------------------------------------

// Qwen: layer i is MoE where (i + 1) is a multiple of decoder_sparse_step and i is not in mlp_only_layers.
void qwen_sparse_layers(const Fields& f, const Model& m, Moe& e) {
    const std::int64_t step = f.or_else("decoder_sparse_step", 1, 1, Fields::kMostLayers);
    e.every = step;
    const nlohmann::json* only = f.find("mlp_only_layers");
    if (!only) return;
    if (!only->is_array()) f.fail("mlp_only_layers", "found " + shown_json(*only) + ", must be a list");
    std::vector<std::int64_t> dense;
    for (const nlohmann::json& v : *only) {
        if (!v.is_number_integer() || v.get<std::int64_t>() < 0 || v.get<std::int64_t>() >= m.layers)
            f.fail("mlp_only_layers",
                   "found " + shown_json(v) + ", must be layers from 0 to " + std::to_string(m.layers - 1));
        if ((v.get<std::int64_t>() + 1) % step == 0) dense.push_back(v.get<std::int64_t>());
    }
    std::sort(dense.begin(), dense.end());
    dense.erase(std::unique(dense.begin(), dense.end()), dense.end());
    for (std::size_t i = 0; i < dense.size(); ++i)
        if (dense[i] != static_cast<std::int64_t>(i + 1) * step - 1)
            f.fail("mlp_only_layers",
                   "layer " + std::to_string(dense[i])
                       + " is dense among MoE layers: only dense layers before all MoE layers"
                         " can be described");
    e.first_dense_layers = static_cast<std::int64_t>(dense.size()) * step;
}

// DeepSeek: layer i is MoE where i >= first_k_dense_replace and i is a multiple of moe_layer_freq.
void deepseek_sparse_layers(const Fields& f, const Model& m, Moe& e) {
    const std::int64_t first = f.or_else("first_k_dense_replace", 0, 0),
                       freq = f.or_else("moe_layer_freq", 1, 1, Fields::kMostLayers);
    if (first > m.layers)
        f.fail("first_k_dense_replace",
               std::to_string(first) + " is more than num_hidden_layers = " + std::to_string(m.layers));
    const std::int64_t first_moe = (first + freq - 1) / freq * freq;
    if (first_moe + 1 < freq)
        f.fail("moe_layer_freq", std::to_string(freq)
                                     + " makes layer 0 the first MoE layer: such a pattern cannot"
                                       " be described");
    e.first_dense_layers = first_moe + 1 - freq;
    e.every = freq;
}

// ---- families -------------------------------------------------------------------------------------------

Model llama(const Fields& f) {
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    m.sliding_window = 0;
    return m;
}

Model mistral(const Fields& f) {
    return gated_decoder(f);
}

Model mixtral(const Fields& f) {
    Model m = gated_decoder(f);
    m.moe = experts(f, "num_local_experts", "intermediate_size");
    return m;
}

Model qwen2(const Fields& f) {
    Model m = gated_decoder(f);
    m.qkv_bias = true;
    if (!f.flag("use_sliding_window", false)) m.sliding_window = 0;
    return m;
}

Model qwen2_moe(const Fields& f) {
    Model m = qwen2(f);
    m.qkv_bias = f.flag("qkv_bias", true);
    m.moe = experts(f, "num_experts", "moe_intermediate_size");
    m.moe->shared_experts = 1;
    m.moe->shared_expert_ffn = f.need("shared_expert_intermediate_size");
    m.moe->shared_expert_gate = true;
    qwen_sparse_layers(f, m, *m.moe);
    return m;
}

Model qwen3(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 128});
    m.attention_bias = f.flag("attention_bias", false);
    m.qk_norm = QkNorm::head;
    if (!f.flag("use_sliding_window", false)) m.sliding_window = 0;
    return m;
}

Model qwen3_moe(const Fields& f) {
    // Without head_dim transformers takes hidden / heads here, unlike in Qwen 3's dense models.
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("attention_bias", false);
    m.qk_norm = QkNorm::head;
    if (!f.flag("use_sliding_window", false)) m.sliding_window = 0;
    m.moe = experts(f, "num_experts", "moe_intermediate_size");
    qwen_sparse_layers(f, m, *m.moe);
    return m;
}

// Gemma computes with the tanh form of GELU whatever hidden_act says (configuration_gemma.py).
Model gemma(const Fields& f) {
    Model m = decoder(f, {.head_dim = 256, .tied = true});
    m.ffn_kind = FfnKind::geglu;
    m.attention_bias = f.flag("attention_bias", false);
    return m;
}

Model gemma2(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 256,
                                .tied = true,
                                .activation_name = "hidden_activation",
                                .activation = "gelu_pytorch_tanh"});
    m.attention_bias = f.flag("attention_bias", false);
    m.post_norms = true;
    m.sliding_window = 0;  // only some layers slide: described as full attention, an upper bound
    return m;
}

Model gemma3(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 256,
                                .tied = true,
                                .heads = 8,
                                .kv_heads = 4,
                                .vocab = 262208,
                                .activation_name = "hidden_activation",
                                .activation = "gelu_pytorch_tanh"});
    m.attention_bias = f.flag("attention_bias", false);
    m.post_norms = true;
    m.qk_norm = QkNorm::head;
    m.sliding_window = 0;  // only some layers slide: described as full attention, an upper bound
    return m;
}

Model phi(const Fields& f) {
    if (f.flag("qk_layernorm", false)) f.fail("qk_layernorm", "true is not supported: its norms have biases");
    Model m = decoder(f, {});
    m.ffn_kind = plain(f, "hidden_act", "gelu_new");
    m.norm = NormKind::layernorm;
    m.attention_bias = m.mlp_bias = m.head_bias = m.shared_norm = true;
    return m;
}

Model phimoe(const Fields& f) {
    Model m = gated_decoder(f);
    m.norm = NormKind::layernorm;
    m.attention_bias = f.flag("attention_bias", false);
    m.head_bias = f.flag("lm_head_bias", false);
    m.moe = experts(f, "num_local_experts", "intermediate_size");
    return m;
}

Model gpt2(const Fields& f) {
    Model m;
    m.layers = f.need("n_layer", Fields::kMostLayers);
    m.hidden = f.need("n_embd");
    m.heads = m.kv_heads = f.need("n_head");
    m.head_dim = head_dim_of(f, "n_embd", "n_head", m.hidden, m.heads);
    m.ffn = f.or_else("n_inner", 4 * m.hidden);
    m.vocab = f.need("vocab_size");
    m.ffn_kind = plain(f, "activation_function", "gelu_new");
    m.norm = NormKind::layernorm;
    m.attention_bias = m.mlp_bias = true;
    m.positions = Positions::learned;
    m.max_positions = f.need("n_positions");
    m.tied_embeddings = f.flag("tie_word_embeddings", true);
    return m;
}

Model gpt_neox(const Fields& f) {
    Model m = decoder(f, {});
    m.ffn_kind = plain(f, "hidden_act", "gelu");
    m.norm = NormKind::layernorm;
    m.attention_bias = f.flag("attention_bias", true);
    m.mlp_bias = true;
    return m;
}

Model olmo(const Fields& f) {
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("attention_bias", false);
    m.norm = NormKind::unweighted;
    return m;
}

// Its two norms of a layer stand after attention and MLP instead of before: as many numbers.
Model olmo2(const Fields& f) {
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("attention_bias", false);
    m.qk_norm = QkNorm::full;
    m.sliding_window = 0;  // OLMo 3: only some layers slide
    return m;
}

Model olmoe(const Fields& f) {
    Model m = olmo2(f);
    m.moe = experts(f, "num_experts", "intermediate_size");
    return m;
}

Model nemotron(const Fields& f) {
    Model m = decoder(f, {});
    m.ffn_kind = plain(f, "hidden_act", "relu2");
    m.norm = NormKind::layernorm;
    m.attention_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    return m;
}

Model gpt_oss(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 64});
    m.attention_bias = f.flag("attention_bias", true);
    m.attention_sinks = m.mlp_bias = true;
    m.moe = experts(f, "num_local_experts", "intermediate_size");
    m.moe->router_bias = true;
    m.sliding_window = 0;  // only some layers slide: described as full attention, an upper bound
    return m;
}

// DeepSeek V2 and V3 and what follows their config: `bias` is V3's balancing bias of the router.
Model deepseek(const Fields& f, bool bias) {
    Model m;
    m.layers = f.need("num_hidden_layers", Fields::kMostLayers);
    m.hidden = f.need("hidden_size");
    m.heads = m.kv_heads = f.need("num_attention_heads");
    m.ffn = f.need("intermediate_size");
    m.vocab = f.need("vocab_size");
    m.ffn_kind = gated(f, "hidden_act", "silu");
    m.tied_embeddings = f.flag("tie_word_embeddings", false);
    m.attention_bias = f.flag("attention_bias", false);
    m.attention = AttentionKind::mla;
    m.mla = Mla{f.or_else("q_lora_rank", 0), f.need("kv_lora_rank"), f.need("qk_nope_head_dim"),
                f.need("qk_rope_head_dim"), f.need("v_head_dim")};
    m.head_dim = m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim;
    if (f.find("n_routed_experts") || f.find("num_experts_per_tok") || f.find("moe_intermediate_size")) {
        m.moe = experts(f, "n_routed_experts", "moe_intermediate_size");
        m.moe->shared_experts = f.or_else("n_shared_experts", 0, 0, Fields::kMostExperts);
        m.moe->shared_expert_ffn = m.moe->shared_experts > 0 ? m.moe->expert_ffn : 0;
        deepseek_sparse_layers(f, m, *m.moe);
        m.moe->router_bias = bias;
        const std::int64_t groups = f.or_else("n_group", 1), used = f.or_else("topk_group", groups);
        if (used > groups)
            f.fail("topk_group", std::to_string(used) + " is more than n_group = " + std::to_string(groups));
        m.moe->max_nodes_per_token = used < groups ? used : 0;
    }
    m.mtp_layers = f.or_else("num_nextn_predict_layers", 0, 0, Fields::kMostLayers);
    return m;
}
Model deepseek_v2(const Fields& f) {
    return deepseek(f, f.text("topk_method", "greedy") == "noaux_tc");
}
Model deepseek_v3(const Fields& f) {
    return deepseek(f, true);
}

struct Family {
    std::string_view type;
    Model (*read)(const Fields&);
};
constexpr std::array<Family, 27> kFamilies{{
    {"deepseek_v2", deepseek_v2},
    {"deepseek_v3", deepseek_v3},
    {"gemma", gemma},
    {"gemma2", gemma2},
    {"gemma3", gemma3},
    {"gemma3_text", gemma3},
    {"gpt2", gpt2},
    {"gpt_neox", gpt_neox},
    {"gpt_oss", gpt_oss},
    {"kimi_k2", deepseek_v3},
    {"llama", llama},
    {"minitron", nemotron},
    {"mistral", mistral},
    {"mixtral", mixtral},
    {"nemotron", nemotron},
    {"olmo", olmo},
    {"olmo2", olmo2},
    {"olmo3", olmo2},
    {"olmoe", olmoe},
    {"phi", phi},
    {"phi3", mistral},
    {"phimoe", phimoe},
    {"qwen2", qwen2},
    {"qwen2_moe", qwen2_moe},
    {"qwen3", qwen3},
    {"qwen3_moe", qwen3_moe},
    {"smollm3", llama},
}};

[[noreturn]] void refuse_type(const Fields& f, const std::string& type) {
    std::string text = "unknown model_type \"" + type + "\"; known:";
    for (const Family& family : kFamilies)
        text += (&family == kFamilies.data() ? " " : ", ") + std::string(family.type);
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

}  // namespace

bool is_hf_config(const nlohmann::json& value) {
    return value.is_object() && (value.contains("model_type") || value.contains("architectures"));
}

const std::vector<std::string_view>& hf_model_types() {
    static const std::vector<std::string_view> types = [] {
        std::vector<std::string_view> all;
        all.reserve(std::size(kFamilies));
        for (const Family& family : kFamilies) all.push_back(family.type);
        return all;
    }();
    return types;
}

Model model_from_hf(const nlohmann::json& config, const std::string& path) {
    if (!config.is_object())
        throw Error(ErrorKind::invalid, path, "",
                    "found " + shown_json(config) + ", a Hugging Face config.json must be an object");
    const Fields top(config, path, "");
    const std::string type = top.text("model_type", "");
    if (type.empty())
        top.fail("model_type", "is missing: it says which architecture the other fields describe");
    const nlohmann::json* nested = type == "gemma3" ? top.find("text_config") : nullptr;
    if (nested && !nested->is_object()) top.fail("text_config", "must be an object");
    const Fields fields(nested ? *nested : config, path, nested ? "/text_config" : "");
    const auto family =
        std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& f) { return f.type == type; });
    if (family == kFamilies.end()) refuse_type(top, type);
    Model model = family->read(fields);
    if (count_parameters(model).total == INT64_MAX)
        throw Error(ErrorKind::invalid, path, fields.prefix(),
                    "its sizes make more parameters than can be counted (over 9e18)");
    model.name = name_for(top, type);
    return model;
}

Model model_from_hf(std::string_view text, const std::string& path) {
    return model_from_hf(parse_json(text, path), path);
}

}  // namespace pentamesh
