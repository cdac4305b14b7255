// Lists every field of a plan once: its key, its place in the struct, its allowed values. Reading, writing
// and the JSON Schema are visitors of these functions, in the order of the keys in a plan file.
//
// A visitor V has, for a key and a reference to the member:
//   text, any_text (left out where it is empty), flag, integer, maybe_integer (null or left out: no number),
//   number, choice (an enum by kNames), choice_of (some of an enum), integers (a list), group (a nested
//   object), maybe_group (null or left out: no group), groups (a list of nested objects; null or left out:
//   empty), recompute (a word or an object).
// P is the struct or the const struct.
#pragma once

#include "core/plan/model_fields.h"

#include <cstdint>
#include <initializer_list>

namespace pentamesh {

template <typename P, typename V>
void flops_fields(P& f, V& v) {
    words(v, "bf16 peak, dense", "it has none");
    v.number("bf16", f.bf16, {0, kMostRate, true}, Presence::required);
    words(v, "fp16 peak, dense", "it has none");
    v.number("fp16", f.fp16, {0, kMostRate}, Presence::sparse);
    words(v, "fp8 peak, dense", "it has none");
    v.number("fp8", f.fp8, {0, kMostRate}, Presence::sparse);
    words(v, "fp4 peak, dense", "it has none");
    v.number("fp4", f.fp4, {0, kMostRate}, Presence::sparse);
    words(v, "tf32 peak, dense", "it has none");
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

// Names the constants for people, in the order of kEfficiencyKeys.
inline constexpr std::array<std::string_view, kEfficiencyKeys.size()> kEfficiencyNames{
    "16-bit products", "fp8 products", "fp4 products",      "grouped products",
    "attention core",  "HBM",          "rings, first tier", "rings, slower tiers",
    "all-to-all",      "overlap",      "start of a kernel", "launch by the host",
    "once a step",     "least error"};

template <typename P, typename V>
void efficiency_fields(P& e, V& v) {
    for (std::size_t i = 0; i < kEfficiencyKeys.size(); ++i) {
        const EfficiencyKey& k = kEfficiencyKeys[i];
        words(v, kEfficiencyNames[i]);
        v.number(k.key, e.*k.member, range_of(measure_of(k)), Presence::always);
    }
}

template <typename P, typename V>
void gpu_fields(P& g, V& v) {
    v.text("name", g.name);
    words(v, "memory");
    v.number("hbm_bytes", g.hbm_bytes, {0, kMostRate, true}, Presence::required);
    words(v, "memory bandwidth");
    v.number("hbm_bytes_per_s", g.hbm_bytes_per_s, {0, kMostRate, true}, Presence::required);
    words(v, "link to host memory", "unknown");
    v.number("host_bytes_per_s", g.host_bytes_per_s, {0, kMostRate}, Presence::sparse);
    heading(v, "Peak rates");
    v.group(
        "flops", g.flops, [](auto& s, auto& w) { flops_fields(s, w); }, Presence::required);
    words(v, "fp8 products of any layout");
    v.flag("fp8_any_layout", g.fp8_any_layout, Presence::sparse);
    heading(v, "Reached in practice");
    v.group(
        "efficiency", g.efficiency, [](auto& s, auto& w) { efficiency_fields(s, w); }, Presence::always);
}

// The domain is read apart: the last tier's is the whole cluster and is left out.
template <typename P, typename V>
void tier_fields(P& t, V& v) {
    v.text("name", t.name);
    words(v, "kind of link");
    v.choice("kind", t.kind, Presence::required);
    words(v, "GPUs that it joins", "the whole cluster");
    v.integer("domain", t.domain, {0, kMostDegree}, Presence::sparse);
    words(v, "bandwidth per GPU");
    v.number("bytes_per_s", t.bytes_per_s, {0, kMostRate, true}, Presence::required);
    words(v, "latency of a message");
    v.number("latency_s", t.latency_s, {0, kMostLatency_s}, Presence::always);
    v.number("oversubscription", t.oversubscription, {1, kMostOversubscription}, Presence::always);
    words(v, "NICs of a fast domain", "one for each GPU");
    v.integer("nics", t.nics, {0, kMostDegree}, Presence::sparse);
    words(v, "switches add up (SHARP)");
    v.flag("in_network_reduction", t.in_network_reduction, Presence::sparse);
    words(v, "sizes of a torus", "any pair is joined");
    v.any_text("torus", t.torus);
}

// Visits all but `order`, which has two spellings.
template <typename P, typename V>
void layout_fields(P& l, V& v) {
    heading(v, "Tensor parallelism");
    words(v, "tensor parallel (tp)");
    v.integer("tp", l.tp, kDegree, Presence::always);
    v.flag("sequence_parallel", l.sequence_parallel, Presence::always);
    heading(v, "Context parallelism");
    words(v, "context parallel (cp)");
    v.integer("cp", l.cp, kDegree, Presence::always);
    words(v, "exchange of contexts");
    v.choice("cp_comm", l.cp_comm, Presence::always);
    heading(v, "Pipeline");
    words(v, "pipeline stages (pp)");
    v.integer("pp", l.pp, kDegree, Presence::always);
    words(v, "virtual stages");
    v.integer("virtual_stages", l.virtual_stages, {1, kMostLayers}, Presence::always);
    v.choice("schedule", l.schedule, Presence::always);
    words(v, "micro-batches of a group", "as many as stages");
    v.maybe_integer("microbatch_group", l.microbatch_group, kDegree);
    words(v, "layers of each chunk", "an even split");
    v.integers("stage_layers", l.stage_layers, {0, kMostLayers}, static_cast<std::size_t>(kMostLayers));
    heading(v, "Experts");
    words(v, "expert parallel (ep)");
    v.integer("ep", l.ep, kDegree, Presence::always);
    words(v, "tensor parallel of experts (etp)", "as tp");
    v.maybe_integer("etp", l.etp, kDegree);
    heading(v, "Data parallelism");
    words(v, "shards of states (dp_shard)");
    v.integer("dp_shard", l.dp_shard, kDegree, Presence::always);
    words(v, "replicas (dp_replicate)", "what is left of the GPUs");
    v.maybe_integer("dp_replicate", l.dp_replicate, kDegree);
    words(v, "ZeRO stage");
    v.integer("zero", l.zero, {0, 3}, Presence::always);
    words(v, "gradients reduced after each", "as the software does");
    v.choice("gradient_reduction", l.gradient_reduction, Presence::sparse);
    words(v, "gathered weights let go", "as the software does");
    v.choice("reshard", l.reshard, Presence::sparse);
    heading(v, "Context parallelism");
    words(v, "ranks that exchange heads", "no inner groups");
    v.maybe_integer("cp_inner", l.cp_inner, kDegree);
    heading(v, "Pipeline");
    words(v, "chunk of prediction layers", "the last");
    v.maybe_integer("mtp_chunk", l.mtp_chunk, {0, kMostDegree - 1});
    heading(v, "Experts");
    words(v, "exchange of tokens");
    v.choice("ep_comm", l.ep_comm, Presence::sparse);
    heading(v, "Tensor parallelism");
    words(v, "more shards of each weight", "none");
    v.maybe_integer("weight_shards", l.weight_shards, kDegree);
}

template <typename P, typename V>
void overlap_fields(P& o, V& v) {
    words(v, "overlap of dp");
    v.flag("dp", o.dp, Presence::always);
    words(v, "overlap of pp");
    v.flag("pp", o.pp, Presence::always);
    words(v, "overlap of cp");
    v.flag("cp", o.cp, Presence::always);
    words(v, "overlap of tp");
    v.flag("tp", o.tp, Presence::always);
    words(v, "overlap of ep");
    v.flag("ep", o.ep, Presence::always);
}

template <typename P, typename V>
void offload_fields(P& o, V& v) {
    words(v, "layers with activation offload", "none");
    v.integer("activations_layers", o.activations_layers, {0, kMostLayers}, Presence::sparse);
    words(v, "optimizer offload", "none");
    v.number("optimizer", o.optimizer, {0, 1}, Presence::sparse);
    words(v, "parameter offload", "none");
    v.number("parameters", o.parameters, {0, 1}, Presence::sparse);
}

// Visits a cluster's costs, which are no part of its preset: 0 means unknown.
template <typename P, typename V>
void cost_fields(P& c, V& v) {
    heading(v, "Cost");
    words(v, "price of a GPU hour", "unknown");
    v.number("price_per_gpu_hour", c.price_per_gpu_hour, {0, 1e6}, Presence::sparse);
    words(v, "watts of a GPU", "unknown");
    v.number("gpu_watts", c.gpu_watts, {0, 1e6}, Presence::sparse);
    words(v, "power usage effectiveness", "unknown");
    v.number("pue", c.pue, {0, 100}, Presence::sparse);
    words(v, "failures of a GPU a day", "unknown");
    v.number("failures_per_gpu_day", c.failures_per_gpu_day, {0, 1e3}, Presence::sparse);
}

template <typename P, typename V>
void calibration_fields(P& c, V& v) {
    v.integer("runs", c.runs, kDegree, Presence::required);
    words(v, "error of half of the runs");
    v.number("error", c.error, {0, 100}, Presence::always);
    words(v, "error of nine runs of ten");
    v.number("error_90", c.error_90, {0, 100}, Presence::always);
    words(v, "files of the runs");
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
    heading(v, "How it opens");
    words(v, "opens in the view");
    v.any_text("view", s.view);
    words(v, "shows the axis");
    v.any_text("axis", s.axis);
    words(v, "has selected");
    v.any_text("selection", s.selection);
    words(v, "time cursor");
    v.number("cursor", s.cursor, {0, kMostRate}, Presence::sparse);
    words(v, "page of the view");
    v.integer("page", s.page, {0, kMostLayers}, Presence::sparse);
}

template <typename P, typename V>
void buffers_fields(P& b, V& v) {
    words(v, "buffers of a process group", "as usual");
    v.number("communicator_bytes", b.communicator_bytes, {0, kMostRate}, Presence::sparse);
    words(v, "driver and libraries", "as usual");
    v.number("context_bytes", b.context_bytes, {0, kMostRate}, Presence::sparse);
    words(v, "fragmentation", "as usual");
    v.number("fragmentation", b.fragmentation, {0, 10}, Presence::sparse);
}

template <typename P, typename V>
void training_fields(P& t, V& v) {
    static constexpr std::initializer_list<Dtype> stored{Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::fp8};
    v.integer("sequence_length", t.sequence_length, kSize, Presence::always);
    words(v, "micro-batch");
    v.integer("micro_batch", t.micro_batch, kDegree, Presence::always);
    v.integer("global_batch", t.global_batch, kSize, Presence::always);
    heading(v, "Numbers and optimizer");
    words(v, "type of products");
    v.choice("compute", t.compute, Presence::always);
    words(v, "scaling of fp8");
    v.choice("fp8_recipe", t.fp8_recipe, Presence::sparse);
    words(v, "type of parameters");
    v.choice_of("parameters", t.parameters, stored);
    words(v, "type of gradients");
    v.choice_of("gradients", t.gradients, stored);
    v.choice("optimizer", t.optimizer, Presence::always);
    words(v, "type of optimizer states");
    v.choice_of("optimizer_state", t.optimizer_state, stored);
    v.choice("master_weights", t.master_weights, Presence::always);
    heading(v, "Kernels");
    words(v, "attention kernel");
    v.choice("attention", t.attention, Presence::always);
    heading(v, "Recomputation");
    words(v, "what is recomputed");
    v.recompute("recompute", t.recompute);
    heading(v, "Kernels");
    v.flag("dropout", t.dropout, Presence::always);
    words(v, "CUDA graphs");
    v.choice("cuda_graphs", t.cuda_graphs, Presence::sparse);
    words(v, "fused activation of experts");
    v.flag("fused_experts", t.fused_experts, Presence::sparse);
    words(v, "experts one by one");
    v.flag("experts_one_by_one", t.experts_one_by_one, Presence::sparse);
    words(v, "sizes of routing known on");
    v.choice("routing_sizes", t.routing_sizes, Presence::sparse);
    words(v, "kernel of the loss");
    v.choice("loss_kernel", t.loss_kernel, Presence::sparse);
    heading(v, "Uneven ranks");
    words(v, "load of the busiest experts");
    v.number("router_imbalance", t.router_imbalance, {1, 1e6}, Presence::always);
    heading(v, "Overlap with compute");
    v.group(
        "overlap", t.overlap, [](auto& s, auto& w) { overlap_fields(s, w); }, Presence::always);
    heading(v, "Uneven ranks");
    words(v, "spread between ranks", "none");
    v.number("straggler_cv", t.straggler_cv, {0, 10}, Presence::always);
    heading(v, "Software");
    v.choice("software", t.software, Presence::sparse);
    heading(v, "Offload to host memory");
    v.group(
        "offload", t.offload, [](auto& s, auto& w) { offload_fields(s, w); }, Presence::sparse);
    heading(v, "The whole run");
    words(v, "tokens of the whole run", "unknown");
    v.number("tokens_total", t.tokens_total, {0, 1e18}, Presence::sparse);
    words(v, "time to write a checkpoint", "unknown");
    v.number("checkpoint_s", t.checkpoint_s, {0, 1e6}, Presence::sparse);
    heading(v, "Buffers");
    v.group(
        "buffers", t.buffers, [](auto& s, auto& w) { buffers_fields(s, w); }, Presence::sparse);
    heading(v, "Map");
    words(v, "an axis is costly from", "as usual");
    v.number("costly_share", t.costly_share, {0, 1}, Presence::sparse);
}

}  // namespace pentamesh
