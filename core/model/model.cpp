#include "core/model/model.h"

#include "core/base/text.h"
#include "core/model/model_tensors.h"

#include <algorithm>

namespace pentamesh {

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

}  // namespace pentamesh
