// Says which kinds of layers a model has, and which layer is of which kind: one answer for models whose
// layers are equal and for those with a pattern.
#pragma once

#include "core/base/short_list.h"
#include "core/plan/plan.h"

#include <bit>
#include <cstdint>
#include <string>

namespace pentamesh {

inline constexpr int kMostLayerTypes = 24;

// A model has one or two types as a rule.
template <typename T>
using PerType = ShortList<T, kMostLayerTypes>;

using LayerMask = std::uint32_t;  // bit t: of type t
using LayerCounts = PerType<std::uint32_t>;

// This is one kind of layer with every size of its own filled in.
struct LayerType {
    MixerKind mixer = MixerKind::full;
    LayerFfn ffn = LayerFfn::dense;
    std::int64_t heads = 0, kv_heads = 0, head_dim = 0, value_head_dim = 0;
    std::int64_t ffn_width = 0;  // of the dense MLP, by itself or parallel to experts; 0: it has none
    std::int64_t window = 0;     // 0: all keys
    bool keys_as_values = false, shares_kv = false, sinks = false, mamba_beside = false;
    bool operator==(const LayerType&) const = default;

    [[nodiscard]] bool attends() const { return mixer == MixerKind::full || mixer == MixerKind::window; }
    [[nodiscard]] bool has_mamba() const { return mixer == MixerKind::mamba || mamba_beside; }
    [[nodiscard]] bool is_moe() const { return ffn == LayerFfn::moe; }
    // Returns true if mixer and MLP are side by side after one norm; experts have a norm of their own.
    [[nodiscard]] bool shares_norm(const Model& model) const {
        return model.shared_norm && mixer != MixerKind::none && ffn == LayerFfn::dense;
    }
};

// Without a pattern type 0 is the layer with a dense MLP and type 1, where there are experts, the MoE layer.
struct LayerTypes {
    PerType<LayerType> type;
    // A multi-token-prediction layer has the tensors of this type: attention over all keys where any layer
    // has that, and experts where the model has any and `mtp_dense` does not say otherwise.
    int mtp = 0;
    bool complete = true;  // false: a pattern of more kinds than can be held; those beyond are left out
    bool operator==(const LayerTypes&) const = default;

    [[nodiscard]] int size() const { return type.size(); }
    [[nodiscard]] const LayerType& operator[](int t) const { return type[t]; }
    [[nodiscard]] LayerMask all() const { return (LayerMask{1} << size()) - 1; }
    // Returns the types that `wanted` is true of.
    template <typename F>
    [[nodiscard]] LayerMask where(F&& wanted) const {
        LayerMask mask = 0;
        for (int t = 0; t < size(); ++t)
            if (wanted((*this)[t])) mask |= LayerMask{1} << t;
        return mask;
    }
    [[nodiscard]] LayerMask moe() const {
        return where([](const LayerType& t) { return t.is_moe(); });
    }
};
[[nodiscard]] LayerTypes layer_types(const Model& model);

[[nodiscard]] constexpr bool has(LayerMask mask, int type) {
    return ((mask >> type) & 1U) != 0;
}

// Returns how many of layers begin .. end - 1 are of each type.
[[nodiscard]] LayerCounts count_layers(const Model& model, const LayerTypes& types, std::int64_t begin,
                                       std::int64_t end);
// Returns the type of one layer, 0 beyond the model's.
[[nodiscard]] int type_of_layer(const Model& model, const LayerTypes& types, std::int64_t layer);

// Returns the type that stands for the layers with a dense MLP, or for the MoE layers: with a pattern the one
// of most layers.
[[nodiscard]] int usual_type(const Model& model, const LayerTypes& types, bool moe);

// Returns "window attention and MoE".
[[nodiscard]] std::string words_of(const LayerType& type);

// Returns the layers of a mask.
[[nodiscard]] inline double sum_of(const LayerCounts& counts, LayerMask mask) {
    double n = 0;
    for (; mask != 0; mask &= mask - 1) n += counts[std::countr_zero(mask)];
    return n;
}

}  // namespace pentamesh
