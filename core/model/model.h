// Describes the trained model: the tensors of a transformer, identical layers counted rather than listed.
#pragma once

#include "core/base/saturating.h"
#include "core/model/layer_types.h"
#include "core/plan/plan.h"
#include "core/plan/tensor_id.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

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
    LayerMask types = 0;              // of layers: the types that have it (layer_types.h)
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

}  // namespace pentamesh
