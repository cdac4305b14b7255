// Reads families whose layers all have a dense MLP and attention over all keys or a window.
#include "core/io/hf_families.h"

#include <array>

namespace pentamesh::hf {
namespace {

void no_window_unless_used(const Fields& f, Model& m) {
    if (!f.flag("use_sliding_window", false)) m.sliding_window = 0;
}

// Sets layers by layer_types where the file lists them, else gives all but each `every`-th a window; 0 leaves
// the layers as they are.
void slide(const Fields& f, Model& m, std::int64_t every) {
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers) && every > 0 && m.sliding_window > 0) slide_all_but(layers, every);
    set_layers(f, m, layers);
}

Model llama(const Fields& f) {
    return llama_decoder(f);
}

// Layers without rotary positions have as many numbers.
Model smollm3(const Fields& f) {
    Model m = gated_decoder(f, {.tied = true});
    m.attention_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    no_window_unless_used(f, m);
    slide(f, m, 0);
    return m;
}

Model mistral(const Fields& f) {
    return gated_decoder(f);
}

Model phi3(const Fields& f) {
    return gated_decoder(f);
}

Model ministral3(const Fields& f) {
    Model m = gated_decoder(f, {.tied = true});
    if (f.find("layer_types")) slide(f, m, 0);
    return m;
}

Model qwen2(const Fields& f) {
    Model m = gated_decoder(f);
    m.qkv_bias = true;
    no_window_unless_used(f, m);
    return m;
}

// Xiaomi 2025: it is Qwen 2 with a flag for the biases and prediction layers.
Model mimo(const Fields& f) {
    Model m = gated_decoder(f);
    m.qkv_bias = f.flag("attention_bias", true);
    no_window_unless_used(f, m);
    m.mtp_layers = prediction_layers(f);
    return m;
}

Model qwen3(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 128});
    m.attention_bias = f.flag("attention_bias", false);
    m.qk_norm = QkNorm::head;
    no_window_unless_used(f, m);
    return m;
}

// Gemma computes with the tanh form of GELU for any hidden_act (configuration_gemma.py).
Model gemma(const Fields& f) {
    Model m = decoder(f, {.head_dim = 256, .tied = true});
    m.ffn_kind = FfnKind::geglu;
    m.attention_bias = f.flag("attention_bias", false);
    return m;
}

constexpr Defaults kGemma{
    .head_dim = 256, .tied = true, .activation_name = "hidden_activation", .activation = "gelu_pytorch_tanh"};

Model gemma2(const Fields& f) {
    Model m = gated_decoder(f, kGemma);
    m.attention_bias = f.flag("attention_bias", false);
    m.post_norms = true;
    m.sliding_window = f.or_else("sliding_window", 4096);
    slide(f, m, 2);
    return m;
}

Model vaultgemma(const Fields& f) {
    Model m = gemma2(f);
    m.post_norms = false;
    return m;
}

Model gemma3(const Fields& f) {
    Defaults d = kGemma;
    d.heads = 8, d.kv_heads = 4, d.vocab = 262208;
    Model m = gated_decoder(f, d);
    m.attention_bias = f.flag("attention_bias", false);
    m.post_norms = true;
    m.qk_norm = QkNorm::head;
    m.sliding_window = f.or_else("sliding_window", 4096);
    slide(f, m, f.or_else("sliding_window_pattern", 6, 1, Fields::kMostLayers));
    return m;
}

Model phi(const Fields& f) {
    if (f.flag("qk_layernorm", false)) f.fail("qk_layernorm", "true is not supported: its norms have biases");
    Model m = decoder(f);
    m.ffn_kind = plain(f, "hidden_act", "gelu_new");
    m.norm = NormKind::layernorm;
    m.attention_bias = m.mlp_bias = m.head_bias = m.shared_norm = true;
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
    Model m = decoder(f);
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

// Its two norms of a layer come after attention and MLP instead of before: as many numbers.
Model olmo2(const Fields& f) {
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("attention_bias", false);
    m.qk_norm = QkNorm::full;
    m.sliding_window = 0;
    return m;
}

Model olmo3(const Fields& f) {
    Model m = olmo2(f);
    m.sliding_window = f.or_else("sliding_window", 4096);
    slide(f, m, 4);
    return m;
}

Model nemotron(const Fields& f) {
    Model m = decoder(f);
    m.ffn_kind = plain(f, "hidden_act", "relu2");
    m.norm = NormKind::layernorm;
    m.attention_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    return m;
}

// Arcee AI 2025 (AFM): it is Llama with an MLP without gate.
Model arcee(const Fields& f) {
    Model m = decoder(f);
    m.ffn_kind = plain(f, "hidden_act", "relu2");
    m.attention_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    m.sliding_window = 0;
    return m;
}

Model apertus(const Fields& f) {
    Model m = decoder(f);
    m.ffn_kind = plain(f, "hidden_act", "xielu");
    m.attention_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    if (f.flag("qk_norm", true)) m.qk_norm = QkNorm::head;
    m.sliding_window = 0;
    return m;
}

Model seed_oss(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 128});
    const bool in = f.flag("attention_bias", true), out = f.flag("attention_out_bias", false);
    if (out && !in) f.fail("attention_out_bias", "true without attention_bias cannot be stated");
    m.qkv_bias = in && !out;
    m.attention_bias = out;
    m.mlp_bias = f.flag("mlp_bias", false);
    m.sliding_window = 0;
    return m;
}

Model glm(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 128});
    m.qkv_bias = f.flag("attention_bias", true);  // the output has none
    m.sliding_window = 0;
    return m;
}

// GLM-4-0414 has norms after attention and MLP as well as before.
Model glm4(const Fields& f) {
    Model m = glm(f);
    m.qkv_bias = f.flag("attention_bias", false);
    m.post_norms = true;
    return m;
}

// ERNIE 4.5 has one switch for the biases of all products but the router's and the head's.
Model ernie4_5(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 128, .tied = true});
    m.attention_bias = m.mlp_bias = f.flag("use_bias", false);
    m.sliding_window = 0;
    m.mtp_layers = prediction_layers(f);
    return m;
}

Model hunyuan_dense(const Fields& f) {
    Model m = gated_decoder(f);
    if (!f.find("head_dim")) m.head_dim = f.or_else("attention_head_dim", m.head_dim);
    m.attention_bias = f.flag("attention_bias", false);
    if (f.flag("use_qk_norm", true)) m.qk_norm = QkNorm::head;
    m.sliding_window = 0;
    return m;
}

// Two norms a layer come after attention and MLP: as many numbers as before them.
Model exaone4(const Fields& f) {
    Model m = gated_decoder(f);
    m.qk_norm = QkNorm::head;
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
    return m;
}

// Cohere has attention and MLP side by side after one layer norm without bias, which has as many numbers as
// an RMS norm; norms of queries and keys have a weight for each head.
Model cohere(const Fields& f) {
    Model m = gated_decoder(f, {.tied = true});
    m.attention_bias = f.flag("attention_bias", false);
    m.shared_norm = true;
    if (f.flag("use_qk_norm", false)) m.qk_norm = QkNorm::full;
    m.sliding_window = 0;
    return m;
}
Model cohere2(const Fields& f) {
    Model m = cohere(f);
    m.sliding_window = f.or_else("sliding_window", 4096);
    slide(f, m, f.or_else("sliding_window_pattern", 4, 1, Fields::kMostLayers));
    return m;
}

Model granite(const Fields& f) {
    return llama(f);
}

Model helium(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 128});
    m.qkv_bias = f.flag("attention_bias", false);
    m.mlp_bias = f.flag("mlp_bias", false);
    m.sliding_window = 0;
    return m;
}

Model starcoder2(const Fields& f) {
    Model m = decoder(f, {.tied = true});
    m.ffn_kind = plain(f, "hidden_act", "gelu_pytorch_tanh");
    m.norm = NormKind::layernorm;
    m.attention_bias = m.mlp_bias = f.flag("use_bias", true);
    return m;
}

// Meta 2025 (Code World Model): it is Llama with windows.
Model cwm(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 128});
    m.sliding_window = f.or_else("sliding_window", 8192);
    slide(f, m, 0);
    return m;
}

// Youtu-LLM is a dense model with latent attention.
Model latent_dense(const Fields& f) {
    Model m = gated_decoder(f, {.tied = true});
    m.attention_bias = f.flag("attention_bias", false);
    m.kv_heads = m.heads;
    m.sliding_window = 0;
    latent_attention(f, m);
    return m;
}

constexpr std::array<Family, 37> kDenseFamilies{{{"apertus", apertus},
                                                 {"arcee", arcee},
                                                 {"cohere", cohere},
                                                 {"cohere2", cohere2},
                                                 {"cwm", cwm},
                                                 {"ernie4_5", ernie4_5},
                                                 {"exaone4", exaone4},
                                                 {"gemma", gemma},
                                                 {"gemma2", gemma2},
                                                 {"gemma3", gemma3},
                                                 {"gemma3_text", gemma3},
                                                 {"glm", glm},
                                                 {"glm4", glm4},
                                                 {"glm4v_text", glm4},
                                                 {"gpt2", gpt2},
                                                 {"gpt_neox", gpt_neox},
                                                 {"granite", granite},
                                                 {"helium", helium},
                                                 {"hunyuan_v1_dense", hunyuan_dense},
                                                 {"llama", llama},
                                                 {"mimo", mimo},
                                                 {"ministral3", ministral3},
                                                 {"minitron", nemotron},
                                                 {"mistral", mistral},
                                                 {"nemotron", nemotron},
                                                 {"olmo", olmo},
                                                 {"olmo2", olmo2},
                                                 {"olmo3", olmo3},
                                                 {"phi", phi},
                                                 {"phi3", phi3},
                                                 {"qwen2", qwen2},
                                                 {"qwen3", qwen3},
                                                 {"seed_oss", seed_oss},
                                                 {"smollm3", smollm3},
                                                 {"starcoder2", starcoder2},
                                                 {"vaultgemma", vaultgemma},
                                                 {"youtu_llm", latent_dense}}};

}  // namespace

std::span<const Family> dense_families() {
    return kDenseFamilies;
}

}  // namespace pentamesh::hf
