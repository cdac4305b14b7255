// Lists every field of a plan once: its key, its place in the struct, its allowed values. Reading, writing
// and the JSON Schema are visitors of these functions, in the order in which plan.md names the keys.
//
// A visitor V has, for a key and a reference to the member:
//   text, any_text (left out where it is empty), flag, integer, maybe_integer (null or left out: no number),
//   number, choice (an enum by kNames), choice_of (some of an enum), integers (a list), group (a nested
//   object), maybe_group (null or left out: no group), groups (a list of nested objects; null or left out:
//   empty), recompute (a word or an object).
// P is the struct or the const struct.
#pragma once

#include "core/plan/names.h"
#include "core/plan/plan.h"

#include <initializer_list>

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

// Both speak to visitors that list fields for people; others need neither. The first names the page of the
// fields that follow, the second the words before the next one, where its key does not read as words.
template <typename V>
void topic(V& v, FieldTopic t) {
    if constexpr (requires { v.topic(t); }) v.topic(t);
}
template <typename V>
void words(V& v, std::string_view label) {
    if constexpr (requires { v.words(label); }) v.words(label);
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

template <typename P, typename V>
void mla_fields(P& m, V& v) {
    v.integer("q_lora_rank", m.q_lora_rank, kSizeOrNone, Presence::sparse);
    v.integer("kv_lora_rank", m.kv_lora_rank, kSize, Presence::required);
    v.integer("qk_nope_head_dim", m.qk_nope_head_dim, kSize, Presence::required);
    v.integer("qk_rope_head_dim", m.qk_rope_head_dim, kSizeOrNone, Presence::required);
    v.integer("v_head_dim", m.v_head_dim, kSize, Presence::required);
    v.integer("index_heads", m.index_heads, kSizeOrNone, Presence::sparse);
    v.integer("index_head_dim", m.index_head_dim, kSizeOrNone, Presence::sparse);
    v.integer("index_top_k", m.index_top_k, kSizeOrNone, Presence::sparse);
}

template <typename P, typename V>
void moe_fields(P& m, V& v) {
    v.integer("experts", m.experts, {1, kMostDegree}, Presence::required);
    v.integer("top_k", m.top_k, {1, kMostDegree}, Presence::required);
    v.integer("expert_ffn", m.expert_ffn, kSize, Presence::required);
    v.integer("shared_experts", m.shared_experts, {0, kMostDegree}, Presence::sparse);
    v.integer("shared_expert_ffn", m.shared_expert_ffn, kSizeOrNone, Presence::sparse);
    v.integer("first_dense_layers", m.first_dense_layers, {0, kMostLayers}, Presence::sparse);
    words(v, "experts in every n-th layer");
    v.integer("every", m.every, {1, kMostLayers}, Presence::always);
    v.flag("router_bias", m.router_bias, Presence::sparse);
    v.flag("shared_expert_gate", m.shared_expert_gate, Presence::sparse);
    v.integer("max_nodes_per_token", m.max_nodes_per_token, {0, kMostDegree}, Presence::sparse);
    v.flag("beside_mlp", m.beside_mlp, Presence::sparse);
    words(v, "width that experts work in");
    v.integer("latent", m.latent, kSizeOrNone, Presence::sparse);
}

template <typename P, typename V>
void linear_fields(P& m, V& v) {
    v.choice("kind", m.kind, Presence::required);
    v.integer("key_heads", m.key_heads, kSizeOrNone, Presence::sparse);
    v.integer("value_heads", m.value_heads, kSizeOrNone, Presence::sparse);
    v.integer("key_head_dim", m.key_head_dim, kSizeOrNone, Presence::sparse);
    v.integer("value_head_dim", m.value_head_dim, kSizeOrNone, Presence::sparse);
    v.integer("conv", m.conv, {0, kMostDegree}, Presence::sparse);
    v.flag("conv_bias", m.conv_bias, Presence::sparse);
    v.flag("qk_norm", m.qk_norm, Presence::sparse);
}

template <typename P, typename V>
void mamba_fields(P& m, V& v) {
    v.integer("version", m.version, {1, 2}, Presence::always);
    v.integer("inner", m.inner, kSize, Presence::required);
    v.integer("state", m.state, kSize, Presence::required);
    v.integer("heads", m.heads, kSizeOrNone, Presence::sparse);
    v.integer("groups", m.groups, kSize, Presence::always);
    v.integer("conv", m.conv, {1, kMostDegree}, Presence::always);
    v.integer("dt_rank", m.dt_rank, kSizeOrNone, Presence::sparse);
    v.flag("conv_bias", m.conv_bias, Presence::always);
    v.flag("bias", m.bias, Presence::sparse);
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
    v.flag("sinks", r.sinks, Presence::sparse);
    v.flag("mamba_beside", r.mamba_beside, Presence::sparse);
}

template <typename P, typename V>
void model_fields(P& m, V& v) {
    topic(v, FieldTopic::size);
    v.text("name", m.name);
    v.integer("layers", m.layers, {1, kMostLayers}, Presence::required);
    v.integer("hidden", m.hidden, kSize, Presence::required);
    v.integer("heads", m.heads, kSize, Presence::required);
    v.integer("kv_heads", m.kv_heads, kSize, Presence::always);
    v.integer("head_dim", m.head_dim, kSize, Presence::always);
    v.integer("ffn", m.ffn, kSizeOrNone, Presence::always);
    topic(v, FieldTopic::experts);
    v.choice("ffn_kind", m.ffn_kind, Presence::always);
    topic(v, FieldTopic::size);
    v.integer("vocab", m.vocab, kSize, Presence::required);
    v.integer("vocab_multiple", m.vocab_multiple, {0, kMostDegree}, Presence::sparse);
    v.flag("tied_embeddings", m.tied_embeddings, Presence::always);
    topic(v, FieldTopic::other_model);
    v.choice("norm", m.norm, Presence::always);
    topic(v, FieldTopic::attention);
    v.flag("qkv_bias", m.qkv_bias, Presence::sparse);
    v.flag("attention_bias", m.attention_bias, Presence::sparse);
    topic(v, FieldTopic::experts);
    v.flag("mlp_bias", m.mlp_bias, Presence::sparse);
    topic(v, FieldTopic::attention);
    v.flag("attention_sinks", m.attention_sinks, Presence::sparse);
    v.choice("qk_norm", m.qk_norm, Presence::sparse);
    v.choice("attention_gate", m.attention_gate, Presence::sparse);
    v.integer("value_head_dim", m.value_head_dim, kSizeOrNone, Presence::sparse);
    topic(v, FieldTopic::other_model);
    v.flag("post_norms", m.post_norms, Presence::sparse);
    v.flag("shared_norm", m.shared_norm, Presence::sparse);
    v.flag("head_bias", m.head_bias, Presence::sparse);
    topic(v, FieldTopic::attention);
    v.choice("positions", m.positions, Presence::always);
    v.integer("max_positions", m.max_positions, kSizeOrNone, Presence::sparse);
    v.choice("attention", m.attention, Presence::sparse);
    v.integer("sliding_window", m.sliding_window, kSizeOrNone, Presence::sparse);
    words(v, "latent attention (MLA)");
    v.maybe_group("mla", m.mla, [](auto& s, auto& w) { mla_fields(s, w); });
    topic(v, FieldTopic::experts);
    words(v, "mixture of experts");
    v.maybe_group("moe", m.moe, [](auto& s, auto& w) { moe_fields(s, w); });
    topic(v, FieldTopic::attention);
    words(v, "linear attention");
    v.maybe_group("linear", m.linear, [](auto& s, auto& w) { linear_fields(s, w); });
    v.maybe_group("mamba", m.mamba, [](auto& s, auto& w) { mamba_fields(s, w); });
    v.groups("pattern", m.pattern, kMostRuns, [](auto& s, auto& w) { run_fields(s, w); });
    topic(v, FieldTopic::size);
    v.integer("mtp_layers", m.mtp_layers, {0, kMostLayers}, Presence::sparse);
    topic(v, FieldTopic::other_model);
    v.flag("mtp_dense", m.mtp_dense, Presence::sparse);
}

template <typename P, typename V>
void flops_fields(P& f, V& v) {
    v.number("bf16", f.bf16, {0, kMostRate, true}, Presence::required);
    v.number("fp16", f.fp16, {0, kMostRate}, Presence::sparse);
    v.number("fp8", f.fp8, {0, kMostRate}, Presence::sparse);
    v.number("fp4", f.fp4, {0, kMostRate}, Presence::sparse);
    v.number("tf32", f.tf32, {0, kMostRate}, Presence::sparse);
}

// Says what a constant of the efficiency is: a share that is never 0, one that may be, or seconds.
enum class EfficiencyMeasure : std::uint8_t { share, share_or_none, seconds };
constexpr EfficiencyMeasure measure_of(const EfficiencyKey& k) {
    for (const auto time : {&Efficiency::kernel_s, &Efficiency::launch_s, &Efficiency::step_s})
        if (k.member == time) return EfficiencyMeasure::seconds;
    return k.member == &Efficiency::overlap || k.member == &Efficiency::error
               ? EfficiencyMeasure::share_or_none
               : EfficiencyMeasure::share;
}
constexpr NumberRange range_of(EfficiencyMeasure m) {
    return {0, m == EfficiencyMeasure::seconds ? kMostLatency_s : 1, m == EfficiencyMeasure::share};
}

template <typename P, typename V>
void efficiency_fields(P& e, V& v) {
    for (const EfficiencyKey& k : kEfficiencyKeys)
        v.number(k.key, e.*k.member, range_of(measure_of(k)), Presence::always);
}

template <typename P, typename V>
void gpu_fields(P& g, V& v) {
    v.text("name", g.name);
    v.number("hbm_bytes", g.hbm_bytes, {0, kMostRate, true}, Presence::required);
    v.number("hbm_bytes_per_s", g.hbm_bytes_per_s, {0, kMostRate, true}, Presence::required);
    v.group(
        "flops", g.flops, [](auto& s, auto& w) { flops_fields(s, w); }, Presence::required);
    v.flag("fp8_any_layout", g.fp8_any_layout, Presence::sparse);
    v.group(
        "efficiency", g.efficiency, [](auto& s, auto& w) { efficiency_fields(s, w); }, Presence::always);
}

// The domain is read apart: the last tier's is the whole cluster and is left out.
template <typename P, typename V>
void tier_fields(P& t, V& v) {
    v.text("name", t.name);
    v.choice("kind", t.kind, Presence::required);
    v.integer("domain", t.domain, {0, kMostDegree}, Presence::sparse);
    words(v, "bandwidth per GPU");
    v.number("bytes_per_s", t.bytes_per_s, {0, kMostRate, true}, Presence::required);
    v.number("latency_s", t.latency_s, {0, kMostLatency_s}, Presence::always);
    v.number("oversubscription", t.oversubscription, {1, kMostOversubscription}, Presence::always);
    v.flag("in_network_reduction", t.in_network_reduction, Presence::sparse);
}

// Visits all but `order`, which has two spellings.
template <typename P, typename V>
void layout_fields(P& l, V& v) {
    v.integer("tp", l.tp, kDegree, Presence::always);
    v.flag("sequence_parallel", l.sequence_parallel, Presence::always);
    v.integer("cp", l.cp, kDegree, Presence::always);
    v.choice("cp_comm", l.cp_comm, Presence::always);
    v.integer("pp", l.pp, kDegree, Presence::always);
    v.integer("virtual_stages", l.virtual_stages, {1, kMostLayers}, Presence::always);
    v.choice("schedule", l.schedule, Presence::always);
    v.maybe_integer("microbatch_group", l.microbatch_group, kDegree);
    v.integers("stage_layers", l.stage_layers, {0, kMostLayers}, static_cast<std::size_t>(kMostLayers));
    v.integer("ep", l.ep, kDegree, Presence::always);
    v.maybe_integer("etp", l.etp, kDegree);
    v.integer("dp_shard", l.dp_shard, kDegree, Presence::always);
    v.maybe_integer("dp_replicate", l.dp_replicate, kDegree);
    v.integer("zero", l.zero, {0, 3}, Presence::always);
    v.choice("gradient_reduction", l.gradient_reduction, Presence::sparse);
    v.choice("reshard", l.reshard, Presence::sparse);
    v.maybe_integer("cp_inner", l.cp_inner, kDegree);
    v.maybe_integer("mtp_chunk", l.mtp_chunk, {0, kMostDegree - 1});
    v.choice("ep_comm", l.ep_comm, Presence::sparse);
    v.maybe_integer("weight_shards", l.weight_shards, kDegree);
}

template <typename P, typename V>
void overlap_fields(P& o, V& v) {
    v.flag("dp", o.dp, Presence::always);
    v.flag("pp", o.pp, Presence::always);
    v.flag("cp", o.cp, Presence::always);
    v.flag("tp", o.tp, Presence::always);
    v.flag("ep", o.ep, Presence::always);
}

template <typename P, typename V>
void offload_fields(P& o, V& v) {
    v.integer("activations_layers", o.activations_layers, {0, kMostLayers}, Presence::sparse);
    v.number("optimizer", o.optimizer, {0, 1}, Presence::sparse);
    v.number("parameters", o.parameters, {0, 1}, Presence::sparse);
}

// Visits a cluster's costs, which are no part of its preset: 0 means unknown.
template <typename P, typename V>
void cost_fields(P& c, V& v) {
    v.number("price_per_gpu_hour", c.price_per_gpu_hour, {0, 1e6}, Presence::sparse);
    v.number("gpu_watts", c.gpu_watts, {0, 1e6}, Presence::sparse);
    v.number("pue", c.pue, {0, 100}, Presence::sparse);
    v.number("failures_per_gpu_day", c.failures_per_gpu_day, {0, 1e3}, Presence::sparse);
}

template <typename P, typename V>
void calibration_fields(P& c, V& v) {
    v.integer("runs", c.runs, kDegree, Presence::required);
    v.number("error", c.error, {0, 100}, Presence::always);
    v.number("error_90", c.error_90, {0, 100}, Presence::always);
    v.any_text("from", c.from);
}

template <typename P, typename V>
void author_fields(P& w, V& v) {
    v.any_text("decision", w.decision);
    v.any_text("alternatives", w.alternatives);
    v.any_text("owner", w.owner);
    v.any_text("risks", w.risks);
    v.any_text("open_questions", w.open_questions);
}

template <typename P, typename V>
void scene_fields(P& s, V& v) {
    v.any_text("view", s.view);
    v.any_text("axis", s.axis);
    v.any_text("selection", s.selection);
    v.number("cursor", s.cursor, {0, kMostRate}, Presence::sparse);
    v.integer("page", s.page, {0, kMostLayers}, Presence::sparse);
}

template <typename P, typename V>
void buffers_fields(P& b, V& v) {
    v.number("communicator_bytes", b.communicator_bytes, {0, kMostRate}, Presence::sparse);
    v.number("context_bytes", b.context_bytes, {0, kMostRate}, Presence::sparse);
    v.number("fragmentation", b.fragmentation, {0, 10}, Presence::sparse);
}

template <typename P, typename V>
void training_fields(P& t, V& v) {
    static constexpr std::initializer_list<Dtype> stored{Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::fp8};
    v.integer("sequence_length", t.sequence_length, kSize, Presence::always);
    v.integer("micro_batch", t.micro_batch, kDegree, Presence::always);
    v.integer("global_batch", t.global_batch, kSize, Presence::always);
    v.choice("compute", t.compute, Presence::always);
    v.choice("fp8_recipe", t.fp8_recipe, Presence::sparse);
    v.choice_of("parameters", t.parameters, stored);
    v.choice_of("gradients", t.gradients, stored);
    v.choice("optimizer", t.optimizer, Presence::always);
    v.choice_of("optimizer_state", t.optimizer_state, stored);
    v.choice("master_weights", t.master_weights, Presence::always);
    v.choice("attention", t.attention, Presence::always);
    v.recompute("recompute", t.recompute);
    v.flag("dropout", t.dropout, Presence::always);
    v.choice("cuda_graphs", t.cuda_graphs, Presence::sparse);
    v.flag("fused_experts", t.fused_experts, Presence::sparse);
    v.number("router_imbalance", t.router_imbalance, {1, 1e6}, Presence::always);
    v.group(
        "overlap", t.overlap, [](auto& s, auto& w) { overlap_fields(s, w); }, Presence::always);
    v.number("straggler_cv", t.straggler_cv, {0, 10}, Presence::always);
    v.choice("software", t.software, Presence::sparse);
    v.group(
        "offload", t.offload, [](auto& s, auto& w) { offload_fields(s, w); }, Presence::sparse);
    v.number("tokens_total", t.tokens_total, {0, 1e18}, Presence::sparse);
    v.number("checkpoint_s", t.checkpoint_s, {0, 1e6}, Presence::sparse);
    v.group(
        "buffers", t.buffers, [](auto& s, auto& w) { buffers_fields(s, w); }, Presence::sparse);
    v.number("costly_share", t.costly_share, {0, 1}, Presence::sparse);
}

}  // namespace pentamesh
