// Reads the architecture out of a Hugging Face config.json, as it comes from the hub.
#pragma once

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Returns true for an object that names a model_type and is no model object of ours.
[[nodiscard]] bool is_hf_config(const nlohmann::json& value);

// Returns the model types that are understood, sorted.
[[nodiscard]] const std::vector<std::string_view>& hf_model_types();

// Throws Error (invalid) with the field's pointer where a field is missing, of the wrong type, out of range
// (sizes are 1 to 2^31), or contradicts another. For an unknown model_type it names that and the fields there
// are. Names and defaults of fields are those of transformers, models/*/configuration_*.py. From a multimodal
// config only the language model is read. `path` is named in errors.
// `read`, where given, collects the pointers of the fields that bear on the model
// ("/text_config/hidden_size").
[[nodiscard]] Model model_from_hf(const nlohmann::json& config, const std::string& path,
                                  std::set<std::string>* read = nullptr);
[[nodiscard]] Model model_from_hf(std::string_view text, const std::string& path,
                                  std::set<std::string>* read = nullptr);

}  // namespace pentamesh

// The readers of model families share this. Names and defaults of fields are those of transformers,
// models/*/configuration_*.py; for families that are not there, those of the code next to the checkpoint.

namespace pentamesh::hf {

class Fields {
  public:
    // The ranges are as wide as the plan file's own.
    static constexpr std::int64_t kLargest = std::int64_t{1} << 31;
    static constexpr std::int64_t kMostLayers = std::int64_t{1} << 16;
    static constexpr std::int64_t kMostExperts = std::int64_t{1} << 20;

    // `read`, where given, collects the pointers of the fields that are looked for.
    Fields(const nlohmann::json& object, std::string path, std::string prefix,
           std::set<std::string>* read = nullptr)
        : object_(object), path_(std::move(path)), prefix_(std::move(prefix)), read_(read) {}
    // Reads an object of the file that `from` reads.
    Fields(const nlohmann::json& object, const Fields& from, std::string prefix)
        : Fields(object, from.path_, std::move(prefix), from.read_) {}

    [[nodiscard]] const nlohmann::json* find(std::string_view name) const {
        if (read_) read_->insert(prefix_ + "/" + std::string(name));
        const auto it = object_.find(std::string(name));
        return it == object_.end() || it->is_null() ? nullptr : &*it;
    }

    [[noreturn]] void fail(std::string_view name, const std::string& message) const {
        throw Error(ErrorKind::invalid, path_, prefix_ + "/" + std::string(name), message);
    }

    // Absent and null are the same: transformers writes null for "as the default".
    [[nodiscard]] std::optional<std::int64_t> maybe(std::string_view name, std::int64_t least = 1,
                                                    std::int64_t most = kLargest) const {
        const nlohmann::json* v = find(name);
        if (!v) return std::nullopt;
        const bool integer =
            v->is_number_integer()
            && !(v->is_number_unsigned() && v->get<std::uint64_t>() > std::uint64_t{kLargest});
        if (!integer || v->get<std::int64_t>() < least || v->get<std::int64_t>() > most)
            fail(name, "found " + shown_json(*v) + ", must be " + allowed(least, most));
        return v->get<std::int64_t>();
    }
    [[nodiscard]] std::int64_t or_else(std::string_view name, std::int64_t otherwise, std::int64_t least = 1,
                                       std::int64_t most = kLargest) const {
        return maybe(name, least, most).value_or(otherwise);
    }
    [[nodiscard]] std::int64_t need(std::string_view name, std::int64_t most = kLargest) const {
        const auto v = maybe(name, 1, most);
        if (!v) fail(name, "is missing, must be " + allowed(1, most));
        return *v;
    }
    [[nodiscard]] bool flag(std::string_view name, bool otherwise) const {
        const nlohmann::json* v = find(name);
        if (v && !v->is_boolean()) fail(name, "found " + shown_json(*v) + ", must be true or false");
        return v ? v->get<bool>() : otherwise;
    }
    [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const {
        const nlohmann::json* v = find(name);
        if (v && !v->is_string()) fail(name, "found " + shown_json(*v) + ", must be a text");
        return v ? v->get<std::string>() : std::string(otherwise);
    }

    [[nodiscard]] const nlohmann::json& object() const { return object_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& prefix() const { return prefix_; }

  private:
    static std::string allowed(std::int64_t least, std::int64_t most) {
        return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    }

    const nlohmann::json& object_;
    std::string path_, prefix_;
    std::set<std::string>* read_;
};

// ---- parts that families share (hf_config.cpp) -----------------------------------------------------------

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
// Reads the fields that GPT-2's descendants name as it does (hf_further.cpp): rotary positions unless the
// caller says else.
[[nodiscard]] Model gpt_shape(const Fields& f);
[[nodiscard]] FfnKind gated(const Fields& f, std::string_view name, std::string_view otherwise);
[[nodiscard]] FfnKind plain(const Fields& f, std::string_view name, std::string_view otherwise);
[[nodiscard]] std::int64_t head_dim_of(const Fields& f, std::string_view hidden_name,
                                       std::string_view heads_name, std::int64_t hidden, std::int64_t heads);
// Reads routed experts: how many, how wide, how many of them a token uses.
[[nodiscard]] Moe experts(const Fields& f, std::string_view count_name, std::string_view ffn_name,
                          std::string_view used_name = "num_experts_per_tok");
// Adds `count` experts that every token uses, each as wide as `width`.
void share_experts(Moe& e, std::int64_t count, std::int64_t width);
// Adds as many as a field says, each as wide as a routed one.
void share_experts(const Fields& f, Moe& e, std::string_view count_name);
// Reads n_group and topk_group: groups of experts, and how many of them a token's experts may lie in.
void limit_groups(const Fields& f, Moe& e);
// Reads the experts of a Ling: those that share, a bias of the router, dense layers before them.
void ling_experts(const Fields& f, Model& m);
// Reads MLA's ranks and widths, and DeepSeek-V3.2's indexer if there is one. `v_head_dim` 0: the file has it.
void latent_attention(const Fields& f, Model& m, std::int64_t v_head_dim = 0);
// Reads the width of a head as Hunyuan's files name it.
void hunyuan_head_dim(const Fields& f, Model& m);
// Returns multi-token-prediction layers, as DeepSeek-V3 names them.
[[nodiscard]] std::int64_t prediction_layers(const Fields& f);

// Returns a number, or the same number for every layer in a list; refuses a list with different ones.
[[nodiscard]] std::int64_t same_in_all(const Fields& f, std::string_view name, std::int64_t otherwise,
                                       std::int64_t least = 1);

// ---- families (hf_families.cpp reads a row) ---------------------------------------------------------------

// A switch of the file. Without a name it is always `otherwise`.
struct Flag {
    std::string_view name{};
    bool otherwise = false;
};
inline constexpr Flag kAlways{{}, true}, kAttentionBias{"attention_bias"}, kMlpBias{"mlp_bias"};

// `none` leaves a window of the file out; `if_used` too, unless use_sliding_window is true.
enum class Window : std::uint8_t { none, as_written, if_used };

// Says what a family has and how its fields are called. Most families are such a row.
struct Traits {
    Defaults defaults{};
    FfnKind (*mlp)(const Fields& f, std::string_view name, std::string_view otherwise) = gated;
    Flag attention_bias{}, qkv_bias{}, mlp_bias{}, head_bias{};
    NormKind norm = NormKind::rmsnorm;
    bool post_norms = false, shared_norm = false;
    QkNorm qk_norm = QkNorm::none;
    Flag has_qk_norm = kAlways;
    Window window = Window::none;
    std::int64_t window_size = 0;  // where the file does not say it; 0: no window
    // Layers have a window as layer_types lists them, else all but each `full_every`-th; 0: no layer. The
    // field `full_every_name` may say another number. Without a value all layers are the same.
    std::optional<std::int64_t> full_every{};
    std::string_view full_every_name{};
    std::string_view experts{}, expert_ffn = "moe_intermediate_size";  // fields; empty: a dense model
    bool predicts = false;                                             // has prediction layers
    void (*rest)(const Fields& f, Model& m) = nullptr;                 // reads what no row says
};

struct Family {
    std::string_view type;  // model_type
    Traits traits{};
    Model (*read)(const Fields&) = nullptr;  // reads a family that is no row
    constexpr Family(std::string_view t, const Traits& of) : type(t), traits(of) {}
    constexpr Family(std::string_view t, Model (*own)(const Fields&)) : type(t), read(own) {}
};
[[nodiscard]] Model read_family(const Family& family, const Fields& f);
[[nodiscard]] std::span<const Family> dense_families();
[[nodiscard]] std::span<const Family> moe_families();
[[nodiscard]] std::span<const Family> linear_families();
[[nodiscard]] std::span<const Family> mamba_families();
[[nodiscard]] std::span<const Family> uneven_families();
[[nodiscard]] std::span<const Family> further_families();

// ---- layers that differ (hf_config.cpp) -----------------------------------------------------------------

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

// Reads what newer files of any family may say of single layers: mlp_layer_types (dense or sparse) and
// per_layer_config (heads and widths of their own), which transformers 5 writes in place of older fields.
void read_own_layers(const Fields& f, Model& m);

// Qwen makes layer i MoE where (i + 1) is a multiple of decoder_sparse_step and i is not in mlp_only_layers.
void qwen_sparse_layers(const Fields& f, Model& m);
// DeepSeek makes layer i MoE where i >= first_k_dense_replace and i is a multiple of moe_layer_freq.
void deepseek_sparse_layers(const Fields& f, Model& m);
// Makes the layers before `first` dense.
void dense_before(const Fields& f, std::string_view name, Model& m, std::int64_t otherwise);

}  // namespace pentamesh::hf
