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

// Layers from max_window_layers on have a window, where layer_types do not say otherwise
// (configuration_qwen2.py and configuration_qwen3.py of transformers).
void qwen_windows(const Fields& f, Model& m) {
    if (m.sliding_window == 0) return;
    Layers layers = plain_layers(m);
    const auto from = static_cast<std::size_t>(f.or_else("max_window_layers", 28, 0, Fields::kMostLayers));
    if (!read_layer_types(f, layers))
        for (std::size_t i = 0; i < layers.size(); ++i)
            layers[i].kind = i < from ? MixerKind::full : MixerKind::window;
    set_layers(f, m, layers);
}

void phi(const Fields& f, Model& /*m*/) {
    if (f.flag("qk_layernorm", false)) f.fail("qk_layernorm", "true is not supported: its norms have biases");
}

Model gpt2(const Fields& f) {
    Model m = gpt_shape(f);
    m.ffn_kind = plain(f, "activation_function", "gelu_new");
    m.attention_bias = true;
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
    // Biases of queries, keys and values are there for any file, and heads share the hidden size
    // (modeling_glm4v.py of transformers, Glm4vTextAttention).
    {"glm4v_text", {.qkv_bias = kAlways, .post_norms = true}},
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
    {"mimo",
     {.qkv_bias = {"attention_bias", true},
      .window = Window::if_used,
      .predicts = true,
      .rest = qwen_windows}},
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
    {"qwen2", {.qkv_bias = kAlways, .window = Window::if_used, .rest = qwen_windows}},
    {"qwen3",
     {.defaults = {.head_dim = 128},
      .attention_bias = kAttentionBias,
      .qk_norm = QkNorm::head,
      .window = Window::if_used,
      .rest = qwen_windows}},
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

}  // namespace pentamesh::hf
