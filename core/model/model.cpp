#include "core/model/model.h"

#include "core/model/model_tensors.h"

#include <algorithm>

namespace pentamesh {

std::string_view name_of(TensorKind kind) {
    constexpr EnumArray<TensorKind, std::string_view> names{"embedding", "attention", "mlp", "experts",
                                                            "router",    "norm",      "head"};
    return names[kind];
}

std::string_view name_of(Place place) {
    constexpr EnumArray<Place, std::string_view> names{"embedding", "every_layer", "dense_layer",
                                                       "moe_layer", "mtp",         "head"};
    return names[place];
}

std::int64_t moe_layers_before(const Model& model, std::int64_t layer) {
    if (!model.moe) return 0;
    const std::int64_t dense = std::max<std::int64_t>(model.moe->first_dense_layers, 0);
    const std::int64_t every = std::max<std::int64_t>(model.moe->every, 1);
    return layer <= dense ? 0 : (layer - dense) / every;
}

bool is_moe_layer(const Model& model, std::int64_t layer) {
    return layer >= 0 && layer < model.layers
           && moe_layers_before(model, layer + 1) > moe_layers_before(model, layer);
}

std::int64_t moe_layers(const Model& model) {
    return moe_layers_before(model, model.layers);
}

std::int64_t times(const Model& model, Place place) {
    const std::int64_t moe = moe_layers(model), mtp = std::max<std::int64_t>(model.mtp_layers, 0);
    switch (place) {
    case Place::embedding:
    case Place::head: return 1;
    case Place::mtp: return mtp;
    case Place::every_layer: return model.layers + mtp;
    case Place::moe_layer: return moe + (model.moe ? mtp : 0);
    case Place::dense_layer: return model.layers - moe + (model.moe ? 0 : mtp);
    }
    return 0;
}

void list_tensors(const Model& model, std::vector<Tensor>& out) {
    out.clear();
    visit_tensors(model, [&](const Tensor& t) {
        if (times(model, t.place) > 0) out.push_back(t);
    });
}

std::vector<Tensor> list_tensors(const Model& model) {
    std::vector<Tensor> out;
    list_tensors(model, out);
    return out;
}

ParameterCounts count_parameters(const Model& model) {
    const std::int64_t moe = moe_layers(model);
    const EnumArray<Place, std::int64_t> often{1, model.layers, model.layers - moe, moe, 0, 1};
    const EnumArray<Place, std::int64_t> in_mtp{0, 1, model.moe ? 0 : 1, model.moe ? 1 : 0, 1, 0};
    ParameterCounts c;
    std::int64_t one_mtp = 0, unused = 0;
    visit_tensors(model, [&](const Tensor& t) {
        const std::int64_t n = t.numel(), k = often[t.place];
        const std::int64_t all = saturating_product(n, k);
        std::int64_t& kind = c.by_kind[t.kind];
        kind = saturating_sum(kind, all);
        c.total = saturating_sum(c.total, all);
        one_mtp = saturating_sum(one_mtp, saturating_product(n, in_mtp[t.place]));
        if (t.per_expert) {
            const std::int64_t idle = std::max<std::int64_t>(t.copies - model.moe->top_k, 0);
            unused = saturating_sum(
                unused, saturating_product(saturating_product(t.rows, t.cols), saturating_product(idle, k)));
        }
    });
    c.active = c.total - unused;
    c.mtp = saturating_product(one_mtp, std::max<std::int64_t>(model.mtp_layers, 0));
    return c;
}

}  // namespace pentamesh
