// Reads families that transformers took in 2025 and 2026. What each has stands in its own code,
// models/*/modular_*.py.
#include "core/io/hf_families.h"

#include <array>

namespace pentamesh::hf {
namespace {

// IBM 2026 (Granite Swash): it is Granite with a sink for each head and windows; each fourth layer, from the
// first on, meets all keys.
void granite_windows(const Fields& f, Model& m) {
    m.attention_sinks = true;
    m.sliding_window = f.or_else("sliding_window", 128);
    Layers layers = plain_layers(m);
    if (!read_layer_types(f, layers))
        for (std::size_t i = 0; i < layers.size(); ++i)
            layers[i].kind = i % 4 == 0 ? MixerKind::full : MixerKind::window;
    set_layers(f, m, layers);
}

void granite_moe_windows(const Fields& f, Model& m) {
    share_experts(*m.moe, 1, f.or_else("shared_intermediate_size", 0, 0));
    granite_windows(f, m);
}

// Naver 2025: it is Granite with a switch for norms behind attention and MLP.
void hyperclovax(const Fields& f, Model& m) {
    m.post_norms = f.flag("use_post_norm", false);
}

// Without layer_types every layer has a window, the class's where the file says none; null is no window.
void ministral(const Fields& f, Model& m) {
    if (!f.object().contains("sliding_window")) m.sliding_window = 4096;
    Layers layers = plain_layers(m);
    if (read_layer_types(f, layers)) set_layers(f, m, layers);
}

// Tencent 2026 (Hy3): the first layer is dense unless words or a number say otherwise. The class has no
// switch for norms of queries and keys.
void hy_v3(const Fields& f, Model& m) {
    if (f.flag("mlp_bias", false)) f.fail("mlp_bias", "true of all but the experts cannot be stated");
    m.moe->router_bias = true;
    share_experts(*m.moe, f.or_else("num_shared_experts", 1, 0, Fields::kMostExperts), m.moe->expert_ffn);
    const auto words = per_layer(f, "mlp_layer_types", m.layers);
    if (words.empty()) return dense_before(f, "first_k_dense_replace", m, 1);
    std::int64_t first = 0;
    while (first < m.layers && words[static_cast<std::size_t>(first)] != "sparse") ++first;
    m.moe->first_dense_layers = first;
    Layers layers = plain_layers(m);
    set_ffn(layers, [&](std::int64_t i) { return words[static_cast<std::size_t>(i)] == "sparse"; });
    set_layers(f, m, layers);
}

// Upstage 2026 (Solar Open): it is GLM-4.5 without its dense layers; newer files have no width of a dense
// MLP.
Model solar_open(const Fields& f) {
    const bool has_ffn = f.find("intermediate_size") != nullptr;
    nlohmann::json filled = f.object();
    if (!has_ffn) filled["intermediate_size"] = f.need("moe_intermediate_size");
    Model m = gated_decoder(Fields(filled, f, f.prefix()), {.head_dim = 128});
    m.sliding_window = 0;
    m.qkv_bias = f.flag("attention_bias", false);
    if (f.flag("use_qk_norm", false)) m.qk_norm = QkNorm::head;
    m.moe = experts(f, "n_routed_experts", "moe_intermediate_size");
    m.moe->router_bias = true;
    share_experts(f, *m.moe, "n_shared_experts");
    if (has_ffn) deepseek_sparse_layers(f, m);
    limit_groups(f, *m.moe);
    m.mtp_layers = prediction_layers(f);
    if (!has_ffn) m.ffn = 0;
    return m;
}

// Ai2 2026 (OLMo Hybrid): it has three gated delta nets, then OLMo's attention. The two norms of a layer
// stand before a delta net and behind attention: as many numbers.
Model olmo_hybrid(const Fields& f) {
    Model m = gated_decoder(f);
    m.attention_bias = f.flag("attention_bias", false);
    m.qk_norm = QkNorm::full;
    m.sliding_window = 0;
    const std::int64_t key_heads = f.or_else("linear_num_key_heads", m.heads),
                       value_heads = f.or_else("linear_num_value_heads", m.heads),
                       key_dim = f.or_else("linear_key_head_dim", 3 * m.hidden / (4 * key_heads));
    if (key_dim == 0)
        f.fail("linear_num_key_heads",
               std::to_string(key_heads) + " leaves no width of a head, and there is no linear_key_head_dim");
    m.linear = Linear{LinearKind::gated_delta,
                      key_heads,
                      value_heads,
                      key_dim,
                      f.or_else("linear_value_head_dim", 2 * key_dim),
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

constexpr std::array<Family, 10> kRecentFamilies{{
    // It is OLMoE with OLMo 2's attention, whose norms stand behind: as many numbers.
    {"flex_olmo",
     {.attention_bias = kAttentionBias,
      .qk_norm = QkNorm::full,
      .experts = "num_experts",
      .expert_ffn = "intermediate_size"}},
    {"granite_swa",
     {.defaults = {.tied = true},
      .attention_bias = kAttentionBias,
      .mlp_bias = kMlpBias,
      .rest = granite_windows}},
    {"granitemoe_swa",
     {.attention_bias = kAttentionBias,
      .experts = "num_local_experts",
      .expert_ffn = "intermediate_size",
      .rest = granite_moe_windows}},
    {"hy_v3",
     {.defaults = {.head_dim = 128},
      .attention_bias = kAttentionBias,
      .qk_norm = QkNorm::head,
      .experts = "num_experts",
      .predicts = true,
      .rest = hy_v3}},
    {"hyperclovax", {.attention_bias = kAttentionBias, .mlp_bias = kMlpBias, .rest = hyperclovax}},
    // Inception 2025 (Jais 2): it is Llama with layer norms, biases and an MLP without gate.
    {"jais2",
     {.defaults = {.activation = "relu2"},
      .mlp = plain,
      .attention_bias = {"attention_bias", true},
      .mlp_bias = {"mlp_bias", true},
      .norm = NormKind::layernorm}},
    {"ministral", {.defaults = {.kv_heads = 8}, .window = Window::as_written, .rest = ministral}},
    // Norms of nanochat, those of queries and keys too, have no weights.
    {"nanochat",
     {.defaults = {.activation = "relu2"},
      .mlp = plain,
      .attention_bias = {"qkv_bias"},
      .norm = NormKind::unweighted}},
    {"olmo_hybrid", olmo_hybrid},
    {"solar_open", solar_open},
}};

}  // namespace

std::span<const Family> recent_families() {
    return kRecentFamilies;
}

}  // namespace pentamesh::hf
