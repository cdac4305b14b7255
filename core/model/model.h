// Says which kinds of layers a model has, and which layer is of which kind: one answer for models whose
// layers are equal and for those with a pattern.
#pragma once

#include "core/base/containers.h"
#include "core/base/number.h"
#include "core/plan/plan.h"
#include "core/plan/tensor_id.h"

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

inline constexpr int kMostLayerTypes = 24;

// A model has one or two types as a rule.
template <typename T>
using PerType = ShortList<T, kMostLayerTypes>;

using LayerMask = std::uint32_t;  // bit t: of type t
using LayerCounts = PerType<std::uint32_t>;

// Returns true for sparse attention: a query meets as many keys as an indexer picks.
[[nodiscard]] inline bool picks_keys(const Model& model) {
    return model.attention == AttentionKind::mla && model.mla && model.mla->index_heads > 0;
}

// Returns true for attention over a window and compressed keys.
[[nodiscard]] inline bool compresses_keys(const Model& model) {
    return model.attention == AttentionKind::compressed && model.compressed;
}

// Returns how many hidden states a token has between two layers.
[[nodiscard]] inline double residual_streams(const Model& model) {
    return model.hyper_streams > 0 ? static_cast<double>(model.hyper_streams) : 1;
}

// This is one kind of layer with every size of its own filled in.
struct LayerType {
    MixerKind mixer = MixerKind::full;
    LayerFfn ffn = LayerFfn::dense;
    std::int64_t heads = 0, kv_heads = 0, head_dim = 0, value_head_dim = 0;
    std::int64_t ffn_width = 0;  // of the dense MLP, by itself or parallel to experts; 0: it has none
    std::int64_t window = 0;     // 0: all keys
    bool keys_as_values = false, shares_kv = false, shares_index = false, sinks = false, mamba_beside = false;
    std::int64_t compress = 0;  // tokens of a compressed key, 0: no such keys
    bool picks_compressed = false, hash_routed = false;
    bool operator==(const LayerType&) const = default;

    [[nodiscard]] bool attends() const { return mixer == MixerKind::full || mixer == MixerKind::window; }
    [[nodiscard]] bool has_mamba() const { return mixer == MixerKind::mamba || mamba_beside; }
    [[nodiscard]] bool is_moe() const { return ffn == LayerFfn::moe; }
    // Returns true if it has an indexer of sparse attention of its own.
    [[nodiscard]] bool has_indexer(const Model& model) const {
        return attends() && picks_keys(model) && !shares_index;
    }
    // Returns the numbers that a token is projected to before keys are compressed, in units of a key's width:
    // overlapping keys take two.
    [[nodiscard]] std::int64_t key_parts() const { return compress == 0 ? 0 : picks_compressed ? 2 : 1; }
    // Returns true if mixer and MLP are side by side after one norm; experts have a norm of their own.
    [[nodiscard]] bool shares_norm(const Model& model) const {
        return model.shared_norm && mixer != MixerKind::none && ffn == LayerFfn::dense;
    }
};

// Without a pattern type 0 is the layer with a dense MLP and type 1, where there are experts, the MoE layer.
struct LayerTypes {
    PerType<LayerType> type;
    // A multi-token-prediction layer has the tensors of this type: attention over all keys where any layer
    // has that, and experts where the model has any and `mtp_dense` does not say otherwise. Its keys are not
    // compressed, and its experts are not chosen by a table.
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

// Says what a mixer that scans shows to those who visit it (visit_scan, core/plan/mixers.h).

// Counts the forward, for one token and all heads of the layer, without projections.
struct ScanFlops {
    double model = 0;        // counted as the model's: the recurrence
    double kernel = 0;       // computed by a chunked kernel with matrix units
    double state_bytes = 0;  // states written and read between chunks, fp32
};

// Takes no notice of anything: a visitor hides what it wants to see. `channels` are numbers of a token inside
// the mixer, which tensor parallelism cuts by heads, `unit` of them together (Megatron-LM ssm/mamba_mixer.py,
// ssm/gated_delta_net.py).
struct ScanVisitor {
    using Id = TensorId;
    using i64 = std::int64_t;

    // A size that tp must divide, in words; `megatron` if only Megatron asks for it.
    void divides(i64, std::string_view, bool = false) {}

    // Weights of products: from the layer's input to channels; the same by way of `rank` numbers, which are
    // whole on each rank; from the channels to numbers that are whole, and from these to channels; from the
    // channels to the layer's output.
    void input(Id, i64 /*channels*/, i64 /*unit*/ = 1) {}
    void low_rank(Id /*down*/, Id /*up*/, i64 /*rank*/, i64 /*channels*/, i64 /*unit*/) {}
    void from_channels(Id, i64 /*numbers*/, i64 /*channels*/) {}
    void to_channels(Id, i64 /*numbers*/, i64 /*channels*/) {}
    void output(Id, i64 /*channels*/, i64 /*unit*/ = 1) {}
    // Other weights: numbers that are cut with the channels, and those that each rank has.
    void columns(Id, i64 /*numbers*/, i64 /*unit*/ = 1) {}
    void whole(Id, i64 /*numbers*/) {}

    // Tensors that the backward needs, as `heads`, which are cut, of `dim` numbers; the last is the input of
    // the product out.
    void keeps(Id, i64 /*heads*/, i64 /*dim*/) {}
    void keeps_output(Id, i64 /*heads*/, i64 /*dim*/) {}

    void works(const ScanFlops&) {}
};

// Shows the scans of a layer of this type.
template <typename S>
void visit_scans(const Model& m, const LayerType& type, S& s) {
    if (type.mixer == MixerKind::linear && m.linear) visit_scan(*m.linear, m.hidden, s);
    if (type.has_mamba() && m.mamba) visit_scan(*m.mamba, m.hidden, s);
}

// Describes the trained model: the tensors of a transformer, identical layers counted rather than listed.

// A mixer is in the place of attention in a linear or Mamba layer, with its inner norms.
enum class TensorKind : std::uint8_t { embedding, attention, mlp, experts, router, norm, head, mixer };
inline constexpr int kTensorKindCount = 8;
template <>
inline constexpr std::size_t kEnumCount<TensorKind> = kTensorKindCount;
[[nodiscard]] std::string_view name_of(TensorKind kind);

// Says where in the model a tensor is. `mtp` lists the tensors of a multi-token-prediction layer in addition
// to those of a whole layer (a MoE layer where the model has any). `dense_layer` and `moe_layer` are all or
// some of those; `some_layers` are of both.
enum class Place : std::uint8_t { embedding, every_layer, dense_layer, moe_layer, mtp, head, some_layers };
inline constexpr int kPlaceCount = 7;
template <>
inline constexpr std::size_t kEnumCount<Place> = kPlaceCount;
[[nodiscard]] std::string_view name_of(Place place);

// Says how tensor parallelism cuts it (Shoeybi et al. 2019). column cuts the first dimension (outputs); row
// the second (inputs); vocab the vocabulary rows; kv is column by kv heads, copied where tp exceeds them;
// none is copied.
enum class TpCut : std::uint8_t { none, column, row, vocab, kv };

struct Tensor {
    TensorId id = TensorId::embedding;
    TensorKind kind = TensorKind::mlp;
    Place place = Place::every_layer;
    TpCut cut = TpCut::none;
    std::int64_t rows = 0, cols = 1;  // outputs x inputs; a vector has cols = 1
    std::int64_t copies = 1;          // equal ones in one layer (routed experts: experts)
    std::int64_t unit = 1;            // rows (columns of a row cut) that tp keeps together: a head's
    bool per_expert = false;          // cut by ep and etp instead of tp
    LayerMask types = 0;              // of layers: the types that have it
    [[nodiscard]] bool is_matrix() const { return cols > 1; }
    [[nodiscard]] std::int64_t numel() const {
        return saturating_product(saturating_product(rows, cols), copies);
    }
};

// Returns true for layer first_dense_layers + moe.every - 1, then each moe.every-th (as Qwen's
// decoder_sparse_step counts).
[[nodiscard]] bool is_moe_layer(const Model& model, std::int64_t layer);
// Returns how many of the layers before `layer` are MoE.
[[nodiscard]] std::int64_t moe_layers_before(const Model& model, std::int64_t layer);
[[nodiscard]] std::int64_t moe_layers(const Model& model);  // number of model.layers that are (without mtp)
// Return how often layers of a place, or a tensor, are in the whole model; those of layers once more per mtp
// layer.
[[nodiscard]] std::int64_t times(const Model& model, Place place);
[[nodiscard]] std::int64_t times(const Model& model, const LayerTypes& types, const LayerCounts& counts,
                                 const Tensor& tensor);

// Returns how often a micro-batch goes through the head: once, and once more for each prediction layer.
[[nodiscard]] inline double head_passes(const Model& model) {
    return 1 + static_cast<double>(model.mtp_layers);
}

// Lists all tensors, each once per place: about 30 for any model. Appends to `out` (cleared first).
void list_tensors(const Model& model, std::vector<Tensor>& out);
[[nodiscard]] std::vector<Tensor> list_tensors(const Model& model);

struct ParameterCounts {
    std::int64_t total = 0;   // released checkpoint's count, without mtp
    std::int64_t active = 0;  // used by one token, the embedding's table counted in
    // Counts the same without the table, of which a token uses one row. Where table and head are one it
    // stays.
    std::int64_t active_without_embedding = 0;
    std::int64_t mtp = 0;
    EnumArray<TensorKind, std::int64_t> by_kind{};
    bool operator==(const ParameterCounts&) const = default;
};
// Counts stop here: a model that has so many parameters may have any number above.
inline constexpr std::int64_t kMostParameters = INT64_MAX;
[[nodiscard]] constexpr bool counts_all(const ParameterCounts& c) {
    return saturating_sum(c.total, c.mtp) < kMostParameters;
}
// "The model has more than 9,223,372,036,854,775,806 parameters, ...", which tensor has most, how large it
// is.
[[nodiscard]] std::string uncounted_text(const Model& model);
// Counts in closed form, without an allocation. `types` and `counts` are those of the model's layers.
[[nodiscard]] ParameterCounts count_parameters(const Model& model, const LayerTypes& types,
                                               const LayerCounts& counts);
[[nodiscard]] ParameterCounts count_parameters(const Model& model);

// Counts the operations of the scan of a linear or Mamba layer, and the keys that a query meets.
// docs/step.md, "Layers without attention", has the formulas and their limits.

// Returns the operations of a layer's scan; none where it has no scan.
[[nodiscard]] ScanFlops scan_flops(const Model& model, const LayerType& type);

// Returns the keys that a query meets: all of the context (`causal` false) or those before it, at most the
// window's (0 for no window).
[[nodiscard]] double keys_met(std::int64_t window, double context, bool causal);
// Returns the same of a layer: its window's, and its compressed keys.
[[nodiscard]] double keys_met(const Model& model, const LayerType& type, double context, bool causal);
// Returns the compressed keys that a layer's indexer scores for a query.
[[nodiscard]] double keys_scored(const LayerType& type, double context, bool causal);

// Counts operations of attention cores, indexers and scans in one sequence, forward, for layers of one type.
struct MixerFlops {
    double attention = 0;  // cores and indexers
    double masked = 0;     // their part that a causal mask leaves out
    double scan = 0;
};
[[nodiscard]] MixerFlops mixer_flops(const Model& model, const LayerType& type, double sequence_length,
                                     double layers);

}  // namespace pentamesh
