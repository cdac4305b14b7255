// Reads families with experts and attention in every layer.
#include "core/io/hf_families.h"

#include <algorithm>
#include <array>

namespace pentamesh::hf {
namespace {

void qwen2_moe(const Fields& f, Model& m) {
    share_experts(*m.moe, 1, f.need("shared_expert_intermediate_size"));
    m.moe->shared_expert_gate = true;
    qwen_sparse_layers(f, m);
    if (m.sliding_window == 0) return;
    // Every other layer before max_window_layers has a window (configuration_qwen2_moe.py of transformers).
    if (!m.pattern.empty()) f.fail("use_sliding_window", "true beside mlp_only_layers is not supported");
    Layers layers = plain_layers(m);
    const auto before = static_cast<std::size_t>(f.or_else("max_window_layers", 28, 0, Fields::kMostLayers));
    if (!read_layer_types(f, layers))
        for (std::size_t i = 0; i < layers.size(); ++i)
            layers[i].kind = i % 2 == 0 && i < before ? MixerKind::window : MixerKind::full;
    set_layers(f, m, layers);
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
    {"glm4v_moe_text",
     [] {
         Traits t = kGlm4Moe;
         t.qkv_bias.otherwise = true;  // configuration_glm4v_moe.py
         return t;
     }()},
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

}  // namespace pentamesh::hf
