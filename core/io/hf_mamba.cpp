// Reads families with Mamba layers.
#include "core/io/hf_families.h"

#include <algorithm>
#include <array>

namespace pentamesh::hf {
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
    if (!read_layer_types(f, layers)) static_cast<void>(read_layer_types(f, layers, "layers_block_type"));
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
    if (!read_layer_types(f, layers)) {
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
    if (!read_layer_types(f, layers, "layers_block_type")) {
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
    if (w == "M" || w == "mamba") return {MixerKind::mamba, LayerFfn::none};
    if (w == "*" || w == "attention") return {MixerKind::full, LayerFfn::none};
    if (w == "-" || w == "mlp") return {MixerKind::none, LayerFfn::dense};
    if (w == "E" || w == "moe") return {MixerKind::none, LayerFfn::moe};
    f.fail(name, "found " + shown_json(word) + ", known: M (mamba), * (attention), - (mlp), E (moe)");
}

Model nemotron_h(const Fields& f) {
    nlohmann::json filled = f.object();
    const nlohmann::json* letters = f.find("hybrid_override_pattern");
    const std::string_view name = letters ? "hybrid_override_pattern" : "layers_block_type";
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
