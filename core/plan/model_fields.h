// Says of the fields of a plan on which page and under which heading a sheet shows them, in which words,
// which values they may have, and whether they are written where they have their default.
#pragma once

#include "core/plan/names.h"
#include "core/plan/plan.h"

#include <cstdint>

namespace pentamesh {

// Names the pages on which the sheet of all fields shows them.
enum class FieldTopic : std::uint8_t {
    size,
    attention,
    experts,
    other_model,
    gpu,
    fabric,
    cluster,
    layout,
    training,
    plan
};
template <>
inline constexpr std::size_t kEnumCount<FieldTopic> = 10;
template <>
inline constexpr std::array<std::string_view, kEnumCount<FieldTopic>> kNames<FieldTopic>{
    "Size",   "Attention",        "MLP and experts", "Other of the model", "GPU",
    "Fabric", "Cluster and cost", "Layout",          "Training",           "Name and notes"};

// These speak to visitors that list fields for people; others need none. The first two name the page of the
// fields that follow, and the heading over them there (empty: they stand first). The third names the next
// field where its key does not read as words, and says what its 0 or its absence means.
template <typename V>
void topic(V& v, FieldTopic t) {
    if constexpr (requires { v.topic(t); }) v.topic(t);
}
template <typename V>
void heading(V& v, std::string_view head) {
    if constexpr (requires { v.heading(head); }) v.heading(head);
}
template <typename V>
void words(V& v, std::string_view label, std::string_view unset = {}) {
    if constexpr (requires { v.words(label, unset); }) v.words(label, unset);
}

// Says whether a field must be there, and whether it is written where it has its default.
enum class Presence : std::uint8_t {
    required,
    always,  // has a default, written nevertheless
    sparse   // left out where it is T{}: false, 0, the first choice
};

struct IntRange {
    std::int64_t least, most;
};
struct NumberRange {
    double least, most;
    bool above = false;  // the least itself is not allowed
};

inline constexpr std::int64_t kMostDegree = std::int64_t{1} << 20;  // of one axis, and of GPUs
inline constexpr std::int64_t kMostLayers = std::int64_t{1} << 16;
inline constexpr std::size_t kMostRuns = 1024;                    // of a pattern
inline constexpr std::int64_t kMostSize = std::int64_t{1} << 31;  // of a model's dimension
inline constexpr IntRange kDegree{1, kMostDegree};
inline constexpr IntRange kSize{1, kMostSize};
inline constexpr IntRange kSizeOrNone{0, kMostSize};
inline constexpr double kMostRate = 1e30;
inline constexpr double kMostLatency_s = 3600, kMostOversubscription = 1e6;

// Lists the fields of a model, for plan_fields.h.

template <typename P, typename V>
void mla_fields(P& m, V& v) {
    words(v, "rank of queries", "full rank");
    v.integer("q_lora_rank", m.q_lora_rank, kSizeOrNone, Presence::sparse);
    words(v, "rank of keys and values");
    v.integer("kv_lora_rank", m.kv_lora_rank, kSize, Presence::required);
    words(v, "head width without positions");
    v.integer("qk_nope_head_dim", m.qk_nope_head_dim, kSize, Presence::required);
    words(v, "head width with positions");
    v.integer("qk_rope_head_dim", m.qk_rope_head_dim, kSizeOrNone, Presence::required);
    words(v, "width of a value head");
    v.integer("v_head_dim", m.v_head_dim, kSize, Presence::required);
    words(v, "indexer heads", "no indexer");
    v.integer("index_heads", m.index_heads, kSizeOrNone, Presence::sparse);
    words(v, "width of an indexer head", "no indexer");
    v.integer("index_head_dim", m.index_head_dim, kSizeOrNone, Presence::sparse);
    words(v, "tokens that an indexer picks", "no indexer");
    v.integer("index_top_k", m.index_top_k, kSizeOrNone, Presence::sparse);
}

template <typename P, typename V>
void compressed_fields(P& m, V& v) {
    words(v, "rank of queries");
    v.integer("q_lora_rank", m.q_lora_rank, kSize, Presence::required);
    words(v, "rank of a group's output");
    v.integer("o_lora_rank", m.o_lora_rank, kSize, Presence::required);
    words(v, "groups of heads at the output");
    v.integer("o_groups", m.o_groups, kSize, Presence::always);
    words(v, "indexer heads");
    v.integer("index_heads", m.index_heads, kSize, Presence::required);
    words(v, "width of an indexer head");
    v.integer("index_head_dim", m.index_head_dim, kSize, Presence::required);
    words(v, "compressed keys that an indexer picks");
    v.integer("index_top_k", m.index_top_k, kSize, Presence::required);
}

template <typename P, typename V>
void moe_fields(P& m, V& v) {
    v.integer("experts", m.experts, {1, kMostDegree}, Presence::required);
    words(v, "experts of a token (top-k)");
    v.integer("top_k", m.top_k, {1, kMostDegree}, Presence::required);
    words(v, "width of an expert");
    v.integer("expert_ffn", m.expert_ffn, kSize, Presence::required);
    words(v, "shared experts", "none");
    v.integer("shared_experts", m.shared_experts, {0, kMostDegree}, Presence::sparse);
    words(v, "width of a shared expert", "none");
    v.integer("shared_expert_ffn", m.shared_expert_ffn, kSizeOrNone, Presence::sparse);
    words(v, "dense layers before experts", "none");
    v.integer("first_dense_layers", m.first_dense_layers, {0, kMostLayers}, Presence::sparse);
    words(v, "experts in every n-th layer");
    v.integer("every", m.every, {1, kMostLayers}, Presence::always);
    words(v, "bias of the router");
    v.flag("router_bias", m.router_bias, Presence::sparse);
    words(v, "gate of shared experts");
    v.flag("shared_expert_gate", m.shared_expert_gate, Presence::sparse);
    words(v, "most nodes of a token", "no limit");
    v.integer("max_nodes_per_token", m.max_nodes_per_token, {0, kMostDegree}, Presence::sparse);
    words(v, "a dense MLP beside experts");
    v.flag("beside_mlp", m.beside_mlp, Presence::sparse);
    words(v, "width that experts work in", "the hidden width");
    v.integer("latent", m.latent, kSizeOrNone, Presence::sparse);
}

template <typename P, typename V>
void linear_fields(P& m, V& v) {
    words(v, "kind of linear attention");
    v.choice("kind", m.kind, Presence::required);
    words(v, "key heads", "none");
    v.integer("key_heads", m.key_heads, kSizeOrNone, Presence::sparse);
    words(v, "value heads", "none");
    v.integer("value_heads", m.value_heads, kSizeOrNone, Presence::sparse);
    words(v, "width of a key head", "none");
    v.integer("key_head_dim", m.key_head_dim, kSizeOrNone, Presence::sparse);
    words(v, "width of a value head", "none");
    v.integer("value_head_dim", m.value_head_dim, kSizeOrNone, Presence::sparse);
    words(v, "tokens of the convolution", "none");
    v.integer("conv", m.conv, {0, kMostDegree}, Presence::sparse);
    words(v, "bias of the convolution");
    v.flag("conv_bias", m.conv_bias, Presence::sparse);
    words(v, "norms of queries and keys");
    v.flag("qk_norm", m.qk_norm, Presence::sparse);
}

template <typename P, typename V>
void mamba_fields(P& m, V& v) {
    words(v, "version of Mamba");
    v.integer("version", m.version, {1, 2}, Presence::always);
    words(v, "inner width");
    v.integer("inner", m.inner, kSize, Presence::required);
    words(v, "states of a channel");
    v.integer("state", m.state, kSize, Presence::required);
    words(v, "heads of Mamba", "none");
    v.integer("heads", m.heads, kSizeOrNone, Presence::sparse);
    words(v, "groups of heads");
    v.integer("groups", m.groups, kSize, Presence::always);
    words(v, "tokens of the convolution");
    v.integer("conv", m.conv, {1, kMostDegree}, Presence::always);
    words(v, "rank of the time step", "none");
    v.integer("dt_rank", m.dt_rank, kSizeOrNone, Presence::sparse);
    words(v, "bias of the convolution");
    v.flag("conv_bias", m.conv_bias, Presence::always);
    words(v, "bias of the projections");
    v.flag("bias", m.bias, Presence::sparse);
    words(v, "norm inside Mamba");
    v.flag("norm", m.norm, Presence::always);
}

template <typename P, typename V>
void run_fields(P& r, V& v) {
    v.choice("kind", r.kind, Presence::required);
    v.choice("ffn", r.ffn, Presence::required);
    v.integer("count", r.count, {1, kMostLayers}, Presence::always);
    v.integer("heads", r.heads, kSizeOrNone, Presence::sparse);
    v.integer("kv_heads", r.kv_heads, kSizeOrNone, Presence::sparse);
    v.integer("head_dim", r.head_dim, kSizeOrNone, Presence::sparse);
    v.integer("ffn_width", r.ffn_width, kSizeOrNone, Presence::sparse);
    v.integer("window", r.window, kSizeOrNone, Presence::sparse);
    v.flag("keys_as_values", r.keys_as_values, Presence::sparse);
    v.flag("shares_kv", r.shares_kv, Presence::sparse);
    v.flag("shares_index", r.shares_index, Presence::sparse);
    v.flag("sinks", r.sinks, Presence::sparse);
    v.flag("mamba_beside", r.mamba_beside, Presence::sparse);
    v.integer("compress", r.compress, kSizeOrNone, Presence::sparse);
    v.flag("picks_compressed", r.picks_compressed, Presence::sparse);
    v.flag("hash_routed", r.hash_routed, Presence::sparse);
}

template <typename P, typename V>
void model_fields(P& m, V& v) {
    topic(v, FieldTopic::size);
    v.text("name", m.name);
    v.integer("layers", m.layers, {1, kMostLayers}, Presence::required);
    words(v, "hidden width");
    v.integer("hidden", m.hidden, kSize, Presence::required);
    v.integer("heads", m.heads, kSize, Presence::required);
    words(v, "heads of keys and values");
    v.integer("kv_heads", m.kv_heads, kSize, Presence::always);
    words(v, "width of a head");
    v.integer("head_dim", m.head_dim, kSize, Presence::always);
    words(v, "width of the MLP", "no dense MLP");
    v.integer("ffn", m.ffn, kSizeOrNone, Presence::always);
    topic(v, FieldTopic::experts);
    words(v, "kind of MLP");
    v.choice("ffn_kind", m.ffn_kind, Presence::always);
    topic(v, FieldTopic::size);
    words(v, "vocabulary");
    v.integer("vocab", m.vocab, kSize, Presence::required);
    words(v, "vocabulary padded to", "as the software pads");
    v.integer("vocab_multiple", m.vocab_multiple, {0, kMostDegree}, Presence::sparse);
    v.flag("tied_embeddings", m.tied_embeddings, Presence::always);
    topic(v, FieldTopic::other_model);
    words(v, "kind of norm");
    v.choice("norm", m.norm, Presence::always);
    topic(v, FieldTopic::attention);
    words(v, "bias of queries, keys, values");
    v.flag("qkv_bias", m.qkv_bias, Presence::sparse);
    words(v, "bias of all of attention");
    v.flag("attention_bias", m.attention_bias, Presence::sparse);
    topic(v, FieldTopic::experts);
    words(v, "bias of the MLP");
    v.flag("mlp_bias", m.mlp_bias, Presence::sparse);
    topic(v, FieldTopic::attention);
    v.flag("attention_sinks", m.attention_sinks, Presence::sparse);
    words(v, "norms of queries and keys");
    v.choice("qk_norm", m.qk_norm, Presence::sparse);
    words(v, "gate of attention");
    v.choice("attention_gate", m.attention_gate, Presence::sparse);
    words(v, "width of a value head", "as a head");
    v.integer("value_head_dim", m.value_head_dim, kSizeOrNone, Presence::sparse);
    topic(v, FieldTopic::other_model);
    words(v, "norms behind attention and MLP");
    v.flag("post_norms", m.post_norms, Presence::sparse);
    words(v, "attention beside the MLP");
    v.flag("shared_norm", m.shared_norm, Presence::sparse);
    words(v, "bias of the output layer");
    v.flag("head_bias", m.head_bias, Presence::sparse);
    topic(v, FieldTopic::attention);
    v.choice("positions", m.positions, Presence::always);
    words(v, "most positions", "no table of positions");
    v.integer("max_positions", m.max_positions, kSizeOrNone, Presence::sparse);
    words(v, "kind of attention");
    v.choice("attention", m.attention, Presence::sparse);
    words(v, "sliding window", "full attention");
    v.integer("sliding_window", m.sliding_window, kSizeOrNone, Presence::sparse);
    heading(v, "Latent attention");
    words(v, "latent attention (MLA)");
    v.maybe_group("mla", m.mla, [](auto& s, auto& w) { mla_fields(s, w); });
    heading(v, "Attention over compressed keys");
    words(v, "attention over compressed keys");
    v.maybe_group("compressed", m.compressed, [](auto& s, auto& w) { compressed_fields(s, w); });
    topic(v, FieldTopic::experts);
    heading(v, "Mixture of experts");
    words(v, "mixture of experts");
    v.maybe_group("moe", m.moe, [](auto& s, auto& w) { moe_fields(s, w); });
    topic(v, FieldTopic::attention);
    heading(v, "Linear attention");
    words(v, "linear attention");
    v.maybe_group("linear", m.linear, [](auto& s, auto& w) { linear_fields(s, w); });
    heading(v, "Mamba");
    words(v, "Mamba");
    v.maybe_group("mamba", m.mamba, [](auto& s, auto& w) { mamba_fields(s, w); });
    heading(v, "Layers that differ");
    words(v, "pattern of layers", "all layers are equal");
    v.groups("pattern", m.pattern, kMostRuns, [](auto& s, auto& w) { run_fields(s, w); });
    topic(v, FieldTopic::size);
    words(v, "prediction layers (MTP)", "none");
    v.integer("mtp_layers", m.mtp_layers, {0, kMostLayers}, Presence::sparse);
    topic(v, FieldTopic::other_model);
    words(v, "dense MLP in prediction layers");
    v.flag("mtp_dense", m.mtp_dense, Presence::sparse);
    words(v, "streams of hyper-connections", "a plain residual");
    v.integer("hyper_streams", m.hyper_streams, {0, 64}, Presence::sparse);
}

}  // namespace pentamesh
