#include "core/plan/problem.h"

#include <array>

namespace pentamesh {
namespace {

struct CodeRow {
    ProblemCode code;
    std::string_view name, title, reason{};
};
namespace code_table {  // the enumerators' bare names stay in here

using enum ProblemCode;
constexpr std::array kCodes{
    CodeRow{batch_does_not_divide, "batch-does-not-divide", "The batch does not divide",
            "do not divide the batch"},
    CodeRow{below_one, "below-one", "A number must be at least 1", "have a number below 1"},
    CodeRow{bubble_too_large, "bubble-too-large", "Large pipeline bubble"},
    CodeRow{cluster_too_large, "cluster-too-large", "The cluster is too large", "have too many GPUs"},
    CodeRow{compute_type_unsupported, "compute-type-unsupported", "The GPU lacks this compute type",
            "compute in a type that the GPU lacks"},
    CodeRow{cp_inner, "cp-inner", "cp_inner does not divide cp"},
    CodeRow{deepep_domain, "deepep-domain", "DeepEP does not fit this domain"},
    CodeRow{deepep_ranks, "deepep-ranks", "DeepEP does not take this many ranks",
            "exchange tokens among more ranks than DeepEP takes"},
    CodeRow{ep_experts, "ep-experts", "ep does not divide the experts", "do not divide the experts by ep"},
    CodeRow{ep_kernel_rate, "ep-kernel-rate", "The ep kernel's rate is an estimate"},
    CodeRow{ep_spans_nodes, "ep-spans-nodes", "ep crosses nodes"},
    CodeRow{ep_without_experts, "ep-without-experts", "ep needs a model with experts",
            "have ep, but no experts"},
    CodeRow{etp_cuts_small_experts, "etp-cuts-small-experts", "etp cuts small experts"},
    CodeRow{etp_ffn, "etp-ffn", "etp does not divide the experts", "do not divide an expert's width by etp"},
    CodeRow{expert_mesh_does_not_fold, "expert-mesh-does-not-fold", "The expert mesh does not fold",
            "have an expert mesh that does not fold"},
    CodeRow{experts_copied, "experts-copied", "Experts are copied, not dealt out"},
    CodeRow{fp32_as_tf32, "fp32-as-tf32", "fp32 is timed as tf32"},
    CodeRow{fsdp_many_ranks, "fsdp-many-ranks", "FSDP over many ranks"},
    CodeRow{gradient_reduction, "gradient-reduction", "gradient_reduction is not possible here",
            "reduce gradients at a time that ZeRO's stage rules out"},
    CodeRow{hsdp_keeps_shards_inside, "hsdp-keeps-shards-inside", "HSDP would keep shards on a faster wire"},
    CodeRow{imbalance_below_one, "imbalance-below-one", "The router's imbalance is below 1",
            "have an imbalance below 1"},
    CodeRow{indexer_not_modelled, "indexer-not-modelled", "The indexer is not counted"},
    CodeRow{kv_heads, "kv-heads", "The heads do not share kv heads evenly",
            "do not share key-value heads evenly"},
    CodeRow{layer_kinds, "layer-kinds", "The pattern has too many kinds of layers",
            "have too many kinds of layers"},
    CodeRow{leftover_replicas, "leftover-replicas", "The rest of the GPUs are replicas"},
    CodeRow{linear_sizes, "linear-sizes", "Sizes of linear attention are missing",
            "lack sizes of linear attention"},
    CodeRow{mamba_sizes, "mamba-sizes", "Sizes of Mamba are missing", "lack sizes of Mamba layers"},
    CodeRow{megatron_ep_overlap, "megatron-ep-overlap", "Megatron cannot overlap ep here",
            "overlap ep where Megatron refuses it"},
    CodeRow{megatron_expert_order, "megatron-expert-order", "Megatron refuses this order",
            "have an order that Megatron refuses"},
    CodeRow{megatron_fsdp_optimizer, "megatron-fsdp-optimizer", "Megatron-FSDP lacks this optimizer",
            "have an optimizer that Megatron-FSDP lacks"},
    CodeRow{megatron_moe_needs_sp, "megatron-moe-needs-sp", "Megatron's MoE needs sequence parallelism",
            "lack the sequence parallelism that Megatron's experts need"},
    CodeRow{megatron_offload, "megatron-offload", "Megatron cannot offload this"},
    CodeRow{megatron_p2p_overlap, "megatron-p2p-overlap", "Megatron cannot overlap pp here",
            "lack the overlap of pp that Megatron wants"},
    CodeRow{megatron_positions, "megatron-positions", "Megatron has fewer positions"},
    CodeRow{megatron_tp_overlap, "megatron-tp-overlap", "Megatron cannot overlap tp here",
            "overlap tp without sequence parallelism"},
    CodeRow{memory_does_not_fit, "memory-does-not-fit", "Does not fit in memory"},
    CodeRow{memory_nearly_full, "memory-nearly-full", "Memory is nearly full"},
    CodeRow{mla_qkv_bias, "mla-qkv-bias", "qkv_bias does nothing here"},
    CodeRow{mtp_chunk, "mtp-chunk", "The MTP layer's chunk is not there",
            "put prediction layers into a wrong chunk"},
    CodeRow{mtp_message, "mtp-message", "The MTP messages are not counted"},
    CodeRow{negative_variation, "negative-variation", "A variation is below 0", "have a variation below 0"},
    CodeRow{no_such_reduction, "no-such-reduction", "The software lacks this reduction",
            "reduce gradients at a time that the software does not"},
    CodeRow{no_time, "no-time", "No step time can be computed", "have no step time"},
    CodeRow{number_not_exact, "number-not-exact", "A number is too large to be exact"},
    CodeRow{number_too_large, "number-too-large", "A number is too large",
            "have figures beyond what is counted"},
    CodeRow{offload_needs_zero_3, "offload-needs-zero-3", "This offload needs ZeRO-3",
            "offload parameters without ZeRO-3"},
    CodeRow{offload_time, "offload-time", "Offload may take time that is not counted"},
    CodeRow{order_not_a_permutation, "order-not-a-permutation", "The order must name each axis once",
            "have an order that lacks an axis"},
    CodeRow{order_puts_chatty_axis_outside, "order-puts-chatty-axis-outside", "A chatty axis is outside"},
    CodeRow{out_of_memory, "out-of-memory", "Not enough memory", "do not fit"},
    CodeRow{overlap_off, "overlap-off", "An overlap is off"},
    CodeRow{pattern_linear, "pattern-linear", "The pattern needs linear attention",
            "lack sizes of linear layers"},
    CodeRow{pattern_mamba, "pattern-mamba", "The pattern needs Mamba", "lack sizes of Mamba layers"},
    CodeRow{pattern_moe, "pattern-moe", "The pattern needs experts", "lack sizes of MoE layers"},
    CodeRow{pattern_window, "pattern-window", "The pattern needs a window", "lack the width of the window"},
    CodeRow{pipeline_groups_differ, "pipeline-groups-differ", "The pipeline's groups differ",
            "have other pipeline groups for experts"},
    CodeRow{pp_exceeds_layers, "pp-exceeds-layers", "pp is more than the layers",
            "have more chunks than layers"},
    CodeRow{pp_with_zero3, "pp-with-zero3", "ZeRO-3 in a pipeline is costly"},
    CodeRow{recompute_launches, "recompute-launches", "Recomputation repeats kernel starts"},
    CodeRow{recompute_module_missing, "recompute-module-missing", "A recomputed module is not there"},
    CodeRow{recompute_not_needed, "recompute-not-needed", "Recomputation is not needed"},
    CodeRow{reshard_without_zero_3, "reshard-without-zero-3", "reshard needs ZeRO-3"},
    CodeRow{scan_context_parallel, "scan-context-parallel", "cp exchanges heads around each scan"},
    CodeRow{scan_not_measured, "scan-not-measured", "The scan's time is an estimate"},
    CodeRow{schedule_refuses, "schedule-refuses", "The schedule refuses these numbers",
            "break a rule of their schedule"},
    CodeRow{selective_scan, "selective-scan", "The scan's time is an estimate"},
    CodeRow{sequence_does_not_divide, "sequence-does-not-divide", "The sequence does not divide",
            "do not divide the sequence"},
    CodeRow{sequence_exceeds_positions, "sequence-exceeds-positions",
            "The sequence is longer than the positions", "have longer sequences than positions"},
    CodeRow{sequence_parallel_off, "sequence-parallel-off", "Sequence parallelism is off"},
    CodeRow{shard_axis_without_zero, "shard-axis-without-zero", "dp_shard without ZeRO"},
    CodeRow{software_cp_comm, "software-cp-comm", "The software lacks this cp exchange",
            "have a context parallelism that the software lacks"},
    CodeRow{software_ep, "software-ep", "The software lacks this ep",
            "have an ep that the software does not run"},
    CodeRow{software_etp, "software-etp", "The software lacks this etp",
            "cut experts in a way that the software does not"},
    CodeRow{software_kv_heads, "software-kv-heads", "The software cannot cut these kv heads",
            "have more tp than the software takes with these heads"},
    CodeRow{software_order, "software-order", "The software lacks this order",
            "have an order that the software lacks"},
    CodeRow{software_recompute, "software-recompute", "The software recomputes otherwise",
            "recompute what the software does not"},
    CodeRow{software_replicas, "software-replicas", "The software lacks these replicas",
            "replicate where the software does not"},
    CodeRow{software_reshard, "software-reshard", "The software lacks this reshard",
            "keep gathered parameters, which the software lets go"},
    CodeRow{software_schedule, "software-schedule", "The software lacks this schedule",
            "have a schedule that the software lacks"},
    CodeRow{software_sequence_parallel, "software-sequence-parallel",
            "The software lacks sequence parallelism", "have sequence parallelism, which the software lacks"},
    CodeRow{software_stages, "software-stages", "The software lacks these stages",
            "have uneven stages, which the software does not build"},
    CodeRow{software_zero, "software-zero", "The software lacks this ZeRO stage",
            "have ZeRO that the software lacks"},
    CodeRow{stage_layers, "stage-layers", "The stages' layers do not add up",
            "have stages whose layers do not add up"},
    CodeRow{stages_uneven, "stages-uneven", "The stages are uneven"},
    CodeRow{straggler_tax, "straggler-tax", "Slow GPUs hold up the others"},
    CodeRow{tiers_do_not_nest, "tiers-do-not-nest", "The tiers do not nest"},
    CodeRow{too_many_chunks, "too-many-chunks", "Too many chunks", "have too many chunks"},
    CodeRow{too_many_microbatches, "too-many-microbatches", "Too many micro-batches",
            "have too many micro-batches"},
    CodeRow{top_k_exceeds_experts, "top-k-exceeds-experts", "top_k is more than the experts",
            "use more experts than there are"},
    CodeRow{torchtitan_ep, "torchtitan-ep", "torchtitan lacks this ep",
            "have an ep that torchtitan cannot take out of its mesh"},
    CodeRow{tp_ffn, "tp-ffn", "tp does not divide the MLP", "do not divide the MLP's width by tp"},
    CodeRow{tp_heads, "tp-heads", "tp does not divide the heads", "do not divide the heads by tp"},
    CodeRow{tp_kv_heads, "tp-kv-heads", "tp is more than the kv heads",
            "do not share key-value heads evenly over tp"},
    CodeRow{tp_layers, "tp-layers", "tp does not divide some layers", "do not divide some layers by tp"},
    CodeRow{tp_spans_nodes, "tp-spans-nodes", "tp crosses nodes"},
    CodeRow{ulysses_heads, "ulysses-heads", "cp does not divide the heads",
            "do not divide the heads by tp × cp"},
    CodeRow{uneven_stages, "uneven-stages", "The layers do not divide evenly"},
    CodeRow{vocab_padded, "vocab-padded", "The vocabulary is padded"},
    CodeRow{weight_shards, "weight-shards", "weight_shards does not divide",
            "have weight_shards that do not divide the ranks"},
    CodeRow{weight_shards_not_counted, "weight-shards-not-counted", "Weight shards are not counted"},
    CodeRow{window_context_parallel, "window-context-parallel", "Windowed layers exchange all keys"},
    CodeRow{world_differs_from_gpus, "world-differs-from-gpus", "The factors do not fill the GPUs",
            "do not fill the cluster"},
    CodeRow{zero_out_of_range, "zero-out-of-range", "ZeRO has stages 0 to 3",
            "have a ZeRO stage that there is not"},
    CodeRow{zero_refused, "zero-refused", "The software refuses this ZeRO stage"},
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

void Problem::drop_fix() {
    message.erase(fix_words.from, fix_words.to - fix_words.from);
    fix_words = {};
    fix.clear();
}

std::string_view name_of(ProblemCode code) {
    return kCodes[static_cast<std::size_t>(code)].name;
}

std::string_view title_of(ProblemCode code) {
    return kCodes[static_cast<std::size_t>(code)].title;
}

std::string_view reason_words(ProblemCode code) {
    const std::string_view reason = kCodes[static_cast<std::size_t>(code)].reason;
    return reason.empty() ? name_of(code) : reason;
}

}  // namespace pentamesh
