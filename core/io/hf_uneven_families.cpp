// Reads families whose layers of attention differ in their sizes.
#include "core/io/hf_families.h"

#include <algorithm>
#include <array>

namespace pentamesh::hf {
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
