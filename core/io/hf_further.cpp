// Reads further families of transformers: those of GPT's days with layer norms, and those of 2025 and 2026
// that are Llama's layer with windows, sinks, norms or experts.
#include "core/io/hf_families.h"

#include <algorithm>
#include <array>

namespace pentamesh::hf {
namespace {

// ---- layers of GPT's days ------------------------------------------------------------------------------

// GPT-J and CodeGen have attention without biases and the MLP side by side, behind one norm, and a head with
// a bias.
Model gptj(const Fields& f) {
    Model m = gpt_shape(f);
    m.ffn_kind = plain(f, "activation_function", "gelu_new");
    m.shared_norm = true;
    m.head_bias = true;
    m.tied_embeddings = f.flag("tie_word_embeddings", false);
    if (m.tied_embeddings)
        f.fail("tie_word_embeddings", "true with a head that has a bias cannot be stated by a plan");
    return m;
}

// StarCoder and SantaCoder are GPT-2 with one key for all heads.
Model gpt_bigcode(const Fields& f) {
    Model m = gpt_shape(f);
    if (f.flag("multi_query", true)) m.kv_heads = 1;
    m.ffn_kind = plain(f, "activation_function", "gelu_pytorch_tanh");
    m.attention_bias = true;
    m.positions = Positions::learned;
    m.max_positions = f.need("n_positions");
    m.tied_embeddings = f.flag("tie_word_embeddings", true);
    if (f.flag("add_cross_attention", false))
        f.fail("add_cross_attention", "attention to another text cannot be stated by a plan");
    return m;
}

// Falcon puts attention and MLP side by side, behind one norm (7B) or one of each (40B). Older files of the
// hub have n_layer, n_head and n_head_kv.
Model falcon(const Fields& f) {
    const auto name = [&](const char* now, const char* before) {
        return std::string_view(!f.find(now) && f.find(before) ? before : now);
    };
    const std::string_view heads = name("num_attention_heads", "n_head");
    Model m;
    m.layers = f.need(name("num_hidden_layers", "n_layer"), Fields::kMostLayers);
    m.hidden = f.need("hidden_size");
    m.heads = f.need(heads);
    m.head_dim = head_dim_of(f, "hidden_size", heads, m.hidden, m.heads);
    m.ffn = f.or_else("ffn_hidden_size", 4 * m.hidden);
    m.vocab = f.need("vocab_size");
    m.ffn_kind = plain(f, "activation", "gelu");
    m.norm = NormKind::layernorm;
    m.tied_embeddings = f.flag("tie_word_embeddings", true);
    m.attention_bias = m.mlp_bias = f.flag("bias", false);
    if (f.flag("alibi", false)) f.fail("alibi", "true is not supported: a plan has no field for ALiBi");
    const bool newer = f.flag("new_decoder_architecture", false);
    const std::string_view kv_heads = name("num_kv_heads", "n_head_kv");
    const bool one_key = !newer && f.flag("multi_query", true);
    m.kv_heads = one_key ? 1 : newer ? f.or_else(kv_heads, m.heads) : m.heads;
    if (m.heads % m.kv_heads != 0)
        f.fail(kv_heads, std::to_string(m.kv_heads) + " does not divide the heads");
    const std::int64_t norms = f.or_else("num_ln_in_parallel_attn", newer ? 2 : 1);
    m.shared_norm = f.flag("parallel_attn", true) && norms == 1;
    return m;
}

// ---- Llama's layer, changed ----------------------------------------------------------------------------

// Without layer_types every layer has the window: the class's where the file has none, null is no window.
void ministral(const Fields& f, Model& m) {
    if (!f.object().contains("sliding_window")) m.sliding_window = 4096;
    if (!f.find("layer_types")) return;
    Layers layers = plain_layers(m);
    read_layer_types(f, layers);
    set_layers(f, m, layers);
}

// HyperCLOVA X is Granite with a switch for norms after attention and MLP.
void hyperclovax(const Fields& f, Model& m) {
    m.post_norms = f.flag("use_post_norm", false);
}

// InternLM 3 has one switch for the biases of queries, keys and values, and one for all others.
void internlm3(const Fields& f, Model& m) {
    const bool qkv = f.flag("qkv_bias", false), others = f.flag("bias", false);
    if (others && !qkv) f.fail("bias", "true without qkv_bias cannot be stated");
    m.attention_bias = m.mlp_bias = others;
    m.qkv_bias = qkv && !others;
}

// The first layer of four has attention over all keys; every head has a sink.
void granite_windows(const Fields& f, Model& m) {
    m.attention_sinks = true;
    m.sliding_window = f.or_else("sliding_window", 128);
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers))
        for (std::size_t i = 0; i < layers.size(); ++i)
            layers[i].kind = i % 4 == 0 ? MixerKind::full : MixerKind::window;
    set_layers(f, m, layers);
}

void granitemoe_windows(const Fields& f, Model& m) {
    share_experts(*m.moe, 1, f.or_else("shared_intermediate_size", 0, 0));
    granite_windows(f, m);
}

// Meta 2026 (Muse Glimmer): it has Gemma 2's norms and a gate on attention's output; norms of queries, keys
// and the embedding have no weights. Each fourth layer, counted from the last, meets all keys.
void muse_glimmer(const Fields& f, Model& m) {
    m.attention_gate = AttentionGate::full;
    m.sliding_window = f.or_else("sliding_window", 2048);
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers))
        for (std::size_t i = 0; i < layers.size(); ++i)
            layers[i].kind = (layers.size() - 1 - i) % 4 == 0 ? MixerKind::full : MixerKind::window;
    set_layers(f, m, layers);
}

void youtu(const Fields& f, Model& m) {
    m.kv_heads = m.heads;
    latent_attention(f, m);
}

// MiniCPM's scales of residuals and logits have no parameters (modeling_minicpm.py).
void minicpm(const Fields& f, Model& /*m*/) {
    if (f.or_else("num_experts", 0, 0) > 0)
        f.fail("num_experts", "minicpm: the experts of MiniCPM-MoE are not read");
}

// EXAONE 3 names Llama's fields its own way (modeling_exaone.py, next to the checkpoint).
Model exaone3(const Fields& f) {
    nlohmann::json filled = f.object();
    if (!f.find("num_hidden_layers") && f.find("num_layers"))
        filled["num_hidden_layers"] = filled["num_layers"];
    const Fields own(filled, f, f.prefix());
    Model m = gated_decoder(own, {.activation_name = "activation_function"});
    m.sliding_window = 0;
    return m;
}

// Three layers are gated delta nets with norms before, one is attention with norms after: as many numbers.
Model olmo_hybrid(const Fields& f) {
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("attention_bias", false);
    if (m.attention_bias) f.fail("attention_bias", "true in a model with linear layers cannot be stated");
    m.qk_norm = QkNorm::full;
    m.sliding_window = 0;
    const std::int64_t heads = f.or_else("linear_num_key_heads", m.heads);
    const std::int64_t key = f.or_else("linear_key_head_dim", 3 * m.hidden / (4 * heads));
    if (key == 0) f.fail("linear_num_key_heads", std::to_string(heads) + " leaves a head no width");
    m.linear = Linear{LinearKind::gated_delta,
                      heads,
                      f.or_else("linear_num_value_heads", m.heads),
                      key,
                      f.or_else("linear_value_head_dim", 2 * key),
                      f.or_else("linear_conv_kernel_dim", 4),
                      false,
                      false};
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers))
        for (std::size_t i = 0; i < layers.size(); ++i)
            if (i % 4 != 3 && (layers.size() > 3 || i + 1 < layers.size()))
                layers[i].kind = MixerKind::linear;
    set_layers(f, m, layers);
    return m;
}

// ---- experts --------------------------------------------------------------------------------------------

// Tencent 2026 (Hy3): the first layer is dense unless the file lists them.
Model hy_v3(const Fields& f) {
    Model m = gated_decoder(f, {.head_dim = 128});
    m.attention_bias = f.flag("attention_bias", false);
    if (f.flag("mlp_bias", false)) f.fail("mlp_bias", "true of only the dense MLPs cannot be stated");
    m.qk_norm = QkNorm::head;
    m.sliding_window = 0;
    m.moe = experts(f, "num_experts", "moe_intermediate_size");
    m.moe->router_bias = true;
    share_experts(*m.moe, f.or_else("num_shared_experts", 1, 0, Fields::kMostExperts), m.moe->expert_ffn);
    dense_before(f, "first_k_dense_replace", m, 1);
    m.mtp_layers = prediction_layers(f);
    return m;
}

// Upstage 2026 (Solar Open): all layers have experts, so a file need not say how wide a dense MLP is; norms
// of queries and keys are in none.
Model solar_open(const Fields& f) {
    nlohmann::json filled = f.object();
    if (!f.find("intermediate_size")) filled["intermediate_size"] = f.need("moe_intermediate_size");
    Model m = gated_decoder(Fields(filled, f, f.prefix()), {.head_dim = 128});
    m.sliding_window = 0;
    m.qkv_bias = f.flag("attention_bias", false);
    m.moe = experts(f, "n_routed_experts", "moe_intermediate_size");
    m.moe->router_bias = true;
    share_experts(f, *m.moe, "n_shared_experts");
    limit_groups(f, *m.moe);
    m.ffn = 0;
    m.mtp_layers = prediction_layers(f);
    return m;
}

// ---- fields that any family may have ---------------------------------------------------------------------

// Returns every layer of a model that was read.
Layers layers_of(const Model& m) {
    if (m.pattern.empty()) {
        Layers layers = plain_layers(m);
        if (m.sliding_window > 0)
            for (LayerRun& l : layers) l.kind = MixerKind::window;
        return layers;
    }
    Layers layers;
    const auto all = static_cast<std::size_t>(m.layers);
    while (layers.size() < all)
        for (const LayerRun& run : m.pattern)
            for (std::int64_t i = 0; i < run.count && layers.size() < all; ++i) {
                layers.push_back(run);
                layers.back().count = 1;
            }
    return layers;
}

// Reads what one layer has of its own: {"5": {"head_dim": 512}}.
void read_own_layer(const Fields& f, const Model& m, const std::string& number, Layers& layers) {
    const Fields all(*f.find("per_layer_config"), f, f.prefix() + "/per_layer_config");
    const nlohmann::json* own = all.find(number);
    const bool digits =
        !number.empty() && number.size() < 7 && number.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t i = digits ? std::stoul(number) : layers.size();
    if (i >= layers.size() || !own || !own->is_object())
        all.fail(number, "must be an object, for a layer from 0 to " + std::to_string(m.layers - 1));
    const Fields one(*own, f, all.prefix() + "/" + number);
    LayerRun& l = layers[i];
    for (const auto& item : own->items()) {
        const std::string& key = item.key();
        const std::int64_t value = one.need(key);
        const auto differs = [&](std::int64_t models) { return value == models ? 0 : value; };
        if (key == "head_dim")
            l.head_dim = differs(m.head_dim);
        else if (key == "num_attention_heads")
            l.heads = differs(m.heads);
        else if (key == "num_key_value_heads")
            l.kv_heads = differs(m.kv_heads);
        else if (key == "intermediate_size")
            l.ffn_width = differs(m.ffn);
        else
            one.fail(key, "a layer's own value of it cannot be stated by a plan");
    }
    if ((l.heads > 0 ? l.heads : m.heads) % (l.kv_heads > 0 ? l.kv_heads : m.kv_heads) != 0)
        all.fail(number, "its heads of keys do not divide its heads");
}

constexpr Traits kGraniteWindows{.defaults = {.tied = true},
                                 .attention_bias = kAttentionBias,
                                 .mlp_bias = kMlpBias,
                                 .rest = granite_windows};

constexpr std::array<Family, 19> kFurtherFamilies{{
    {"codegen", gptj},
    {"exaone", exaone3},
    {"falcon", falcon},
    // Norms come after attention and experts: as many numbers as before them.
    {"flex_olmo",
     {.attention_bias = kAttentionBias,
      .qk_norm = QkNorm::full,
      .experts = "num_experts",
      .expert_ffn = "intermediate_size"}},
    {"gpt_bigcode", gpt_bigcode},
    {"gptj", gptj},
    {"granite_swa", kGraniteWindows},
    {"granitemoe_swa",
     {.attention_bias = kAttentionBias,
      .experts = "num_local_experts",
      .expert_ffn = "intermediate_size",
      .rest = granitemoe_windows}},
    {"hy_v3", hy_v3},
    {"hyperclovax", {.attention_bias = kAttentionBias, .mlp_bias = kMlpBias, .rest = hyperclovax}},
    {"internlm3", {.rest = internlm3}},
    {"jais2",
     {.defaults = {.activation = "relu2"},
      .mlp = plain,
      .attention_bias = {"attention_bias", true},
      .mlp_bias = {"mlp_bias", true},
      .norm = NormKind::layernorm}},
    {"minicpm", {.defaults = {.tied = true}, .attention_bias = kAttentionBias, .rest = minicpm}},
    {"ministral", {.defaults = {.kv_heads = 8}, .window = Window::as_written, .rest = ministral}},
    {"muse_glimmer_text",
     {.defaults = {.head_dim = 128, .activation_name = "hidden_activation"},
      .attention_bias = kAttentionBias,
      .post_norms = true,
      .rest = muse_glimmer}},
    // Its norms have no weights, those of queries and keys neither; one switch is for all biases.
    {"nanochat",
     {.defaults = {.activation = "relu2"},
      .mlp = plain,
      .attention_bias = {"qkv_bias"},
      .norm = NormKind::unweighted}},
    {"olmo_hybrid", olmo_hybrid},
    {"solar_open", solar_open},
    {"youtu", {.defaults = {.tied = true}, .attention_bias = kAttentionBias, .rest = youtu}},
}};

}  // namespace

Model gpt_shape(const Fields& f) {
    Model m;
    m.layers = f.need("n_layer", Fields::kMostLayers);
    m.hidden = f.need("n_embd");
    m.heads = m.kv_heads = f.need("n_head");
    m.head_dim = head_dim_of(f, "n_embd", "n_head", m.hidden, m.heads);
    m.ffn = f.or_else("n_inner", 4 * m.hidden);
    m.vocab = f.need("vocab_size");
    m.norm = NormKind::layernorm;
    m.mlp_bias = true;
    return m;
}

void read_own_layers(const Fields& f, Model& m) {
    const auto words = per_layer(f, "mlp_layer_types", m.layers);
    const nlohmann::json* own = f.find("per_layer_config");
    if (own && !own->is_object()) f.fail("per_layer_config", "must be an object");
    const Layers before = layers_of(m);
    Layers layers = before;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool known =
            words[i] == "dense" || words[i] == "sparse" || words[i] == "moe" || words[i] == "hash_moe";
        if (!known)
            f.fail("mlp_layer_types", "layer " + std::to_string(i) + " is " + shown_json(words[i])
                                          + ", must be dense or sparse");
        if (!m.moe && words[i] != "dense")
            f.fail("mlp_layer_types", "layer " + std::to_string(i) + " is " + shown_json(words[i])
                                          + ", and the model has no experts");
        if (m.moe && layers[i].ffn != LayerFfn::none)
            layers[i].ffn = words[i] == "dense" ? LayerFfn::dense : LayerFfn::moe;
    }
    if (own)
        for (const auto& item : own->items()) read_own_layer(f, m, item.key(), layers);
    if (!(layers == before)) set_layers(f, m, layers);
}

std::span<const Family> further_families() {
    return kFurtherFamilies;
}

}  // namespace pentamesh::hf
