// A Problem says what is wrong with a plan or could be better, and the edit that mends it.
#pragma once

#include "core/base/enum_array.h"
#include "core/plan/names.h"
#include "core/plan/plan.h"

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

// Says which rule it is, in the order of the names. A search gives some of its layouts: out_of_memory does
// not leave the headroom that is asked for, no_time has no step time, software_* is nothing that the plan's
// software runs.
enum class ProblemCode : std::uint8_t {
    batch_does_not_divide,
    below_one,
    bubble_too_large,
    cluster_too_large,
    compute_type_unsupported,
    cp_inner,
    deepep_domain,
    deepep_ranks,
    ep_experts,
    ep_kernel_rate,
    ep_spans_nodes,
    ep_without_experts,
    etp_cuts_small_experts,
    etp_ffn,
    expert_mesh_does_not_fold,
    experts_copied,
    fp32_as_tf32,
    fsdp_many_ranks,
    gradient_reduction,
    hsdp_keeps_shards_inside,
    imbalance_below_one,
    indexer_not_modelled,
    kv_heads,
    layer_kinds,
    leftover_replicas,
    linear_sizes,
    mamba_sizes,
    megatron_ep_overlap,
    megatron_expert_order,
    megatron_fsdp_optimizer,
    megatron_moe_needs_sp,
    megatron_offload,
    megatron_p2p_overlap,
    megatron_positions,
    megatron_tp_overlap,
    memory_does_not_fit,
    memory_nearly_full,
    mla_qkv_bias,
    mtp_chunk,
    mtp_message,
    negative_variation,
    no_such_reduction,
    no_time,
    number_not_exact,
    number_too_large,
    offload_needs_zero_3,
    offload_time,
    order_not_a_permutation,
    order_puts_chatty_axis_outside,
    out_of_memory,
    overlap_off,
    pattern_linear,
    pattern_mamba,
    pattern_moe,
    pattern_window,
    pipeline_groups_differ,
    pp_exceeds_layers,
    pp_with_zero3,
    recompute_launches,
    recompute_module_missing,
    recompute_not_needed,
    reshard_without_zero_3,
    scan_context_parallel,
    scan_not_measured,
    schedule_refuses,
    selective_scan,
    sequence_does_not_divide,
    sequence_exceeds_positions,
    sequence_parallel_off,
    shard_axis_without_zero,
    software_cp_comm,
    software_ep,
    software_etp,
    software_kv_heads,
    software_order,
    software_recompute,
    software_replicas,
    software_reshard,
    software_schedule,
    software_sequence_parallel,
    software_stages,
    software_zero,
    stage_layers,
    stages_uneven,
    straggler_tax,
    tiers_do_not_nest,
    too_many_chunks,
    too_many_microbatches,
    top_k_exceeds_experts,
    torchtitan_ep,
    tp_ffn,
    tp_heads,
    tp_kv_heads,
    tp_layers,
    tp_spans_nodes,
    ulysses_heads,
    uneven_stages,
    vocab_padded,
    weight_shards,
    weight_shards_not_counted,
    window_context_parallel,
    world_differs_from_gpus,
    zero_out_of_range,
    zero_refused
};
template <>
inline constexpr std::size_t kEnumCount<ProblemCode> = 104;
[[nodiscard]] std::string_view name_of(ProblemCode code);   // "tp-spans-nodes"
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
    std::string message;    // a sentence with the numbers in it
    std::string pointer;    // the field it is about, "/layout/tp"
    std::vector<Edit> fix;  // the smallest edit that mends it; empty: none is known
    // Says where the words about the fix stand in the message; none where it has no such words.
    struct Words {
        std::size_t from = 0, to = 0;
        bool operator==(const Words&) const = default;
    };
    Words fix_words = {};
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
