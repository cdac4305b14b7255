#include "core/decide/reason_words.h"

#include <algorithm>
#include <array>

namespace pentamesh {
namespace {

struct ReasonRow {
    ProblemCode code;
    std::string_view words;
};
namespace reason_table {  // the enumerators' bare names stay in here

using enum ProblemCode;
constexpr std::array kReasons{
    ReasonRow{batch_does_not_divide, "do not divide the batch"},
    ReasonRow{below_one, "have a number below 1"},
    ReasonRow{cluster_too_large, "have too many GPUs"},
    ReasonRow{compute_type_unsupported, "compute in a type that the GPU lacks"},
    ReasonRow{ep_experts, "do not divide the experts by ep"},
    ReasonRow{ep_without_experts, "have ep, but no experts"},
    ReasonRow{etp_ffn, "do not divide an expert's width by etp"},
    ReasonRow{expert_mesh_does_not_fold, "have an expert mesh that does not fold"},
    ReasonRow{gradient_reduction, "reduce gradients at a time that ZeRO's stage rules out"},
    ReasonRow{imbalance_below_one, "have an imbalance below 1"},
    ReasonRow{kv_heads, "do not share key-value heads evenly"},
    ReasonRow{layer_kinds, "have too many kinds of layers"},
    ReasonRow{linear_sizes, "lack sizes of linear attention"},
    ReasonRow{mamba_sizes, "lack sizes of Mamba layers"},
    ReasonRow{megatron_ep_overlap, "overlap ep where Megatron refuses it"},
    ReasonRow{megatron_expert_order, "have an order that Megatron refuses"},
    ReasonRow{megatron_fsdp_optimizer, "have an optimizer that Megatron-FSDP lacks"},
    ReasonRow{megatron_moe_needs_sp, "lack the sequence parallelism that Megatron's experts need"},
    ReasonRow{megatron_p2p_overlap, "lack the overlap of pp that Megatron wants"},
    ReasonRow{megatron_tp_overlap, "overlap tp without sequence parallelism"},
    ReasonRow{mtp_chunk, "put prediction layers into a wrong chunk"},
    ReasonRow{negative_variation, "have a variation below 0"},
    ReasonRow{no_such_reduction, "reduce gradients at a time that the software does not"},
    ReasonRow{no_time, "have no step time"},
    ReasonRow{number_too_large, "have figures beyond what is counted"},
    ReasonRow{offload_needs_zero_3, "offload parameters without ZeRO-3"},
    ReasonRow{order_not_a_permutation, "have an order that lacks an axis"},
    ReasonRow{out_of_memory, "do not fit"},
    ReasonRow{pattern_linear, "lack sizes of linear layers"},
    ReasonRow{pattern_mamba, "lack sizes of Mamba layers"},
    ReasonRow{pattern_moe, "lack sizes of MoE layers"},
    ReasonRow{pattern_window, "lack the width of the window"},
    ReasonRow{pipeline_groups_differ, "have other pipeline groups for experts"},
    ReasonRow{pp_exceeds_layers, "have more chunks than layers"},
    ReasonRow{schedule_refuses, "break a rule of their schedule"},
    ReasonRow{sequence_does_not_divide, "do not divide the sequence"},
    ReasonRow{sequence_exceeds_positions, "have longer sequences than positions"},
    ReasonRow{software_cp_comm, "have a context parallelism that the software lacks"},
    ReasonRow{software_ep, "have an ep that the software does not run"},
    ReasonRow{software_etp, "cut experts in a way that the software does not"},
    ReasonRow{software_kv_heads, "have more tp than the software takes with these heads"},
    ReasonRow{software_order, "have an order that the software lacks"},
    ReasonRow{software_recompute, "recompute what the software does not"},
    ReasonRow{software_replicas, "replicate where the software shards over all ranks"},
    ReasonRow{software_reshard, "keep gathered parameters, which the software lets go"},
    ReasonRow{software_schedule, "have a schedule that the software lacks"},
    ReasonRow{software_sequence_parallel, "have sequence parallelism, which the software lacks"},
    ReasonRow{software_stages, "have uneven stages, which the software does not build"},
    ReasonRow{software_zero, "have a stage of ZeRO that the software lacks"},
    ReasonRow{stage_layers, "have stages whose layers do not add up"},
    ReasonRow{too_many_chunks, "have too many chunks"},
    ReasonRow{too_many_microbatches, "have too many micro-batches"},
    ReasonRow{top_k_exceeds_experts, "use more experts than there are"},
    ReasonRow{torchtitan_ep, "have an ep that torchtitan cannot take out of its mesh"},
    ReasonRow{tp_ffn, "do not divide the MLP's width by tp"},
    ReasonRow{tp_heads, "do not divide the heads by tp"},
    ReasonRow{tp_kv_heads, "do not share key-value heads evenly over tp"},
    ReasonRow{tp_layers, "do not divide some layers by tp"},
    ReasonRow{ulysses_heads, "do not divide the heads by tp × cp"},
    ReasonRow{weight_shards, "have weight_shards that do not divide the ranks"},
    ReasonRow{world_differs_from_gpus, "do not fill the cluster"},
    ReasonRow{zero_out_of_range, "have a stage of ZeRO that there is not"},
};
}  // namespace reason_table
using reason_table::kReasons;

}  // namespace

std::string_view reason_words(ProblemCode code) {
    const auto* row =
        std::find_if(kReasons.begin(), kReasons.end(), [&](const ReasonRow& r) { return r.code == code; });
    return row == kReasons.end() ? name_of(code) : row->words;
}

}  // namespace pentamesh
