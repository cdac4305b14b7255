// Reads families whose layers all have a dense MLP and attention over all keys or a window.
#include "core/io/hf_families.h"

#include <algorithm>
#include <array>

namespace pentamesh::hf {
namespace {

bool is_on(const Fields& f, const Flag& flag) {
    return flag.name.empty() ? flag.otherwise : f.flag(flag.name, flag.otherwise);
}

void read_window(const Fields& f, const Traits& t, Model& m) {
    if (t.window == Window::none || (t.window == Window::if_used && !f.flag("use_sliding_window", false)))
        m.sliding_window = 0;
    if (t.window_size > 0) m.sliding_window = f.or_else("sliding_window", t.window_size);
}

void read_layers(const Fields& f, const Traits& t, Model& m) {
    Layers layers = plain_layers(m);
    const std::int64_t every = t.full_every_name.empty()
                                   ? *t.full_every
                                   : f.or_else(t.full_every_name, *t.full_every, 1, Fields::kMostLayers);
    if (!read_layer_types(f, layers) && every > 0 && m.sliding_window > 0) slide_all_but(layers, every);
    set_layers(f, m, layers);
}

// ---- what no row says -----------------------------------------------------------------------------------

void ministral3(const Fields& f, Model& m) {
    if (f.find("layer_types")) read_layers(f, {.full_every = 0}, m);
}

// Gemma computes with the tanh form of GELU for any hidden_act (configuration_gemma.py).
FfnKind geglu(const Fields& /*f*/, std::string_view /*name*/, std::string_view /*otherwise*/) {
    return FfnKind::geglu;
}

void phi(const Fields& f, Model& /*m*/) {
    if (f.flag("qk_layernorm", false)) f.fail("qk_layernorm", "true is not supported: its norms have biases");
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

void seed_oss(const Fields& f, Model& m) {
    const bool in = f.flag("attention_bias", true), out = f.flag("attention_out_bias", false);
    if (out && !in) f.fail("attention_out_bias", "true without attention_bias cannot be stated");
    m.qkv_bias = in && !out;
    m.attention_bias = out;
}

void exaone4(const Fields& f, Model& m) {
    Layers layers = plain_layers(m);
    const nlohmann::json* pattern = f.find("sliding_window_pattern");
    if (!read_layer_types(f, layers) && pattern && m.sliding_window > 0) {
        const bool number = pattern->is_number();
        // "LLLG": local and global layers.
        const std::string letters = number ? "" : f.text("sliding_window_pattern", "");
        if (number)
            slide_all_but(layers, f.need("sliding_window_pattern", Fields::kMostLayers));
        else if (letters.find_first_not_of("LG") != std::string::npos || letters.empty())
            f.fail("sliding_window_pattern", "found " + shown_json(*pattern) + ", known: letters L and G");
        else
            for (std::size_t i = 0; i < layers.size(); ++i)
                layers[i].kind = letters[i % letters.size()] == 'L' && i + 1 < layers.size()
                                     ? MixerKind::window
                                     : MixerKind::full;
    }
    set_layers(f, m, layers);
}

void latent(const Fields& f, Model& m) {
    m.kv_heads = m.heads;
    latent_attention(f, m);
}

// MiniCPM 3's values are as wide as a head of grouped attention (modeling_minicpm.py).
void minicpm3(const Fields& f, Model& m) {
    m.kv_heads = m.heads;
    latent_attention(f, m, head_dim_of(f, "hidden_size", "num_attention_heads", m.hidden, m.heads));
}

// StableLM's switch puts attention and MLP side by side after one norm.
void stablelm(const Fields& f, Model& m) {
    m.shared_norm = f.flag("use_parallel_residual", false);
}

// ---- rows -----------------------------------------------------------------------------------------------

constexpr Traits kLlama{.attention_bias = kAttentionBias, .mlp_bias = kMlpBias};
constexpr Traits kMistral{.window = Window::as_written};
constexpr Traits kNemotron{.defaults = {.activation = "relu2"},
                           .mlp = plain,
                           .attention_bias = kAttentionBias,
                           .mlp_bias = kMlpBias,
                           .norm = NormKind::layernorm,
                           .window = Window::as_written};
constexpr Traits kGemma2{.defaults = {.head_dim = 256,
                                      .tied = true,
                                      .activation_name = "hidden_activation",
                                      .activation = "gelu_pytorch_tanh"},
                         .attention_bias = kAttentionBias,
                         .post_norms = true,
                         .window_size = 4096,
                         .full_every = 2};
constexpr Traits kVaultGemma = [] {
    Traits t = kGemma2;
    t.post_norms = false;
    return t;
}();
constexpr Traits kGemma3 = [] {
    Traits t = kGemma2;
    t.defaults.heads = 8, t.defaults.kv_heads = 4, t.defaults.vocab = 262208;
    t.qk_norm = QkNorm::head;
    t.full_every = 6, t.full_every_name = "sliding_window_pattern";
    return t;
}();
// Two norms of a layer come after attention and MLP instead of before: as many numbers.
constexpr Traits kOlmo2{.attention_bias = kAttentionBias, .qk_norm = QkNorm::full};
constexpr Traits kOlmo3 = [] {
    Traits t = kOlmo2;
    t.window_size = 4096, t.full_every = 4;
    return t;
}();
// GLM-4-0414 has norms after attention and MLP as well as before; the attention's output has no bias.
constexpr Traits kGlm{.defaults = {.head_dim = 128}, .qkv_bias = {"attention_bias", true}};
constexpr Traits kGlm4{.defaults = {.head_dim = 128}, .qkv_bias = kAttentionBias, .post_norms = true};
// Cohere has attention and MLP side by side after one layer norm without bias, which has as many numbers as
// an RMS norm; norms of queries and keys have a weight for each head.
constexpr Traits kCohere{.defaults = {.tied = true},
                         .attention_bias = kAttentionBias,
                         .shared_norm = true,
                         .qk_norm = QkNorm::full,
                         .has_qk_norm = {"use_qk_norm"}};
constexpr Traits kCohere2 = [] {
    Traits t = kCohere;
    t.window_size = 4096;
    t.full_every = 4, t.full_every_name = "sliding_window_pattern";
    return t;
}();

constexpr std::array<Family, 40> kDenseFamilies{{
    {"apertus",
     {.defaults = {.activation = "xielu"},
      .mlp = plain,
      .attention_bias = kAttentionBias,
      .mlp_bias = kMlpBias,
      .qk_norm = QkNorm::head,
      .has_qk_norm = {"qk_norm", true}}},
    // Arcee AI 2025 (AFM): it is Llama with an MLP without gate.
    {"arcee",
     {.defaults = {.activation = "relu2"},
      .mlp = plain,
      .attention_bias = kAttentionBias,
      .mlp_bias = kMlpBias}},
    {"cohere", kCohere},
    {"cohere2", kCohere2},
    // Meta 2025 (Code World Model): it is Llama with windows.
    {"cwm", {.defaults = {.head_dim = 128}, .window_size = 8192, .full_every = 0}},
    // ERNIE 4.5 has one switch for the biases of all products but the router's and the head's.
    {"ernie4_5",
     {.defaults = {.head_dim = 128, .tied = true},
      .attention_bias = {"use_bias"},
      .mlp_bias = {"use_bias"},
      .predicts = true}},
    // Two norms a layer come after attention and MLP: as many numbers as before them.
    {"exaone4", {.qk_norm = QkNorm::head, .window = Window::as_written, .rest = exaone4}},
    {"gemma",
     {.defaults = {.head_dim = 256, .tied = true},
      .mlp = geglu,
      .attention_bias = kAttentionBias,
      .window = Window::as_written}},
    {"gemma2", kGemma2},
    {"gemma3", kGemma3},
    {"gemma3_text", kGemma3},
    {"glm", kGlm},
    {"glm4", kGlm4},
    {"glm4v_text", kGlm4},
    {"gpt2", gpt2},
    {"gpt_neox",
     {.defaults = {.activation = "gelu"},
      .mlp = plain,
      .attention_bias = {"attention_bias", true},
      .mlp_bias = kAlways,
      .norm = NormKind::layernorm,
      .window = Window::as_written}},
    {"granite", kLlama},
    {"helium", {.defaults = {.head_dim = 128}, .qkv_bias = kAttentionBias, .mlp_bias = kMlpBias}},
    {"hunyuan_v1_dense",
     {.attention_bias = kAttentionBias,
      .qk_norm = QkNorm::head,
      .has_qk_norm = {"use_qk_norm", true},
      .rest = hunyuan_head_dim}},
    // InternLM 2 has one switch for the biases of attention (modeling_internlm2.py).
    {"internlm2", {.attention_bias = {"bias", true}}},
    {"llama", kLlama},
    // Xiaomi 2025: it is Qwen 2 with a flag for the biases and prediction layers.
    {"mimo", {.qkv_bias = {"attention_bias", true}, .window = Window::if_used, .predicts = true}},
    // MiniCPM 3 is a dense model with latent attention; its scales have no parameters.
    {"minicpm3", {.defaults = {.tied = true}, .attention_bias = kAttentionBias, .rest = minicpm3}},
    {"ministral3", {.window = Window::as_written, .rest = ministral3}},
    {"minitron", kNemotron},
    {"mistral", kMistral},
    {"nemotron", kNemotron},
    {"olmo", {.attention_bias = kAttentionBias, .norm = NormKind::unweighted, .window = Window::as_written}},
    {"olmo2", kOlmo2},
    {"olmo3", kOlmo3},
    {"phi",
     {.defaults = {.activation = "gelu_new"},
      .mlp = plain,
      .attention_bias = kAlways,
      .mlp_bias = kAlways,
      .head_bias = kAlways,
      .norm = NormKind::layernorm,
      .shared_norm = true,
      .window = Window::as_written,
      .rest = phi}},
    {"phi3", kMistral},
    {"qwen2", {.qkv_bias = kAlways, .window = Window::if_used}},
    {"qwen3",
     {.defaults = {.head_dim = 128},
      .attention_bias = kAttentionBias,
      .qk_norm = QkNorm::head,
      .window = Window::if_used}},
    {"seed_oss", {.defaults = {.head_dim = 128}, .mlp_bias = kMlpBias, .rest = seed_oss}},
    // Layers without rotary positions have as many numbers.
    {"smollm3",
     {.defaults = {.tied = true},
      .attention_bias = kAttentionBias,
      .mlp_bias = kMlpBias,
      .window = Window::if_used,
      .full_every = 0}},
    {"stablelm",
     {.qkv_bias = {"use_qkv_bias"},
      .norm = NormKind::layernorm,
      .qk_norm = QkNorm::full,
      .has_qk_norm = {"qk_layernorm"},
      .rest = stablelm}},
    {"starcoder2",
     {.defaults = {.tied = true, .activation = "gelu_pytorch_tanh"},
      .mlp = plain,
      .attention_bias = {"use_bias", true},
      .mlp_bias = {"use_bias", true},
      .norm = NormKind::layernorm,
      .window = Window::as_written}},
    {"vaultgemma", kVaultGemma},
    // Youtu-LLM is a dense model with latent attention.
    {"youtu_llm", {.defaults = {.tied = true}, .attention_bias = kAttentionBias, .rest = latent}},
}};

Model read_row(const Traits& t, const Fields& f) {
    Model m = decoder(f, t.defaults);
    m.ffn_kind = t.mlp(f, t.defaults.activation_name, t.defaults.activation);
    m.attention_bias = is_on(f, t.attention_bias);
    m.qkv_bias = is_on(f, t.qkv_bias);
    m.mlp_bias = is_on(f, t.mlp_bias);
    m.head_bias = is_on(f, t.head_bias);
    m.norm = t.norm;
    m.post_norms = t.post_norms;
    m.shared_norm = t.shared_norm;
    if (t.qk_norm != QkNorm::none && is_on(f, t.has_qk_norm)) m.qk_norm = t.qk_norm;
    read_window(f, t, m);
    if (!t.experts.empty()) m.moe = experts(f, t.experts, t.expert_ffn);
    if (t.rest) t.rest(f, m);
    if (t.full_every) read_layers(f, t, m);
    if (t.predicts) m.mtp_layers = prediction_layers(f);
    return m;
}

}  // namespace

Model read_family(const Family& family, const Fields& f) {
    Model m = family.read ? family.read(f) : read_row(family.traits, f);
    read_own_layers(f, m);
    return m;
}

std::span<const Family> dense_families() {
    return kDenseFamilies;
}

// Reads families with experts and attention in every layer.

namespace {

void qwen2_moe(const Fields& f, Model& m) {
    share_experts(*m.moe, 1, f.need("shared_expert_intermediate_size"));
    m.moe->shared_expert_gate = true;
    qwen_sparse_layers(f, m);
}

void gpt_oss(const Fields& /*f*/, Model& m) {
    m.attention_sinks = true;
    m.moe->router_bias = true;
}

// Reads DeepSeek V2 and V3 and families with the same config. `bias` is V3's balancing bias of the router.
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
    latent_attention(f, m);
    if (f.find("n_routed_experts") || f.find("num_experts_per_tok") || f.find("moe_intermediate_size")) {
        m.moe = experts(f, "n_routed_experts", "moe_intermediate_size");
        share_experts(f, *m.moe, "n_shared_experts");
        deepseek_sparse_layers(f, m);
        m.moe->router_bias = bias;
        limit_groups(f, *m.moe);
    }
    m.mtp_layers = prediction_layers(f);
    return m;
}
Model deepseek_v2(const Fields& f) {
    return deepseek(f, f.text("topk_method", "greedy") == "noaux_tc");
}
Model deepseek_v3(const Fields& f) {
    return deepseek(f, true);
}
Model mistral4(const Fields& f) {
    return deepseek(f, false);
}

// DBRX keeps attention and experts in objects of their own; its layer norms have no bias, as many numbers as
// an RMS norm.
Model dbrx(const Fields& f) {
    const auto part = [&](const std::string& name) {
        const nlohmann::json* object = f.find(name);
        if (!object || !object->is_object()) f.fail(name, "must be an object");
        return Fields(*object, f, f.prefix() + "/" + name);
    };
    const Fields attention = part("attn_config"), ffn = part("ffn_config");
    Model m;
    m.layers = f.need("n_layers", Fields::kMostLayers);
    m.hidden = f.need("d_model");
    m.heads = f.need("n_heads");
    m.kv_heads = attention.or_else("kv_n_heads", 1);
    m.head_dim = head_dim_of(f, "d_model", "n_heads", m.hidden, m.heads);
    m.vocab = f.need("vocab_size");
    m.tied_embeddings = f.flag("tie_word_embeddings", false);
    m.moe = experts(ffn, "moe_num_experts", "ffn_hidden_size", "moe_top_k");
    m.ffn = m.moe->expert_ffn;
    m.ffn_kind = FfnKind::swiglu;
    const nlohmann::json* act = ffn.find("ffn_act_fn");
    if (act && act->is_object())
        m.ffn_kind = gated(Fields(*act, f, ffn.prefix() + "/ffn_act_fn"), "name", "silu");
    return m;
}

// IndexShare (arXiv 2603.12201): a "shared" layer takes the keys that the indexer of a layer before it
// picked. Where no list says which, GlmMoeDsaConfig of transformers reads a pattern of F and S, else every
// index_topk_freq-th layer from index_skip_topk_offset on has one.
bool share_indices(const Fields& f, const Model& m, Layers& layers) {
    if (!m.mla || m.mla->index_heads == 0) return false;
    const auto types = per_layer(f, "indexer_types", m.layers);
    const std::string pattern = types.empty() ? f.text("index_topk_pattern", "") : std::string();
    const std::int64_t freq = f.or_else("index_topk_freq", 1, 1, Fields::kMostLayers),
                       offset = f.or_else("index_skip_topk_offset", 2, 0, Fields::kMostLayers);
    if (!pattern.empty() && static_cast<std::int64_t>(pattern.size()) < m.layers)
        f.fail("index_topk_pattern",
               "names " + std::to_string(pattern.size()) + " layers of " + std::to_string(m.layers));
    bool any = false;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool by_pattern = types.empty() && !pattern.empty();
        const char* const field = by_pattern      ? "index_topk_pattern"
                                  : types.empty() ? "index_skip_topk_offset"
                                                  : "indexer_types";
        bool full = std::max<std::int64_t>(static_cast<std::int64_t>(i) + 1 - offset, 0) % freq == 0;
        if (by_pattern || !types.empty()) {
            full = by_pattern ? pattern[i] == 'F' : types[i] == "full";
            if (!full && !(by_pattern ? pattern[i] == 'S' : types[i] == "shared"))
                f.fail(field, "layer " + std::to_string(i) + " is "
                                  + (by_pattern ? std::string(1, pattern[i]) : shown_json(types[i]))
                                  + ", must be " + (by_pattern ? "F or S" : "full or shared"));
        }
        if (i == 0 && !full) f.fail(field, "the first layer has no indexer before it to share");
        layers[i].shares_index = !full;
        any |= !full;
    }
    return any;
}

// GLM-4.7-Flash and GLM-5 list dense and sparse layers by words in newer files.
Model glm_latent(const Fields& f) {
    Model m = deepseek(f, true);
    const auto words = per_layer(f, "mlp_layer_types", m.layers);
    Layers layers = plain_layers(m);
    const bool shares = share_indices(f, m, layers);
    if (!shares && (words.empty() || !m.moe)) return m;
    if (!words.empty() && m.moe) set_ffn(layers, [&](std::int64_t i) { return words[i] == "sparse"; });
    set_layers(f, m, layers);
    return m;
}

// Returns how many tokens a compressed key stands for in the layers of a DeepSeek-V4 of that kind. Older
// files have fields of their own for the two.
std::int64_t compress_rate(const Fields& f, std::string_view kind, std::string_view older,
                           std::int64_t otherwise) {
    const nlohmann::json* rates = f.find("compress_rates");
    if (rates && !rates->is_object()) f.fail("compress_rates", "must be an object");
    if (rates) otherwise = Fields(*rates, f, f.prefix() + "/compress_rates").or_else(kind, otherwise, 2);
    return f.or_else(older, otherwise, 2);
}

// In DeepseekV4Config of transformers layer_types names each layer; files of the hub have compress_ratios,
// where 4 stands for overlapping keys that an indexer picks from, and the prediction layers' behind them.
void compressed_layers(const Fields& f, const Model& m, Layers& layers) {
    const auto words = per_layer(f, "layer_types", m.layers),
               ratios = per_layer(f, "compress_ratios", m.layers);
    if (words.empty() && ratios.empty())
        f.fail("compress_ratios", "is missing: it says which keys each layer compresses");
    const std::int64_t sparse = compress_rate(f, "compressed_sparse_attention", "compress_rate_csa", 4),
                       heavy = compress_rate(f, "heavily_compressed_attention", "compress_rate_hca", 128);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        LayerRun& l = layers[i];
        l.kind = MixerKind::window;
        const bool by_word = !words.empty();
        const nlohmann::json& given = by_word ? words[i] : ratios[i];
        if (by_word ? given == "sliding_attention" : given == 0) continue;
        const bool picks = by_word ? given == "compressed_sparse_attention" : given == 4,
                   all = by_word ? given == "heavily_compressed_attention" : given == 128;
        if (!picks && !all)
            f.fail(by_word ? "layer_types" : "compress_ratios",
                   "layer " + std::to_string(i) + " is " + shown_json(given)
                       + ", a kind of layer that a plan cannot state");
        l.picks_compressed = picks;
        l.compress = picks ? sparse : heavy;
    }
    if (ratios.empty()) return;
    const nlohmann::json& all = *f.find("compress_ratios");
    const auto listed = static_cast<std::int64_t>(all.size());
    for (std::int64_t i = m.layers; i < std::min(m.layers + m.mtp_layers, listed); ++i)
        if (all[static_cast<std::size_t>(i)] != 0)
            f.fail("compress_ratios", "a prediction layer with compressed keys cannot be stated by a plan");
}

// Its first layers route by a table of tokens, which has no parameters that are trained.
Model deepseek_v4(const Fields& f) {
    Model m;
    m.layers = f.need("num_hidden_layers", Fields::kMostLayers);
    m.hidden = f.need("hidden_size");
    m.heads = f.need("num_attention_heads");
    m.kv_heads = f.or_else("num_key_value_heads", 1);
    if (m.kv_heads != 1)
        f.fail("num_key_value_heads", "found " + std::to_string(m.kv_heads) + ": its heads share one key");
    m.head_dim = f.or_else("head_dim", 512);
    m.vocab = f.need("vocab_size");
    m.ffn_kind = gated(f, "hidden_act", "silu");
    m.tied_embeddings = f.flag("tie_word_embeddings", false);
    if (f.flag("mlp_bias", false)) f.fail("mlp_bias", "true of only the shared expert cannot be stated");
    m.attention = AttentionKind::compressed;
    m.compressed = Compressed{f.or_else("q_lora_rank", 1024),   f.or_else("o_lora_rank", 1024),
                              f.or_else("o_groups", 8),         f.or_else("index_n_heads", 64),
                              f.or_else("index_head_dim", 128), f.or_else("index_topk", 512)};
    if (saturating_product(m.heads, m.head_dim) % m.compressed->o_groups != 0)
        f.fail("o_groups",
               std::to_string(m.compressed->o_groups) + " does not divide num_attention_heads x head_dim");
    m.attention_sinks = true;
    m.sliding_window = f.or_else("sliding_window", 128);
    m.hyper_streams = f.or_else("hc_mult", 4, 1, 64);
    m.moe = experts(f, "n_routed_experts", "moe_intermediate_size");
    share_experts(*m.moe, f.or_else("n_shared_experts", 1, 0, Fields::kMostExperts), m.moe->expert_ffn);
    m.moe->router_bias = true;
    m.mtp_layers = f.or_else("num_nextn_predict_layers", 1, 0, Fields::kMostLayers);
    Layers layers = plain_layers(m);
    compressed_layers(f, m, layers);
    const auto routing = per_layer(f, "mlp_layer_types", m.layers);
    const std::int64_t by_table = f.or_else("num_hash_layers", 3, 0, Fields::kMostLayers);
    for (std::size_t i = 0; i < layers.size(); ++i)
        layers[i].hash_routed =
            routing.empty() ? static_cast<std::int64_t>(i) < by_table : routing[i] == "hash_moe";
    set_layers(f, m, layers);
    return m;
}

// This is DeepSeek's routing on grouped attention: experts of one width, some for all tokens, first layers
// dense.
void deepseek_experts(const Fields& f, Model& m) {
    m.moe = experts(f, "n_routed_experts", "moe_intermediate_size");
    m.moe->router_bias = true;
    share_experts(f, *m.moe, "n_shared_experts");
    deepseek_sparse_layers(f, m);
    limit_groups(f, *m.moe);
}

void dots1(const Fields& f, Model& m) {
    deepseek_experts(f, m);
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers)) m.sliding_window = 0;
    set_layers(f, m, layers);
}

// Its expert bias is in the checkpoint unless the file says otherwise; the prediction layers are dense.
Model ernie4_5_moe(const Fields& f) {
    Model m = gated_decoder(f, {.tied = true});
    m.attention_bias = m.mlp_bias = f.flag("use_bias", false);
    m.sliding_window = 0;
    const nlohmann::json* count = f.find("moe_num_experts");
    if (count && count->is_array())
        f.fail("moe_num_experts",
               "lists " + shown_json(*count) + ": experts for each kind of input cannot be stated by a plan");
    const bool same_width = f.or_else("moe_intermediate_size", 0, 0) == 0;
    m.moe = experts(f, f.find("moe_num_experts") ? "moe_num_experts" : "num_experts",
                    same_width ? "intermediate_size" : "moe_intermediate_size",
                    f.find("moe_k") ? "moe_k" : "num_experts_per_tok");
    share_experts(f, *m.moe, "moe_num_shared_experts");
    m.moe->router_bias = f.flag("moe_use_aux_free", true);
    const std::int64_t step = f.or_else("moe_layer_interval", 1, 1, Fields::kMostLayers);
    const std::int64_t first = f.or_else("moe_layer_start_index", 1, 0);
    std::int64_t last = f.or_else("moe_layer_end_index", m.layers - 1, -1);
    if (last < 0) last = m.layers - 1;
    if (step == 1 && last >= m.layers - 1) {
        dense_before(f, "moe_layer_start_index", m, 1);
    } else {
        Layers layers = plain_layers(m);
        set_ffn(layers, [&](std::int64_t i) { return (i + 1) % step == 0 && i >= first && i <= last; });
        set_layers(f, m, layers);
    }
    m.mtp_layers = prediction_layers(f);
    m.mtp_dense = m.mtp_layers > 0;
    return m;
}

// In Hunyuan-Large and A13B lists give each layer its experts; with cross-layer attention every second layer
// uses the keys and values of the one before (Brandon et al. 2024). The code of transformers (`built_in`) has
// norms of queries and keys and a shared MLP in any case; the code next to the checkpoints has switches.
Model hunyuan_experts(const Fields& f, bool built_in) {
    Model m = gated_decoder(f);
    hunyuan_head_dim(f, m);
    m.attention_bias = f.flag("attention_bias", false);
    if (built_in || f.flag("use_qk_norm", false)) m.qk_norm = QkNorm::head;
    m.sliding_window = 0;
    if (same_in_all(f, "num_experts", 1) > 1) {
        m.moe = experts(f, "num_experts",
                        f.find("moe_intermediate_size") ? "moe_intermediate_size" : "intermediate_size",
                        f.find("moe_topk") ? "moe_topk" : "num_experts_per_tok");
        const bool shares = built_in || f.flag("use_mixed_mlp_moe", f.find("num_shared_expert") != nullptr);
        if (shares) share_experts(*m.moe, same_in_all(f, "num_shared_expert", 1, 0), m.ffn);
        dense_before(f, "moe_layer_num_skipped", m, 0);
    }
    if (!f.flag("use_cla", false)) return m;
    const std::int64_t every = f.or_else("cla_share_factor", 2, 1, Fields::kMostLayers);
    Layers layers = plain_layers(m);
    for (std::size_t i = 0; i < layers.size(); ++i)
        layers[i].shares_kv = static_cast<std::int64_t>(i) % every != 0;
    set_layers(f, m, layers);
    return m;
}
Model hunyuan_moe(const Fields& f) {
    return hunyuan_experts(f, false);
}
Model hunyuan_v1_moe(const Fields& f) {
    return hunyuan_experts(f, true);
}

// Ling 1 has one switch for the biases of queries, keys and values, and one for all others.
void bailing_moe(const Fields& f, Model& m) {
    m.qkv_bias = f.flag("use_qkv_bias", false) && !m.attention_bias;
    if (f.flag("use_bias", false) && !f.flag("use_qkv_bias", false))
        f.fail("use_bias", "true without use_qkv_bias cannot be stated");
    ling_experts(f, m);
}

// Norms of queries and keys are over all heads; its prediction modules are in no checkpoint.
void minimax_m2(const Fields& f, Model& m) {
    if (f.flag("use_qk_norm", true))
        m.qk_norm = f.text("qk_norm_type", "per_layer") == "per_layer" ? QkNorm::full : QkNorm::head;
    m.moe->router_bias = f.flag("use_routing_bias", true);
    m.ffn = 0;
}

// In Llama 4 three of four layers meet chunks of attention_chunk_size keys; its norms of queries and keys
// have no weights.
Model llama4(const Fields& f) {
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("attention_bias", false);
    m.ffn = f.need("intermediate_size_mlp");
    m.moe = experts(f, "num_local_experts", "intermediate_size");
    share_experts(*m.moe, 1, m.moe->expert_ffn);
    m.sliding_window = f.or_else("attention_chunk_size", 8192);
    Layers layers = plain_layers(m);
    const std::int64_t step = f.or_else("interleave_moe_layer_step", 1, 1, Fields::kMostLayers);
    if (const nlohmann::json* listed = f.find("moe_layers"); listed && listed->is_array())
        set_ffn(layers, [&](std::int64_t i) {
            return std::find(listed->begin(), listed->end(), nlohmann::json(i)) != listed->end();
        });
    else
        set_ffn(layers, [&](std::int64_t i) { return (i + 1) % step == 0; });
    if (!read_layer_types(f, layers)) {
        const auto rotary = per_layer(f, "no_rope_layers", m.layers);
        if (rotary.empty())
            slide_all_but(layers, f.or_else("no_rope_layer_interval", 4, 1, Fields::kMostLayers));
        for (std::size_t i = 0; i < rotary.size(); ++i)
            layers[i].kind = rotary[i] == 0 ? MixerKind::full : MixerKind::window;
    }
    set_layers(f, m, layers);
    return m;
}

void granitemoe(const Fields& f, Model& m) {
    share_experts(*m.moe, 1, f.or_else("shared_intermediate_size", 0, 0));
}

// The family is from LG AI Research 2026 (K-EXAONE).
void exaone_moe(const Fields& f, Model& m) {
    m.moe->router_bias = true;
    share_experts(f, *m.moe, "num_shared_experts");
    limit_groups(f, *m.moe);
    const auto sparse = per_layer(f, "is_moe_layer", m.layers);
    if (sparse.empty()) dense_before(f, "first_k_dense_replace", m, 0);
    Layers layers = plain_layers(m);
    if (!sparse.empty())
        set_ffn(layers, [&](std::int64_t i) {
            const nlohmann::json& v = sparse[i];
            return v.is_boolean() ? v.get<bool>() : v == 1;
        });
    if (!read_layer_types(f, layers)) m.sliding_window = 0;
    set_layers(f, m, layers);
}

// Arcee AI 2025 (Trinity): it has a gate on attention's output, four norms a layer.
void afmoe(const Fields& f, Model& m) {
    m.attention_gate = AttentionGate::full;
    m.moe->router_bias = true;
    share_experts(f, *m.moe, "num_shared_experts");
    dense_before(f, "num_dense_layers", m, 0);
    limit_groups(f, *m.moe);
}

// Xiaomi 2025 (MiMo-V2-Flash): it has windows with heads of their own and sinks, values narrower than keys.
// Files that transformers writes have layer_types, and twice the heads of keys in layers with a window.
Model mimo_v2(const Fields& f) {
    Model m = gated_decoder(f);
    m.value_head_dim = f.or_else("v_head_dim", 0);
    m.qkv_bias = f.flag("attention_bias", false);
    m.moe = experts(f, "n_routed_experts", "moe_intermediate_size");
    m.moe->router_bias = true;
    share_experts(f, *m.moe, "n_shared_experts");
    limit_groups(f, *m.moe);
    m.sliding_window = f.or_else("sliding_window_size", f.or_else("sliding_window", 128));
    const std::int64_t value = f.or_else("swa_v_head_dim", m.value_head_dim);
    if (value != m.value_head_dim)
        f.fail("swa_v_head_dim", "differs from v_head_dim: a plan cannot state that");
    const auto windows = per_layer(f, "hybrid_layer_pattern", m.layers),
               sparse = per_layer(f, "moe_layer_freq", m.layers);
    Layers layers = plain_layers(m);
    const bool listed = read_layer_types(f, layers);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        LayerRun& l = layers[i];
        l.ffn = (sparse.empty() ? i > 0 : sparse[i] == 1) ? LayerFfn::moe : LayerFfn::dense;
        const bool window = !windows.empty() ? windows[i] == 1
                            : listed         ? l.kind == MixerKind::window
                                             : i > 0 && (i + 1) % 6 != 0;
        l.kind = window ? MixerKind::window : MixerKind::full;
        l.sinks = f.flag(window ? "add_swa_attention_sink_bias" : "add_full_attention_sink_bias", window);
        if (!window) continue;
        const auto own = [](std::int64_t n, std::int64_t models) { return n == models ? 0 : n; };
        l.heads = own(f.or_else("swa_num_attention_heads", m.heads), m.heads);
        l.kv_heads = own(f.or_else("swa_num_key_value_heads", windows.empty() ? 2 * m.kv_heads : m.kv_heads),
                         m.kv_heads);
        l.head_dim = own(f.or_else("swa_head_dim", m.head_dim), m.head_dim);
    }
    set_layers(f, m, layers);
    return m;
}

// StepFun 2026 (Step 3.5 Flash): it has windows with heads of their own, a gate for each head.
Model step3p5(const Fields& f) {
    Model m = gated_decoder(f);
    m.kv_heads = f.or_else("num_attention_groups", m.kv_heads);
    m.qk_norm = QkNorm::head;
    if (f.flag("use_head_wise_attn_gate", true)) m.attention_gate = AttentionGate::head;
    m.sliding_window = f.or_else("sliding_window", 512);
    // transformers writes the second name of each.
    m.moe = experts(f, f.find("moe_num_experts") ? "moe_num_experts" : "n_routed_experts",
                    "moe_intermediate_size", f.find("moe_top_k") ? "moe_top_k" : "num_experts_per_tok");
    m.moe->router_bias = true;
    share_experts(*m.moe, 1, f.need("share_expert_dim"));
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers))
        for (std::size_t i = 0; i < layers.size(); ++i)
            layers[i].kind = i % 2 == 0 ? MixerKind::window : MixerKind::full;
    const std::string listed = "," + f.text("moe_layers_enum", "") + ",";
    set_ffn(layers, [&](std::int64_t i) {
        return listed == ",," ? i > 0 : listed.find("," + std::to_string(i) + ",") != std::string::npos;
    });
    if (const std::int64_t heads = f.or_else("num_sliding_attention_heads", m.heads); heads != m.heads)
        for (LayerRun& l : layers)
            if (l.kind == MixerKind::window) l.heads = heads;
    const nlohmann::json* other = f.find("attention_other_setting");
    if (other && other->is_object()) {
        const Fields own(*other, f, f.prefix() + "/attention_other_setting");
        const std::int64_t heads = own.or_else("num_attention_heads", m.heads),
                           groups = own.or_else("num_attention_groups", m.kv_heads);
        for (LayerRun& l : layers) {
            if (l.kind != MixerKind::window) continue;
            l.heads = heads == m.heads ? 0 : heads;
            l.kv_heads = groups == m.kv_heads ? 0 : groups;
        }
    }
    set_layers(f, m, layers);
    m.mtp_layers = prediction_layers(f);
    m.mtp_dense = m.mtp_layers > 0;
    return m;
}

// GLM-4.5 and later have biases only of queries, keys and values.
constexpr Traits kGlm4Moe{.qkv_bias = kAttentionBias,
                          .qk_norm = QkNorm::head,
                          .has_qk_norm = {"use_qk_norm"},
                          .predicts = true,
                          .rest = deepseek_experts};
constexpr Traits kBailing{.attention_bias = {"use_bias"},
                          .mlp_bias = {"use_bias"},
                          .qk_norm = QkNorm::head,
                          .has_qk_norm = {"use_qk_norm"},
                          .predicts = true,
                          .rest = bailing_moe};
constexpr Traits kGranite{.attention_bias = kAttentionBias,
                          .experts = "num_local_experts",
                          .expert_ffn = "intermediate_size",
                          .rest = granitemoe};

constexpr std::array<Family, 32> kMoeFamilies{{
    {"afmoe",
     {.post_norms = true,
      .qk_norm = QkNorm::head,
      .window = Window::as_written,
      .full_every = 4,
      .full_every_name = "global_attn_every_n_layers",
      .experts = "num_experts",
      .rest = afmoe}},
    {"bailing_moe", kBailing},
    {"bailing_moe_v2", kBailing},
    {"dbrx", dbrx},
    {"deepseek_v2", deepseek_v2},
    {"deepseek_v3", deepseek_v3},
    {"deepseek_v4", deepseek_v4},
    {"deepseek_v32", deepseek_v3},
    {"dots1",
     {.attention_bias = kAttentionBias,
      .qk_norm = QkNorm::head,
      .window = Window::as_written,
      .rest = dots1}},
    {"ernie4_5_moe", ernie4_5_moe},
    {"exaone_moe",
     {.qk_norm = QkNorm::head,
      .window = Window::as_written,
      .experts = "num_experts",
      .predicts = true,
      .rest = exaone_moe}},
    {"glm4_moe", kGlm4Moe},
    {"glm4_moe_lite", glm_latent},
    {"glm4v_moe_text", kGlm4Moe},
    {"glm_moe_dsa", glm_latent},
    {"gpt_oss",
     {.defaults = {.head_dim = 64},
      .attention_bias = {"attention_bias", true},
      .mlp_bias = kAlways,
      .window_size = 128,
      .full_every = 2,
      .experts = "num_local_experts",
      .expert_ffn = "intermediate_size",
      .rest = gpt_oss}},
    {"granitemoe", kGranite},
    {"granitemoeshared", kGranite},
    {"hunyuan", hunyuan_moe},
    {"hunyuan_v1_moe", hunyuan_v1_moe},
    {"kimi_k2", deepseek_v3},
    {"llama4_text", llama4},
    // JetBrains 2026 (Mellum 2): it has Qwen 3's layers with windows in some.
    {"mellum",
     {.attention_bias = kAttentionBias,
      .qk_norm = QkNorm::head,
      .window = Window::as_written,
      .full_every = 0,
      .experts = "num_experts"}},
    {"mimo_v2_flash", mimo_v2},
    {"minimax_m2", {.experts = "num_local_experts", .expert_ffn = "intermediate_size", .rest = minimax_m2}},
    {"mistral4", mistral4},
    {"mixtral",
     {.window = Window::as_written, .experts = "num_local_experts", .expert_ffn = "intermediate_size"}},
    {"olmoe",
     {.attention_bias = kAttentionBias,
      .qk_norm = QkNorm::full,
      .experts = "num_experts",
      .expert_ffn = "intermediate_size"}},
    {"phimoe",
     {.attention_bias = kAttentionBias,
      .head_bias = {"lm_head_bias"},
      .norm = NormKind::layernorm,
      .window = Window::as_written,
      .experts = "num_local_experts",
      .expert_ffn = "intermediate_size"}},
    {"qwen2_moe",
     {.qkv_bias = {"qkv_bias", true},
      .window = Window::if_used,
      .experts = "num_experts",
      .rest = qwen2_moe}},
    // Without head_dim transformers takes hidden / heads here, unlike in Qwen 3's dense models.
    {"qwen3_moe",
     {.attention_bias = kAttentionBias,
      .qk_norm = QkNorm::head,
      .window = Window::if_used,
      .experts = "num_experts",
      .rest = qwen_sparse_layers}},
    {"step3p5", step3p5},
}};

}  // namespace

std::span<const Family> moe_families() {
    return kMoeFamilies;
}

// Reads families whose layers of attention differ in their sizes.

namespace {

// In Llama-Nemotron (Puzzle, Bercovich et al. 2024) each layer has its own MLP width, some have no attention
// or MLP.
Model nemotron_nas(const Fields& f) {
    nlohmann::json filled = f.object();
    filled["intermediate_size"] = 1;
    Model m = gated_decoder(Fields(filled, f, f.prefix()));
    m.attention_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    m.sliding_window = 0;
    m.ffn = 0;
    const auto blocks = per_layer(f, "block_configs", m.layers);
    if (blocks.empty()) f.fail("block_configs", "is missing, it says what each layer is");
    Layers layers(static_cast<std::size_t>(m.layers));
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const nlohmann::json none = nlohmann::json::object();
        const std::string at = f.prefix() + "/block_configs/" + std::to_string(i);
        const auto part = [&](const char* key) -> const nlohmann::json& {
            if (!blocks[i].is_object() || !blocks[i].contains(key)) return none;
            return blocks[i][key];
        };
        const Fields attention(part("attention"), f, at + "/attention"), ffn(part("ffn"), f, at + "/ffn");
        for (const Fields* p : {&attention, &ffn})
            if (p->flag("replace_with_linear", false))
                p->fail("replace_with_linear", "true cannot be stated by a plan");
        LayerRun& l = layers[i];
        if (attention.flag("no_op", false)) l.kind = MixerKind::none;
        const std::int64_t group = attention.or_else("n_heads_in_group", 0, 0);
        if (group > 0 && m.heads % group != 0)
            attention.fail("n_heads_in_group",
                           std::to_string(group) + " does not divide num_attention_heads");
        if (l.kind == MixerKind::full && group > 0) l.kv_heads = m.heads / group;
        if (ffn.flag("no_op", false)) {
            l.ffn = LayerFfn::none;
            continue;
        }
        const nlohmann::json* by = ffn.find("ffn_mult");
        if (!by || !by->is_number() || !(by->get<double>() > 0 && by->get<double>() < 1e6))
            ffn.fail("ffn_mult", "must be a number above 0");
        const auto width =
            static_cast<std::int64_t>(2 * by->get<double>() * static_cast<double>(m.hidden) / 3);
        l.ffn_width = (width + 255) / 256 * 256;
        m.ffn = std::max(m.ffn, l.ffn_width);
    }
    for (LayerRun& l : layers) {
        if (l.kv_heads == m.kv_heads) l.kv_heads = 0;
        if (l.ffn_width == m.ffn) l.ffn_width = 0;
    }
    set_layers(f, m, layers);
    return m;
}

// In Gemma 4 layers over all keys have wider heads, and keys that serve as values; experts may be parallel to
// the MLP.
Model gemma4_layers(const Fields& f, std::int64_t layer_inputs) {
    Model m = gated_decoder(f, {.head_dim = 256,
                                .tied = true,
                                .activation_name = "hidden_activation",
                                .activation = "gelu_pytorch_tanh"});
    if (f.or_else("hidden_size_per_layer_input", layer_inputs, 0) > 0)
        f.fail("hidden_size_per_layer_input", "gemma4: embeddings for each layer are not stated by a plan "
                                              "(they stand at 0 in the 31B and 26B)");
    if (f.or_else("num_kv_shared_layers", 0, 0) > 0)
        f.fail("num_kv_shared_layers",
               "gemma4: layers that share keys over a distance are not stated by a plan");
    m.attention_bias = f.flag("attention_bias", false);
    m.post_norms = true;
    m.qk_norm = QkNorm::head;
    m.sliding_window = f.or_else("sliding_window", 512);
    if (f.flag("enable_moe_block", false)) {
        m.moe = experts(f, "num_experts", "moe_intermediate_size", "top_k_experts");
        m.moe->beside_mlp = true;
    }
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers))
        slide_all_but(layers, f.or_else("sliding_window_pattern", 6, 1, Fields::kMostLayers));
    // Newer files say what differs layer by layer: read_own_layers reads it.
    const bool listed = f.find("per_layer_config") != nullptr;
    const std::int64_t dim = listed ? m.head_dim : f.or_else("global_head_dim", 512),
                       kv = listed ? m.kv_heads : f.or_else("num_global_key_value_heads", m.kv_heads);
    const bool same = f.flag("attention_k_eq_v", false);
    for (LayerRun& l : layers) {
        if (l.kind != MixerKind::full) continue;
        l.head_dim = dim == m.head_dim ? 0 : dim;
        l.keys_as_values = same;
        if (same && kv != m.kv_heads) l.kv_heads = kv;
    }
    set_layers(f, m, layers);
    return m;
}

Model gemma4(const Fields& f) {
    return gemma4_layers(f, 256);
}
// The class of the 12B has no embeddings for each layer.
Model gemma4_unified(const Fields& f) {
    return gemma4_layers(f, 0);
}

// Poolside 2026 (Laguna): each layer has its own number of query heads, a gate for each.
Model laguna(const Fields& f) {
    Model m = gated_decoder(f);
    m.qkv_bias = f.flag("qkv_bias", false);
    if (f.flag("attention_bias", false))
        f.fail("attention_bias", "laguna: a bias of only the output cannot be stated");
    m.qk_norm = QkNorm::head;
    if (f.flag("gating", true)) m.attention_gate = AttentionGate::head;
    m.moe = experts(f, "num_experts", "moe_intermediate_size");
    m.moe->router_bias = true;
    share_experts(*m.moe, 1, f.or_else("shared_expert_intermediate_size", 0, 0));
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers)) m.sliding_window = 0;
    const auto ffns = per_layer(f, "mlp_layer_types", m.layers),
               heads = per_layer(f, "num_attention_heads_per_layer", m.layers);
    set_ffn(layers, [&](std::int64_t i) { return ffns.empty() ? i > 0 : ffns[i] == "sparse"; });
    for (std::size_t i = 0; i < heads.size(); ++i) {
        const std::int64_t n = heads[i].is_number_integer() ? heads[i].get<std::int64_t>() : 0;
        if (n < 1 || n > Fields::kLargest)
            f.fail("num_attention_heads_per_layer", "found " + shown_json(heads[i]));
        layers[i].heads = n == m.heads ? 0 : n;
    }
    set_layers(f, m, layers);
    return m;
}

constexpr std::array<Family, 4> kUnevenFamilies{{{"gemma4_text", gemma4},
                                                 {"gemma4_unified_text", gemma4_unified},
                                                 {"laguna", laguna},
                                                 {"nemotron-nas", nemotron_nas}}};

}  // namespace

std::span<const Family> uneven_families() {
    return kUnevenFamilies;
}

}  // namespace pentamesh::hf
