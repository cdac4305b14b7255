#include "core/model/model.h"

#include "core/base/text.h"
#include "core/model/model_tensors.h"

#include <algorithm>

namespace pentamesh {
namespace {

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
    t.shares_index = r.shares_index && picks_keys(m);
    t.sinks |= r.sinks;
    t.mamba_beside = r.mamba_beside && m.mamba.has_value();
    t.compress = compresses_keys(m) ? r.compress : 0;
    t.picks_compressed = r.picks_compressed && t.compress > 0;
    t.hash_routed = r.hash_routed && t.is_moe();
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
            if (types[t].mixer == mixer && types[t].ffn == mtp && !types[t].shares_index
                && types[t].compress == 0 && !types[t].hash_routed) {
                types.mtp = t;
                return types;
            }
    const bool window = compresses_keys(model) && model.sliding_window > 0;
    types.mtp = add(type_of_run(model, {window ? MixerKind::window : MixerKind::full, mtp}));
    return types;
}

std::string words_of(const LayerType& type) {
    constexpr std::array<const char*, 5> mixers{"full attention", "window attention", "linear attention",
                                                "Mamba", ""};
    constexpr std::array<const char*, 3> ffns{"MLP", "MoE", ""};
    const auto m = static_cast<std::size_t>(type.mixer), f = static_cast<std::size_t>(type.ffn);
    std::string text = mixers[m];
    if (type.mamba_beside) text += " beside Mamba";
    if (type.shares_index) text += " of keys picked before";
    if (type.compress > 0)
        text += sentence(type.picks_compressed ? " with picked keys" : " with keys", " compressed by ",
                         type.compress);
    const std::string ffn = type.is_moe() && type.ffn_width > 0 ? "MoE beside MLP"
                            : type.hash_routed                  ? "MoE by a table"
                                                                : ffns[f];
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

std::string_view name_of(TensorKind kind) {
    constexpr EnumArray<TensorKind, std::string_view> names{"embedding", "attention", "mlp",  "experts",
                                                            "router",    "norm",      "head", "mixer"};
    return names[kind];
}

std::string_view name_of(Place place) {
    constexpr EnumArray<Place, std::string_view> names{"embedding", "every_layer", "dense_layer", "moe_layer",
                                                       "mtp",       "head",        "some_layers"};
    return names[place];
}

std::int64_t moe_layers_before(const Model& model, std::int64_t layer) {
    if (!model.moe) return 0;
    const LayerTypes types = layer_types(model);
    return static_cast<std::int64_t>(sum_of(count_layers(model, types, 0, layer), types.moe()));
}

bool is_moe_layer(const Model& model, std::int64_t layer) {
    if (layer < 0 || layer >= model.layers) return false;
    const LayerTypes types = layer_types(model);
    return types[type_of_layer(model, types, layer)].is_moe();
}

std::int64_t moe_layers(const Model& model) {
    return moe_layers_before(model, model.layers);
}

std::int64_t times(const Model& model, Place place) {
    const std::int64_t mtp = std::max<std::int64_t>(model.mtp_layers, 0);
    const bool mtp_moe = model.moe && !model.mtp_dense;
    switch (place) {
    case Place::embedding:
    case Place::head: return 1;
    case Place::mtp: return mtp;
    case Place::some_layers:
    case Place::every_layer: return model.layers + mtp;
    case Place::moe_layer: return moe_layers(model) + (mtp_moe ? mtp : 0);
    case Place::dense_layer: return model.layers - moe_layers(model) + (mtp_moe ? 0 : mtp);
    }
    return 0;
}

std::int64_t times(const Model& model, const LayerTypes& types, const LayerCounts& counts,
                   const Tensor& tensor) {
    if (tensor.types == 0) return times(model, tensor.place);
    const auto layers = static_cast<std::int64_t>(sum_of(counts, tensor.types));
    return layers + (has(tensor.types, types.mtp) ? std::max<std::int64_t>(model.mtp_layers, 0) : 0);
}

void list_tensors(const Model& model, std::vector<Tensor>& out) {
    out.clear();
    const LayerTypes types = layer_types(model);
    const LayerCounts counts = count_layers(model, types, 0, model.layers);
    visit_tensors(model, types, [&](const Tensor& t) {
        if (times(model, types, counts, t) > 0) out.push_back(t);
    });
}

std::vector<Tensor> list_tensors(const Model& model) {
    std::vector<Tensor> out;
    list_tensors(model, out);
    return out;
}

ParameterCounts count_parameters(const Model& model) {
    const LayerTypes types = layer_types(model);
    return count_parameters(model, types, count_layers(model, types, 0, model.layers));
}

ParameterCounts count_parameters(const Model& model, const LayerTypes& types, const LayerCounts& counts) {
    ParameterCounts c;
    std::int64_t one_mtp = 0, unused = 0, table = 0;
    visit_tensors(model, types, [&](const Tensor& t) {
        const std::int64_t n = t.numel();
        const bool in_layers = t.types != 0;
        const std::int64_t k = in_layers ? static_cast<std::int64_t>(sum_of(counts, t.types))
                                         : static_cast<std::int64_t>(t.place != Place::mtp);
        const std::int64_t all = saturating_product(n, k);
        std::int64_t& kind = c.by_kind[t.kind];
        kind = saturating_sum(kind, all);
        c.total = saturating_sum(c.total, all);
        const bool is_head_too = t.cut == TpCut::vocab && model.tied_embeddings;
        if (t.place == Place::embedding && !is_head_too) table = saturating_sum(table, n);
        if (in_layers ? has(t.types, types.mtp) : t.place == Place::mtp) one_mtp = saturating_sum(one_mtp, n);
        if (t.per_expert) {
            const std::int64_t idle = std::max<std::int64_t>(t.copies - model.moe->top_k, 0);
            unused = saturating_sum(
                unused, saturating_product(saturating_product(t.rows, t.cols), saturating_product(idle, k)));
        }
    });
    c.active = c.total - unused;
    c.active_without_embedding = c.active - table;
    c.mtp = saturating_product(one_mtp, std::max<std::int64_t>(model.mtp_layers, 0));
    return c;
}

std::string uncounted_text(const Model& model) {
    const LayerTypes types = layer_types(model);
    const LayerCounts counts = count_layers(model, types, 0, model.layers);
    Tensor largest;
    std::int64_t most = 0, layers = 0;
    visit_tensors(model, types, [&](const Tensor& t) {
        const std::int64_t k = times(model, types, counts, t);
        if (const std::int64_t all = saturating_product(t.numel(), k); all > most)
            largest = t, most = all, layers = k;
    });
    std::string text = sentence("The model has ", kMostParameters,
                                " parameters or more, the most that is counted; its largest tensor is ",
                                name_of(largest.id), ", ", largest.rows, " x ", largest.cols);
    if (largest.copies > 1) text += sentence(", ", largest.copies, " of them");
    if (layers > 1) text += sentence(" in each of ", layers, " layers");
    return text + ".";
}

namespace {

struct ScanWork : ScanVisitor {
    ScanFlops flops;
    void works(const ScanFlops& f) {
        flops.model += f.model, flops.kernel += f.kernel, flops.state_bytes += f.state_bytes;
    }
};

}  // namespace

double keys_met(std::int64_t window, double context, bool causal) {
    const double full = causal ? context / 2 : context, w = static_cast<double>(window);
    if (w <= 0 || w >= context) return full;
    return causal ? w - w * w / (2 * context) : w;
}

double keys_scored(const LayerType& type, double context, bool causal) {
    if (!type.picks_compressed) return 0;
    return keys_met(0, context / static_cast<double>(type.compress), causal);
}

// A key stands for `compress` tokens, so that there are so many times fewer of them.
double keys_met(const Model& m, const LayerType& type, double context, bool causal) {
    double keys = keys_met(type.window, context, causal);
    if (type.compress > 0 && m.compressed)
        keys += keys_met(type.picks_compressed ? m.compressed->index_top_k : 0,
                         context / static_cast<double>(type.compress), causal);
    return keys;
}

ScanFlops scan_flops(const Model& model, const LayerType& type) {
    ScanWork work;
    visit_scans(model, type, work);
    return work.flops;
}

MixerFlops mixer_flops(const Model& m, const LayerType& type, double s, double layers) {
    MixerFlops f;
    f.scan = s * layers * scan_flops(m, type).model;
    if (!type.attends()) return f;
    double width = static_cast<double>(type.head_dim) + static_cast<double>(type.value_head_dim), index = 0;
    if (m.attention == AttentionKind::mla && m.mla) {
        width = static_cast<double>(m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim + m.mla->v_head_dim);
        if (type.has_indexer(m))
            index = static_cast<double>(m.mla->index_heads) * static_cast<double>(m.mla->index_head_dim);
    }
    const double per_key = 2 * s * static_cast<double>(type.heads) * width * layers;
    const double keys = keys_met(m, type, s, false);
    f.attention += per_key * keys + 2 * s * s * index * layers;
    f.masked += per_key * (keys - keys_met(m, type, s, true)) + s * s * index * layers;
    if (type.picks_compressed && m.compressed) {
        const double per_score = 2 * s * static_cast<double>(m.compressed->index_heads)
                                 * static_cast<double>(m.compressed->index_head_dim) * layers;
        const double scored = keys_scored(type, s, false);
        f.attention += per_score * scored;
        f.masked += per_score * (scored - keys_scored(type, s, true));
    }
    return f;
}

}  // namespace pentamesh
