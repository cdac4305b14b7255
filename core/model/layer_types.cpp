#include "core/model/layer_types.h"

#include <algorithm>

namespace pentamesh {
namespace {

// A query of sparse attention meets as many keys as the indexer picks.
bool picks_keys(const Model& m) {
    return m.attention == AttentionKind::mla && m.mla && m.mla->index_heads > 0;
}

LayerType plain_type(const Model& m, LayerFfn ffn) {
    LayerType t;
    t.mixer = m.sliding_window > 0 ? MixerKind::window : MixerKind::full;
    t.ffn = ffn;
    t.heads = m.heads, t.kv_heads = m.kv_heads, t.head_dim = m.head_dim;
    t.value_head_dim = m.value_head_dim > 0 ? m.value_head_dim : m.head_dim;
    const bool dense = ffn == LayerFfn::dense || (m.moe && m.moe->beside_mlp);
    t.ffn_width = dense ? m.ffn : 0;
    t.window = m.sliding_window;
    t.sinks = m.attention_sinks;
    if (picks_keys(m)) t.window = m.mla->index_top_k;
    return t;
}

LayerType type_of_run(const Model& m, const LayerRun& r) {
    const LayerFfn ffn = r.ffn == LayerFfn::moe && !m.moe ? LayerFfn::dense : r.ffn;
    LayerType t = plain_type(m, ffn);
    t.mixer = r.kind;
    if (r.kind != MixerKind::window)
        t.window = r.kind == MixerKind::full && picks_keys(m) ? m.mla->index_top_k : 0;
    else
        t.window = r.window > 0 ? r.window : m.sliding_window;
    if (ffn == LayerFfn::none) t.ffn_width = 0;
    if (t.ffn_width > 0 && r.ffn_width > 0) t.ffn_width = r.ffn_width;
    if (!t.attends()) {  // sizes of attention that it has not make no other type
        t.heads = t.kv_heads = t.head_dim = t.value_head_dim = 0;
        t.sinks = false;
        return t;
    }
    if (r.heads > 0) t.heads = r.heads;
    if (r.kv_heads > 0) t.kv_heads = r.kv_heads;
    if (r.head_dim > 0) {
        t.head_dim = r.head_dim;
        if (m.value_head_dim == 0) t.value_head_dim = r.head_dim;
    }
    t.keys_as_values = r.keys_as_values;
    t.shares_kv = r.shares_kv;
    t.sinks |= r.sinks;
    t.mamba_beside = r.mamba_beside && m.mamba.has_value();
    return t;
}

int index_of(const LayerTypes& types, const LayerType& type) {
    const LayerType* const at = std::find(types.type.begin(), types.type.end(), type);
    return at == types.type.end() ? -1 : static_cast<int>(at - types.type.begin());
}

// Returns how many of the layers before `layer` are MoE, without a pattern.
std::int64_t plain_moe_before(const Model& model, std::int64_t layer) {
    if (!model.moe) return 0;
    const std::int64_t dense = std::max<std::int64_t>(model.moe->first_dense_layers, 0);
    const std::int64_t every = std::max<std::int64_t>(model.moe->every, 1);
    return layer <= dense ? 0 : (layer - dense) / every;
}

// Adds `sign` times the layers before `end` by type.
void add_before(const Model& model, const LayerTypes& types, std::int64_t end, bool subtract,
                LayerCounts& out) {
    std::int64_t period = 0;
    for (const LayerRun& r : model.pattern) period += std::max<std::int64_t>(r.count, 1);
    const std::int64_t whole = end / period;
    std::int64_t left = end % period;
    for (const LayerRun& r : model.pattern) {
        const std::int64_t count = std::max<std::int64_t>(r.count, 1), part = std::min(count, left);
        left -= part;
        const std::int64_t n = whole * count + part;
        if (n == 0) continue;
        const int t = std::max(index_of(types, type_of_run(model, r)), 0);
        std::uint32_t& sum = out[t];
        sum = subtract ? sum - static_cast<std::uint32_t>(n) : sum + static_cast<std::uint32_t>(n);
    }
}

}  // namespace

LayerTypes layer_types(const Model& model) {
    LayerTypes types;
    const LayerFfn mtp = model.moe && !model.mtp_dense ? LayerFfn::moe : LayerFfn::dense;
    if (model.pattern.empty()) {
        types.type.push_back(plain_type(model, LayerFfn::dense));
        if (model.moe) types.type.push_back(plain_type(model, LayerFfn::moe));
        types.mtp = mtp == LayerFfn::moe ? 1 : 0;
        return types;
    }
    const auto add = [&](const LayerType& t) {
        const int at = index_of(types, t);
        if (at >= 0) return at;
        if (types.size() == kMostLayerTypes) {
            types.complete = false;
            return 0;
        }
        types.type.push_back(t);
        return types.size() - 1;
    };
    for (const LayerRun& r : model.pattern) add(type_of_run(model, r));
    if (model.mtp_layers <= 0) return types;
    for (const MixerKind mixer : {MixerKind::full, MixerKind::window})
        for (int t = 0; t < types.size(); ++t)
            if (types[t].mixer == mixer && types[t].ffn == mtp) {
                types.mtp = t;
                return types;
            }
    types.mtp = add(type_of_run(model, {MixerKind::full, mtp}));
    return types;
}

std::string words_of(const LayerType& type) {
    constexpr std::array<const char*, 5> mixers{"full attention", "window attention", "linear attention",
                                                "Mamba", ""};
    constexpr std::array<const char*, 3> ffns{"MLP", "MoE", ""};
    const auto m = static_cast<std::size_t>(type.mixer), f = static_cast<std::size_t>(type.ffn);
    std::string text = mixers[m];
    if (type.mamba_beside) text += " beside Mamba";
    const std::string ffn = type.is_moe() && type.ffn_width > 0 ? "MoE beside MLP" : ffns[f];
    return text.empty() ? ffn : ffn.empty() ? text : text + " and " + ffn;
}

LayerCounts count_layers(const Model& model, const LayerTypes& types, std::int64_t begin, std::int64_t end) {
    LayerCounts counts(types.size());
    begin = std::max<std::int64_t>(begin, 0);
    if (end <= begin) return counts;
    if (model.pattern.empty()) {
        const std::int64_t moe = plain_moe_before(model, end) - plain_moe_before(model, begin);
        counts[0] = static_cast<std::uint32_t>(end - begin - moe);
        if (model.moe) counts[1] = static_cast<std::uint32_t>(moe);
        return counts;
    }
    add_before(model, types, end, false, counts);
    add_before(model, types, begin, true, counts);
    return counts;
}

int type_of_layer(const Model& model, const LayerTypes& types, std::int64_t layer) {
    if (layer < 0 || layer >= model.layers) return 0;
    const LayerCounts one = count_layers(model, types, layer, layer + 1);
    const auto at = std::find(one.begin(), one.end(), 1U);
    return at == one.end() ? 0 : static_cast<int>(at - one.begin());
}

int usual_type(const Model& model, const LayerTypes& types, bool moe) {
    const LayerCounts counts = count_layers(model, types, 0, model.layers);
    int best = moe ? types.size() - 1 : 0;
    std::int64_t most = -1;
    for (int t = 0; t < types.size(); ++t) {
        const auto n = static_cast<std::int64_t>(counts[t]);
        if (types[t].is_moe() == moe && n > most) most = n, best = t;
    }
    return best;
}

}  // namespace pentamesh
