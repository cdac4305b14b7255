// Reads families with linear attention or short convolutions between layers of attention.
#include "core/io/hf_families.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::hf {
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

}  // namespace pentamesh::hf
