// The readers of model families share this. Names and defaults of fields are those of transformers,
// models/*/configuration_*.py; for families that are not there, those of the code next to the checkpoint.
#pragma once

#include "core/io/hf_fields.h"
#include "core/plan/plan.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::hf {

using Fields = HfFields;

struct Family {
    std::string_view type;  // model_type
    Model (*read)(const Fields&);
};
[[nodiscard]] std::span<const Family> dense_families();
[[nodiscard]] std::span<const Family> moe_families();
[[nodiscard]] std::span<const Family> linear_families();
[[nodiscard]] std::span<const Family> mamba_families();
[[nodiscard]] std::span<const Family> uneven_families();

// ---- parts that families share (hf_parts.cpp) -----------------------------------------------------------

struct Defaults {
    std::int64_t head_dim = 0;  // 0: hidden / heads
    bool tied = false;
    std::int64_t heads = 0, kv_heads = 0, vocab = 0;  // 0: heads and vocab must be there, kv_heads = heads
    std::string_view activation_name = "hidden_act";
    std::string_view activation = "silu";
};
// Reads all fields that have the same names in Llama and its descendants, without the MLP's kind.
[[nodiscard]] Model decoder(const Fields& f, const Defaults& d = {});
// Reads the same with a gated MLP.
[[nodiscard]] Model gated_decoder(const Fields& f, const Defaults& d = {});
// Reads the same with Llama's two switches for biases, and no window.
[[nodiscard]] Model llama_decoder(const Fields& f, const Defaults& d = {});
[[nodiscard]] FfnKind gated(const Fields& f, std::string_view name, std::string_view otherwise);
[[nodiscard]] FfnKind plain(const Fields& f, std::string_view name, std::string_view otherwise);
[[nodiscard]] std::int64_t head_dim_of(const Fields& f, std::string_view hidden_name,
                                       std::string_view heads_name, std::int64_t hidden, std::int64_t heads);
// Reads routed experts: how many, how wide, how many of them a token uses.
[[nodiscard]] Moe experts(const Fields& f, std::string_view count_name, std::string_view ffn_name,
                          std::string_view used_name = "num_experts_per_tok");
// Adds `count` experts that every token uses, each as wide as `width`.
void share_experts(Moe& e, std::int64_t count, std::int64_t width);
// Reads n_group and topk_group: groups of experts, and how many of them a token's experts may lie in.
void limit_groups(const Fields& f, Moe& e);
// Reads MLA's ranks and widths, and DeepSeek-V3.2's indexer if there is one.
void latent_attention(const Fields& f, Model& m);
// Returns multi-token-prediction layers, as DeepSeek-V3 names them.
[[nodiscard]] std::int64_t prediction_layers(const Fields& f);

// Returns a number, or the same number for every layer in a list; refuses a list with different ones.
[[nodiscard]] std::int64_t same_in_all(const Fields& f, std::string_view name, std::int64_t otherwise,
                                       std::int64_t least = 1);

// ---- layers that differ (hf_layers.cpp) -----------------------------------------------------------------

// Has one element for each layer, in order.
using Layers = std::vector<LayerRun>;
// Returns layers as the model's own fields say (MoE where `moe` says so), all with attention.
[[nodiscard]] Layers plain_layers(const Model& m);
// Reads layer_types into `kind` of each; returns false where the field is not there. Refuses words that it
// does not know.
bool read_layer_types(const Fields& f, Layers& layers, std::string_view name = "layer_types");
// Gives layer i a window unless i + 1 is a multiple of `every`.
void slide_all_but(Layers& layers, std::int64_t every);
// Makes a layer MoE where `moe(i)` says so for its number.
template <typename F>
void set_ffn(Layers& layers, F&& moe) {
    for (std::size_t i = 0; i < layers.size(); ++i)
        layers[i].ffn = moe(static_cast<std::int64_t>(i)) ? LayerFfn::moe : LayerFfn::dense;
}
// Writes the shortest pattern that says the same; no pattern where the model's fields say it already. A model
// whose layers all have a window keeps only `sliding_window`. Refuses more kinds of layers than a plan can
// hold.
void set_layers(const Fields& f, Model& m, const Layers& layers);
// Returns the elements of a field that lists a value for each layer. It is empty where the field is not
// there.
[[nodiscard]] std::vector<nlohmann::json> per_layer(const Fields& f, std::string_view name,
                                                    std::int64_t layers);

// Qwen makes layer i MoE where (i + 1) is a multiple of decoder_sparse_step and i is not in mlp_only_layers.
void qwen_sparse_layers(const Fields& f, Model& m);
// DeepSeek makes layer i MoE where i >= first_k_dense_replace and i is a multiple of moe_layer_freq.
void deepseek_sparse_layers(const Fields& f, Model& m);
// Makes the layers before `first` dense.
void dense_before(const Fields& f, std::string_view name, Model& m, std::int64_t otherwise);

}  // namespace pentamesh::hf
