#include "core/plan/problem.h"

#include <array>

namespace pentamesh {
namespace {

struct CodeRow {
    ProblemCode code;
    std::string_view name;
};
namespace code_table {  // the enumerators' bare names stay in here

using enum ProblemCode;
constexpr std::array kCodes{
    CodeRow{batch_does_not_divide, "batch-does-not-divide"},
    CodeRow{below_one, "below-one"},
    CodeRow{bubble_too_large, "bubble-too-large"},
    CodeRow{cluster_too_large, "cluster-too-large"},
    CodeRow{compute_type_unsupported, "compute-type-unsupported"},
    CodeRow{cp_inner, "cp-inner"},
    CodeRow{deepep_domain, "deepep-domain"},
    CodeRow{ep_experts, "ep-experts"},
    CodeRow{ep_kernel_rate, "ep-kernel-rate"},
    CodeRow{ep_spans_nodes, "ep-spans-nodes"},
    CodeRow{ep_without_experts, "ep-without-experts"},
    CodeRow{etp_cuts_small_experts, "etp-cuts-small-experts"},
    CodeRow{etp_ffn, "etp-ffn"},
    CodeRow{expert_mesh_does_not_fold, "expert-mesh-does-not-fold"},
    CodeRow{experts_copied, "experts-copied"},
    CodeRow{fp32_as_tf32, "fp32-as-tf32"},
    CodeRow{fsdp_many_ranks, "fsdp-many-ranks"},
    CodeRow{gradient_reduction, "gradient-reduction"},
    CodeRow{hsdp_keeps_shards_inside, "hsdp-keeps-shards-inside"},
    CodeRow{imbalance_below_one, "imbalance-below-one"},
    CodeRow{indexer_not_modelled, "indexer-not-modelled"},
    CodeRow{kv_heads, "kv-heads"},
    CodeRow{layer_kinds, "layer-kinds"},
    CodeRow{leftover_replicas, "leftover-replicas"},
    CodeRow{linear_sizes, "linear-sizes"},
    CodeRow{mamba_sizes, "mamba-sizes"},
    CodeRow{megatron_ep_overlap, "megatron-ep-overlap"},
    CodeRow{megatron_expert_order, "megatron-expert-order"},
    CodeRow{megatron_fsdp_optimizer, "megatron-fsdp-optimizer"},
    CodeRow{megatron_moe_needs_sp, "megatron-moe-needs-sp"},
    CodeRow{megatron_offload, "megatron-offload"},
    CodeRow{megatron_p2p_overlap, "megatron-p2p-overlap"},
    CodeRow{megatron_positions, "megatron-positions"},
    CodeRow{megatron_tp_overlap, "megatron-tp-overlap"},
    CodeRow{memory_does_not_fit, "memory-does-not-fit"},
    CodeRow{memory_nearly_full, "memory-nearly-full"},
    CodeRow{mla_qkv_bias, "mla-qkv-bias"},
    CodeRow{mtp_chunk, "mtp-chunk"},
    CodeRow{mtp_message, "mtp-message"},
    CodeRow{negative_variation, "negative-variation"},
    CodeRow{no_such_reduction, "no-such-reduction"},
    CodeRow{no_time, "no-time"},
    CodeRow{number_not_exact, "number-not-exact"},
    CodeRow{number_too_large, "number-too-large"},
    CodeRow{offload_needs_zero_3, "offload-needs-zero-3"},
    CodeRow{offload_time, "offload-time"},
    CodeRow{order_not_a_permutation, "order-not-a-permutation"},
    CodeRow{order_puts_chatty_axis_outside, "order-puts-chatty-axis-outside"},
    CodeRow{out_of_memory, "out-of-memory"},
    CodeRow{overlap_off, "overlap-off"},
    CodeRow{pattern_linear, "pattern-linear"},
    CodeRow{pattern_mamba, "pattern-mamba"},
    CodeRow{pattern_moe, "pattern-moe"},
    CodeRow{pattern_window, "pattern-window"},
    CodeRow{pipeline_groups_differ, "pipeline-groups-differ"},
    CodeRow{pp_exceeds_layers, "pp-exceeds-layers"},
    CodeRow{pp_with_zero3, "pp-with-zero3"},
    CodeRow{recompute_launches, "recompute-launches"},
    CodeRow{recompute_module_missing, "recompute-module-missing"},
    CodeRow{recompute_not_needed, "recompute-not-needed"},
    CodeRow{reshard_without_zero_3, "reshard-without-zero-3"},
    CodeRow{scan_context_parallel, "scan-context-parallel"},
    CodeRow{scan_not_measured, "scan-not-measured"},
    CodeRow{schedule_refuses, "schedule-refuses"},
    CodeRow{selective_scan, "selective-scan"},
    CodeRow{sequence_does_not_divide, "sequence-does-not-divide"},
    CodeRow{sequence_exceeds_positions, "sequence-exceeds-positions"},
    CodeRow{sequence_parallel_off, "sequence-parallel-off"},
    CodeRow{shard_axis_without_zero, "shard-axis-without-zero"},
    CodeRow{software_cp_comm, "software-cp-comm"},
    CodeRow{software_ep, "software-ep"},
    CodeRow{software_etp, "software-etp"},
    CodeRow{software_kv_heads, "software-kv-heads"},
    CodeRow{software_order, "software-order"},
    CodeRow{software_recompute, "software-recompute"},
    CodeRow{software_replicas, "software-replicas"},
    CodeRow{software_reshard, "software-reshard"},
    CodeRow{software_schedule, "software-schedule"},
    CodeRow{software_sequence_parallel, "software-sequence-parallel"},
    CodeRow{software_stages, "software-stages"},
    CodeRow{software_zero, "software-zero"},
    CodeRow{stage_layers, "stage-layers"},
    CodeRow{stages_uneven, "stages-uneven"},
    CodeRow{straggler_tax, "straggler-tax"},
    CodeRow{tiers_do_not_nest, "tiers-do-not-nest"},
    CodeRow{too_many_chunks, "too-many-chunks"},
    CodeRow{too_many_microbatches, "too-many-microbatches"},
    CodeRow{top_k_exceeds_experts, "top-k-exceeds-experts"},
    CodeRow{torchtitan_ep, "torchtitan-ep"},
    CodeRow{torchtitan_kv_heads, "torchtitan-kv-heads"},
    CodeRow{torchtitan_no_etp, "torchtitan-no-etp"},
    CodeRow{tp_ffn, "tp-ffn"},
    CodeRow{tp_heads, "tp-heads"},
    CodeRow{tp_kv_heads, "tp-kv-heads"},
    CodeRow{tp_layers, "tp-layers"},
    CodeRow{tp_spans_nodes, "tp-spans-nodes"},
    CodeRow{ulysses_heads, "ulysses-heads"},
    CodeRow{uneven_stages, "uneven-stages"},
    CodeRow{vocab_padded, "vocab-padded"},
    CodeRow{weight_shards, "weight-shards"},
    CodeRow{weight_shards_not_counted, "weight-shards-not-counted"},
    CodeRow{window_context_parallel, "window-context-parallel"},
    CodeRow{world_differs_from_gpus, "world-differs-from-gpus"},
    CodeRow{zero_out_of_range, "zero-out-of-range"},
    CodeRow{zero_refused, "zero-refused"},
};
}  // namespace code_table
using code_table::kCodes;

static_assert(kCodes.size() == kEnumCount<ProblemCode>);

constexpr bool in_order() {
    for (std::size_t i = 0; i < kCodes.size(); ++i) {
        if (kCodes[i].code != static_cast<ProblemCode>(i)) return false;
        if (i > 0 && kCodes[i - 1].name >= kCodes[i].name) return false;
    }
    return true;
}
static_assert(in_order(), "a row stands at another enumerator's place, or the names are not in order");

}  // namespace

std::string_view name_of(ProblemCode code) {
    return kCodes[static_cast<std::size_t>(code)].name;
}

}  // namespace pentamesh
