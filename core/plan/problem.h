// A Problem says what is wrong with a plan or could be better, and the edit that mends it.
#pragma once

#include "core/base/containers.h"
#include "core/plan/names.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pentamesh {

enum class Severity : std::uint8_t { error, warning, info };
template <>
inline constexpr std::array<std::string_view, 3> kNames<Severity>{"error", "warning", "info"};
static_assert(kNames<Severity>.size() == static_cast<std::size_t>(Severity::info) + 1);

// Says whose rule it is: arithmetic cannot be argued with, a framework's rule binds its users only.
enum class Rule : std::uint8_t { arithmetic, megatron, torchtitan, schedule, hardware, advice };
template <>
inline constexpr std::array<std::string_view, 6> kNames<Rule>{"arithmetic", "megatron", "torchtitan",
                                                              "schedule",   "hardware", "advice"};
static_assert(kNames<Rule>.size() == static_cast<std::size_t>(Rule::advice) + 1);

// Lists the rules in the order of their names: enumerator, title, and the words that follow "layouts that"
// where a search left them out. A search gives some of its layouts: out_of_memory does not leave the headroom
// that is asked for, no_time has no step time, software_* is nothing that the plan's software runs.
#define PENTAMESH_PROBLEMS(T)                                                                                \
    T(batch_does_not_divide, "The batch does not divide", "do not divide the batch")                         \
    T(below_one, "A number must be at least 1", "have a number below 1")                                     \
    T(bubble_too_large, "Large pipeline bubble")                                                             \
    T(cluster_too_large, "The cluster is too large", "have too many GPUs")                                   \
    T(compressed_cp, "cp is not known for compressed keys",                                                  \
      "have a cp that is not known for compressed keys")                                                     \
    T(compressed_not_measured, "Compressed attention is an estimate")                                        \
    T(compressed_tp, "tp cannot cut this attention", "cut attention over compressed keys by tp")             \
    T(compute_type_unsupported, "The GPU lacks this compute type", "compute in a type that the GPU lacks")   \
    T(cp_inner, "cp_inner does not divide cp")                                                               \
    T(deepep_domain, "DeepEP does not fit this domain")                                                      \
    T(deepep_ranks, "DeepEP does not take this many ranks",                                                  \
      "exchange tokens among more ranks than DeepEP takes")                                                  \
    T(ep_experts, "ep does not divide the experts", "do not divide the experts by ep")                       \
    T(ep_kernel_rate, "The ep kernel's rate is an estimate")                                                 \
    T(ep_spans_nodes, "ep crosses nodes")                                                                    \
    T(ep_without_experts, "ep needs a model with experts", "have ep, but no experts")                        \
    T(etp_cuts_small_experts, "etp cuts small experts")                                                      \
    T(etp_ffn, "etp does not divide the experts", "do not divide an expert's width by etp")                  \
    T(expert_mesh_does_not_fold, "The expert mesh does not fold", "have an expert mesh that does not fold")  \
    T(experts_copied, "Experts are copied, not dealt out")                                                   \
    T(fp32_as_tf32, "fp32 is timed as tf32")                                                                 \
    T(fsdp_many_ranks, "FSDP over many ranks")                                                               \
    T(gradient_reduction, "gradient_reduction is not possible here",                                         \
      "reduce gradients at a time that ZeRO's stage rules out")                                              \
    T(hsdp_keeps_shards_inside, "HSDP would keep shards on a faster wire")                                   \
    T(hyper_not_measured, "Hyper-connections are an estimate")                                               \
    T(imbalance_below_one, "The router's imbalance is below 1", "have an imbalance below 1")                 \
    T(indexer_not_modelled, "The indexer is not counted")                                                    \
    T(kv_heads, "The heads do not share kv heads evenly", "do not share key-value heads evenly")             \
    T(layer_kinds, "The pattern has too many kinds of layers", "have too many kinds of layers")              \
    T(leftover_replicas, "The rest of the GPUs are replicas")                                                \
    T(linear_sizes, "Sizes of linear attention are missing", "lack sizes of linear attention")               \
    T(mamba_sizes, "Sizes of Mamba are missing", "lack sizes of Mamba layers")                               \
    T(megatron_ep_overlap, "Megatron cannot overlap ep here", "overlap ep where Megatron refuses it")        \
    T(megatron_expert_order, "Megatron refuses this order", "have an order that Megatron refuses")           \
    T(megatron_fsdp_optimizer, "Megatron-FSDP lacks this optimizer",                                         \
      "have an optimizer that Megatron-FSDP lacks")                                                          \
    T(megatron_moe_needs_sp, "Megatron's MoE needs sequence parallelism",                                    \
      "lack the sequence parallelism that Megatron's experts need")                                          \
    T(megatron_offload, "Megatron cannot offload this")                                                      \
    T(megatron_p2p_overlap, "Megatron cannot overlap pp here", "lack the overlap of pp that Megatron wants") \
    T(megatron_positions, "Megatron has fewer positions")                                                    \
    T(megatron_tp_overlap, "Megatron cannot overlap tp here", "overlap tp without sequence parallelism")     \
    T(memory_does_not_fit, "Does not fit in memory")                                                         \
    T(memory_nearly_full, "Memory may not suffice")                                                          \
    T(mla_qkv_bias, "qkv_bias does nothing here")                                                            \
    T(mtp_chunk, "The MTP layer's chunk is not there", "put prediction layers into a wrong chunk")           \
    T(mtp_message, "The MTP messages are not counted")                                                       \
    T(negative_variation, "A variation is below 0", "have a variation below 0")                              \
    T(no_such_reduction, "The software lacks this reduction",                                                \
      "reduce gradients at a time that the software does not")                                               \
    T(no_time, "No step time can be computed", "have no step time")                                          \
    T(number_not_exact, "A number is too large to be exact")                                                 \
    T(number_too_large, "A number is too large", "have figures beyond what is counted")                      \
    T(offload_needs_zero_3, "This offload needs ZeRO-3", "offload parameters without ZeRO-3")                \
    T(offload_time, "Offload may take time that is not counted")                                             \
    T(order_not_a_permutation, "The order must name each axis once", "have an order that lacks an axis")     \
    T(order_puts_chatty_axis_outside, "A chatty axis is outside")                                            \
    T(out_of_memory, "Not enough memory", "do not fit")                                                      \
    T(overlap_off, "An overlap is off")                                                                      \
    T(pattern_linear, "The pattern needs linear attention", "lack sizes of linear layers")                   \
    T(pattern_mamba, "The pattern needs Mamba", "lack sizes of Mamba layers")                                \
    T(pattern_moe, "The pattern needs experts", "lack sizes of MoE layers")                                  \
    T(pattern_window, "The pattern needs a window", "lack the width of the window")                          \
    T(pipeline_groups_differ, "The pipeline's groups differ", "have other pipeline groups for experts")      \
    T(pp_exceeds_layers, "pp is more than the layers", "have more chunks than layers")                       \
    T(pp_with_zero3, "ZeRO-3 in a pipeline is costly")                                                       \
    T(recompute_launches, "Recomputation repeats kernel starts")                                             \
    T(recompute_module_missing, "A recomputed module is not there")                                          \
    T(recompute_not_needed, "Recomputation is not needed")                                                   \
    T(reshard_without_zero_3, "reshard needs ZeRO-3")                                                        \
    T(scan_context_parallel, "cp exchanges heads around each scan")                                          \
    T(scan_not_measured, "The scan's time is an estimate")                                                   \
    T(schedule_refuses, "The schedule refuses these numbers", "break a rule of their schedule")              \
    T(selective_scan, "The scan's time is an estimate")                                                      \
    T(sequence_does_not_divide, "The sequence does not divide", "do not divide the sequence")                \
    T(sequence_exceeds_positions, "The sequence is longer than the positions",                               \
      "have longer sequences than positions")                                                                \
    T(sequence_parallel_off, "Sequence parallelism is off")                                                  \
    T(shard_axis_without_zero, "dp_shard without ZeRO")                                                      \
    T(software_cp_comm, "The software lacks this cp exchange",                                               \
      "have a context parallelism that the software lacks")                                                  \
    T(software_ep, "The software lacks this ep", "have an ep that the software does not run")                \
    T(software_etp, "The software lacks this etp", "cut experts in a way that the software does not")        \
    T(software_kv_heads, "The software cannot cut these kv heads",                                           \
      "have more tp than the software takes with these heads")                                               \
    T(software_order, "The software lacks this order", "have an order that the software lacks")              \
    T(software_recompute, "The software recomputes otherwise", "recompute what the software does not")       \
    T(software_replicas, "The software lacks these replicas", "replicate where the software does not")       \
    T(software_reshard, "The software lacks this reshard",                                                   \
      "keep gathered parameters, which the software lets go")                                                \
    T(software_schedule, "The software lacks this schedule", "have a schedule that the software lacks")      \
    T(software_sequence_parallel, "The software lacks sequence parallelism",                                 \
      "have sequence parallelism, which the software lacks")                                                 \
    T(software_stages, "The software lacks these stages",                                                    \
      "have uneven stages, which the software does not build")                                               \
    T(software_tied, "The software refuses pp with a tied head",                                             \
      "have a pipeline, which the software refuses with tied embeddings")                                    \
    T(software_zero, "The software lacks this ZeRO stage", "have ZeRO that the software lacks")              \
    T(stage_layers, "The stages' layers do not add up", "have stages whose layers do not add up")            \
    T(stages_uneven, "The stages are uneven")                                                                \
    T(straggler_tax, "Slow GPUs hold up the others")                                                         \
    T(tiers_do_not_nest, "The tiers do not nest")                                                            \
    T(too_many_chunks, "Too many chunks", "have too many chunks")                                            \
    T(too_many_microbatches, "Too many micro-batches", "have too many micro-batches")                        \
    T(top_k_exceeds_experts, "top_k is more than the experts", "use more experts than there are")            \
    T(torchtitan_ep, "torchtitan lacks this ep", "have an ep that torchtitan cannot take out of its mesh")   \
    T(tp_ffn, "tp does not divide the MLP", "do not divide the MLP's width by tp")                           \
    T(tp_heads, "tp does not divide the heads", "do not divide the heads by tp")                             \
    T(tp_kv_heads, "tp is more than the kv heads", "do not share key-value heads evenly over tp")            \
    T(tp_layers, "tp does not divide some layers", "do not divide some layers by tp")                        \
    T(tp_spans_nodes, "tp crosses nodes")                                                                    \
    T(ulysses_heads, "cp does not divide the heads", "do not divide the heads by tp × cp")                   \
    T(uneven_stages, "The layers do not divide evenly")                                                      \
    T(vocab_padded, "The vocabulary is padded")                                                              \
    T(weight_shards, "weight_shards does not divide", "have weight_shards that do not divide the ranks")     \
    T(weight_shards_not_counted, "Weight shards are not counted")                                            \
    T(weight_shards_outside, "Weight shards lie elsewhere in Megatron")                                      \
    T(window_context_parallel, "Windowed layers exchange all keys")                                          \
    T(world_differs_from_gpus, "The factors do not fill the GPUs", "do not fill the cluster")                \
    T(zero_out_of_range, "ZeRO has stages 0 to 3", "have a ZeRO stage that there is not")                    \
    T(zero_refused, "The software refuses this ZeRO stage")

enum class ProblemCode : std::uint8_t { PENTAMESH_PROBLEMS(PENTAMESH_ENUMERATOR) };
template <>
inline constexpr std::size_t kEnumCount<ProblemCode> = PENTAMESH_PROBLEMS(PENTAMESH_ONE_MORE);
[[nodiscard]] std::string_view name_of(ProblemCode code);   // "tp-spans-nodes": as the enumerator
[[nodiscard]] std::string_view title_of(ProblemCode code);  // "tp crosses nodes", for one line of a list
// Returns the words that follow "layouts that" where a search left them out: "do not fit". They are the
// code's name where no search can meet it.
[[nodiscard]] std::string_view reason_words(ProblemCode code);

// This is one operation of a JSON Patch (RFC 6902) on the plan: op is always "replace" ("add" where the key
// is absent).
using EditValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::string>,
                               std::vector<std::int64_t>>;
struct Edit {
    std::string path;  // JSON pointer, "/layout/tp"
    EditValue value;
    bool operator==(const Edit&) const = default;
};

struct Problem {
    Severity severity = Severity::error;
    Rule rule = Rule::arithmetic;
    ProblemCode code = ProblemCode::below_one;
    std::string message;    // what is wrong: a sentence with the numbers in it
    std::string pointer;    // the field it is about, "/layout/tp"
    std::vector<Edit> fix;  // the smallest edit that mends it; empty: none is known
    std::string help = {};  // what would help and what that gives, in sentences; empty: nothing is said of it
    // Returns both texts, as a person reads them.
    [[nodiscard]] std::string said() const { return help.empty() ? message : message + " " + help; }
    // Takes the fix out, and the words about it.
    void drop_fix();
    bool operator==(const Problem&) const = default;
};

// Returns the sentence of the first error, or "".
[[nodiscard]] inline std::string first_error(const std::vector<Problem>& problems) {
    for (const Problem& p : problems)
        if (p.severity == Severity::error) return p.message;
    return {};
}

}  // namespace pentamesh
