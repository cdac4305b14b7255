// Reads families with experts and attention in every layer.
#include "core/io/hf_families.h"

#include <array>

namespace pentamesh::hf {
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

// GLM-4.7-Flash and GLM-5 list dense and sparse layers by words in newer files.
Model glm_latent(const Fields& f) {
    Model m = deepseek(f, true);
    const auto words = per_layer(f, "mlp_layer_types", m.layers);
    if (words.empty() || !m.moe) return m;
    Layers layers = plain_layers(m);
    set_ffn(layers, [&](std::int64_t i) { return words[i] == "sparse"; });
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
// uses the keys and values of the one before (Brandon et al. 2024).
Model hunyuan_moe(const Fields& f) {
    Model m = gated_decoder(f);
    hunyuan_head_dim(f, m);
    m.attention_bias = f.flag("attention_bias", false);
    if (f.flag("use_qk_norm", false)) m.qk_norm = QkNorm::head;
    m.sliding_window = 0;
    if (same_in_all(f, "num_experts", 1) > 1) {
        m.moe = experts(f, "num_experts",
                        f.find("moe_intermediate_size") ? "moe_intermediate_size" : "intermediate_size",
                        f.find("moe_topk") ? "moe_topk" : "num_experts_per_tok");
        const bool shares = f.flag("use_mixed_mlp_moe", f.find("num_shared_expert") != nullptr);
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
Model mimo_v2(const Fields& f) {
    Model m = gated_decoder(f);
    m.value_head_dim = f.or_else("v_head_dim", 0);
    m.attention_bias = f.flag("attention_bias", false);
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
    for (std::size_t i = 0; i < layers.size(); ++i) {
        LayerRun& l = layers[i];
        if (!sparse.empty()) l.ffn = sparse[i] == 1 ? LayerFfn::moe : LayerFfn::dense;
        const bool window = !windows.empty() && windows[i] == 1;
        l.kind = window ? MixerKind::window : MixerKind::full;
        l.sinks = f.flag(window ? "add_swa_attention_sink_bias" : "add_full_attention_sink_bias", window);
        if (!window) continue;
        const auto own = [](std::int64_t n, std::int64_t models) { return n == models ? 0 : n; };
        l.heads = own(f.or_else("swa_num_attention_heads", m.heads), m.heads);
        l.kv_heads = own(f.or_else("swa_num_key_value_heads", m.kv_heads), m.kv_heads);
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
    m.moe = experts(f, "moe_num_experts", "moe_intermediate_size", "moe_top_k");
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
    {"hunyuan_v1_moe", hunyuan_moe},
    {"kimi_k2", deepseek_v3},
    {"llama4_text", llama4},
    // JetBrains 2026 (Mellum 2): it has Qwen 3's layers with windows in some.
    {"mellum",
     {.qk_norm = QkNorm::head, .window = Window::as_written, .full_every = 0, .experts = "num_experts"}},
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
    {"solar_open", kGlm4Moe},
    {"step3p5", step3p5},
}};

}  // namespace

std::span<const Family> moe_families() {
    return kMoeFamilies;
}

}  // namespace pentamesh::hf
