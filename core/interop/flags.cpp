#include "core/interop/flags.h"

#include <algorithm>
#include <array>

namespace pentamesh::interop {
namespace {

struct FlagRow {
    std::string_view pointer;
    std::array<std::string_view, kFrameworkNames.size()> name;  // in the order of Framework
};

// Sources are Megatron-LM megatron/training/arguments.py; Megatron-Bridge's ConfigContainer;
// torchtitan/config/configs.py; deepspeed/runtime/config.py; accelerate/commands/config; nanotron/config;
// picotron/train.py; transformers.
constexpr FlagRow kFlags[] = {
    // clang-format off
    {"/model/layers", {"--num-layers", "model.num_layers", "", "", "", "model.model_config.num_hidden_layers", "model.num_hidden_layers", "num_hidden_layers"}},
    {"/model/hidden", {"--hidden-size", "model.hidden_size", "", "", "", "model.model_config.hidden_size", "", "hidden_size"}},
    {"/model/heads", {"--num-attention-heads", "model.num_attention_heads", "", "", "", "model.model_config.num_attention_heads", "model.num_attention_heads", "num_attention_heads"}},
    {"/model/kv_heads", {"--num-query-groups", "model.num_query_groups", "", "", "", "model.model_config.num_key_value_heads", "model.num_key_value_heads", "num_key_value_heads"}},
    {"/model/head_dim", {"--kv-channels", "model.kv_channels", "", "", "", "", "", "head_dim"}},
    {"/model/ffn", {"--ffn-hidden-size", "model.ffn_hidden_size", "", "", "", "model.model_config.intermediate_size", "", "intermediate_size"}},
    {"/model/vocab", {"--vocab-size", "model.vocab_size", "", "", "", "model.model_config.vocab_size", "", "vocab_size"}},
    {"/model/vocab_multiple", {"--make-vocab-size-divisible-by", "model.make_vocab_size_divisible_by", "", "", "", "", "", ""}},
    {"/model/tied_embeddings", {"", "model.share_embeddings_and_output_weights", "", "", "", "model.model_config.tie_word_embeddings", "", "tie_word_embeddings"}},
    {"/model/norm", {"--normalization", "model.normalization", "", "", "", "", "", ""}},
    {"/model/qkv_bias", {"--add-qkv-bias", "model.add_qkv_bias", "", "", "", "model.model_config.attention_bias", "", ""}},
    {"/model/qk_norm", {"--qk-layernorm", "model.qk_layernorm", "", "", "", "", "", ""}},
    {"/model/positions", {"--position-embedding-type", "model.position_embedding_type", "", "", "", "", "", ""}},
    {"/model/max_positions", {"--max-position-embeddings", "", "", "", "", "", "", "max_position_embeddings"}},
    {"/model/attention", {"--multi-latent-attention", "model.multi_latent_attention", "", "", "", "", "", ""}},
    {"/model/mla/q_lora_rank", {"--q-lora-rank", "model.q_lora_rank", "", "", "", "", "", "q_lora_rank"}},
    {"/model/mla/kv_lora_rank", {"--kv-lora-rank", "model.kv_lora_rank", "", "", "", "", "", "kv_lora_rank"}},
    {"/model/mla/qk_nope_head_dim", {"--qk-head-dim", "model.qk_head_dim", "", "", "", "", "", "qk_nope_head_dim"}},
    {"/model/mla/qk_rope_head_dim", {"--qk-pos-emb-head-dim", "model.qk_pos_emb_head_dim", "", "", "", "", "", "qk_rope_head_dim"}},
    {"/model/mla/v_head_dim", {"--v-head-dim", "model.v_head_dim", "", "", "", "", "", "v_head_dim"}},
    {"/model/moe/experts", {"--num-experts", "model.num_moe_experts", "", "", "", "model.model_config.moe_config.num_experts", "", ""}},
    {"/model/moe/top_k", {"--moe-router-topk", "model.moe_router_topk", "", "", "", "model.model_config.moe_config.top_k", "", "num_experts_per_tok"}},
    {"/model/moe/expert_ffn", {"--moe-ffn-hidden-size", "model.moe_ffn_hidden_size", "", "", "", "model.model_config.moe_config.moe_intermediate_size", "", "moe_intermediate_size"}},
    {"/model/moe/shared_expert_ffn", {"--moe-shared-expert-intermediate-size", "model.moe_shared_expert_intermediate_size", "", "", "", "model.model_config.moe_config.shared_expert_intermediate_size", "", ""}},
    {"/model/moe/first_dense_layers", {"--moe-layer-freq", "model.moe_layer_freq", "", "", "", "", "", ""}},
    {"/model/moe/router_bias", {"--moe-router-enable-expert-bias", "model.moe_router_enable_expert_bias", "", "", "", "", "", ""}},
    {"/model/moe/max_nodes_per_token", {"--moe-router-group-topk", "model.moe_router_group_topk", "", "", "", "", "", ""}},
    {"/model/mtp_layers", {"--mtp-num-layers", "model.mtp_num_layers", "", "", "", "", "", ""}},
    {"/cluster/gpus", {"", "", "", "", "num_processes", "", "", ""}},
    {"/layout/tp", {"--tensor-model-parallel-size", "model.tensor_model_parallel_size", "parallelism.tensor_parallel_degree", "tensor_parallel.autotp_size", "parallelism_config.parallelism_config_tp_size", "parallelism.tp", "distributed.tp_size", ""}},
    {"/layout/sequence_parallel", {"--sequence-parallel", "model.sequence_parallel", "parallelism.enable_sequence_parallel", "", "", "parallelism.tp_mode", "", ""}},
    {"/layout/cp", {"--context-parallel-size", "model.context_parallel_size", "parallelism.context_parallel_degree", "sequence_parallel_size", "parallelism_config.parallelism_config_cp_size", "parallelism.context_parallel_size", "distributed.cp_size", ""}},
    {"/layout/cp_comm", {"--cp-comm-type", "model.cp_comm_type", "", "", "parallelism_config.parallelism_config_cp_comm_strategy", "model.model_config._attn_implementation", "", ""}},
    {"/layout/cp_inner", {"--hierarchical-context-parallel-sizes", "model.hierarchical_context_parallel_sizes", "", "", "", "", "", ""}},
    {"/layout/pp", {"--pipeline-model-parallel-size", "model.pipeline_model_parallel_size", "parallelism.pipeline_parallel_degree", "", "", "parallelism.pp", "distributed.pp_size", ""}},
    {"/layout/virtual_stages", {"--num-virtual-stages-per-pipeline-rank", "model.virtual_pipeline_model_parallel_size", "parallelism.pipeline_parallel_layers_per_stage", "", "", "", "", ""}},
    {"/layout/schedule", {"", "", "parallelism.pipeline_parallel_schedule", "", "", "parallelism.pp_engine", "distributed.pp_engine", ""}},
    {"/layout/microbatch_group", {"--microbatch-group-size-per-virtual-pipeline-stage", "model.microbatch_group_size_per_vp_stage", "", "", "", "", "", ""}},
    {"/layout/stage_layers", {"--pipeline-model-parallel-layout", "model.pipeline_model_parallel_layout", "parallelism.module_fqns_per_model_part", "", "", "", "", ""}},
    {"/layout/ep", {"--expert-model-parallel-size", "model.expert_model_parallel_size", "parallelism.expert_parallel_degree", "expert_parallel.autoep_size", "", "parallelism.expert_parallel_size", "", ""}},
    {"/layout/etp", {"--expert-tensor-parallel-size", "model.expert_tensor_parallel_size", "", "", "", "", "", ""}},
    {"/layout/ep_comm", {"--moe-token-dispatcher-type", "model.moe_token_dispatcher_type", "", "", "", "", "", ""}},
    {"/layout/dp_shard", {"", "", "parallelism.data_parallel_shard_degree", "zero_optimization.mics_shard_size", "parallelism_config.parallelism_config_dp_shard_size", "parallelism.dp", "", ""}},
    {"/layout/dp_replicate", {"--num-distributed-optimizer-instances", "ddp.num_distributed_optimizer_instances", "parallelism.data_parallel_replicate_degree", "", "parallelism_config.parallelism_config_dp_replicate_size", "", "distributed.dp_size", ""}},
    {"/layout/zero", {"--use-distributed-optimizer", "ddp.use_distributed_optimizer", "", "zero_optimization.stage", "deepspeed_config.zero_stage", "optimizer.zero_stage", "", ""}},
    {"/layout/reshard", {"", "", "parallelism.fsdp_reshard_after_forward", "", "fsdp_config.fsdp_reshard_after_forward", "", "", ""}},
    {"/layout/order", {"--use-tp-pp-dp-mapping", "dist.use_tp_pp_dp_mapping", "", "", "", "", "", ""}},
    {"/layout/weight_shards", {"--tensor-parallel-num-weight-shards", "model.tensor_parallel_num_weight_shards", "", "", "", "", "", ""}},
    {"/training/sequence_length", {"--seq-length", "model.seq_length", "training.max_context_length", "", "", "tokens.sequence_length", "training.seq_length", ""}},
    {"/training/micro_batch", {"--micro-batch-size", "train.micro_batch_size", "training.num_tokens_per_microbatch_per_dp_rank", "train_micro_batch_size_per_gpu", "", "tokens.micro_batch_size", "training.micro_batch_size", ""}},
    {"/training/global_batch", {"--global-batch-size", "train.global_batch_size", "training.num_tokens_per_train_step", "train_batch_size", "", "tokens.batch_accumulation_per_replica", "training.gradient_accumulation_steps", ""}},
    {"/training/compute", {"--bf16", "mixed_precision", "training.mixed_precision_param", "bf16.enabled", "mixed_precision", "model.dtype", "model.dtype", ""}},
    {"/training/fp8_recipe", {"--fp8-recipe", "mixed_precision.fp8_recipe", "", "", "", "", "", ""}},
    {"/training/cuda_graphs", {"--cuda-graph-impl", "model.cuda_graph_impl", "", "", "", "", "", ""}},
    {"/training/fused_experts", {"--use-transformer-engine-op-fuser", "model.use_transformer_engine_op_fuser", "", "", "", "", "", ""}},
    {"/training/gradients", {"--grad-reduce-in-bf16", "ddp.grad_reduce_in_fp32", "", "data_types.grad_accum_dtype", "", "optimizer.accumulate_grad_in_fp32", "", ""}},
    {"/training/optimizer", {"--optimizer", "optimizer.optimizer", "", "optimizer.type", "", "", "", ""}},
    {"/training/optimizer_state", {"--exp-avg-dtype", "optimizer.exp_avg_dtype", "", "", "", "", "", ""}},
    {"/training/recompute", {"--recompute-granularity", "model.recompute_granularity", "", "", "fsdp_config.fsdp_activation_checkpointing", "parallelism.recompute_layer", "", ""}},
    {"/training/overlap/dp", {"--overlap-grad-reduce", "ddp.overlap_grad_reduce", "", "zero_optimization.overlap_comm", "", "", "", ""}},
    {"/training/overlap/tp", {"--tp-comm-overlap", "model.tp_comm_overlap", "", "", "", "parallelism.tp_linear_async_communication", "", ""}},
    {"/training/overlap/pp", {"--no-overlap-p2p-communication", "model.overlap_p2p_comm", "", "", "", "", "", ""}},
    {"/training/overlap/ep", {"--overlap-moe-expert-parallel-comm", "model.overlap_moe_expert_parallel_comm", "", "", "", "", "", ""}},
    {"/training/offload/optimizer", {"--optimizer-cpu-offload", "optimizer.optimizer_cpu_offload", "training.enable_cpu_offload", "zero_optimization.offload_optimizer", "deepspeed_config.offload_optimizer_device", "", "", ""}},
    {"/training/offload/parameters", {"", "", "training.enable_cpu_offload", "zero_optimization.offload_param", "deepspeed_config.offload_param_device", "", "", ""}},
    {"/training/offload/activations_layers", {"--cpu-offloading-num-layers", "model.cpu_offloading_num_layers", "", "", "", "", "", ""}},
    // clang-format on
};

}  // namespace

std::string_view flag_of(Framework framework, std::string_view pointer) {
    const auto* const row = std::find_if(std::begin(kFlags), std::end(kFlags),
                                         [&](const FlagRow& r) { return r.pointer == pointer; });
    return row == std::end(kFlags) ? std::string_view() : row->name[static_cast<std::size_t>(framework)];
}

std::string zero_words(Framework framework, int stage) {
    std::string out(flag_of(framework, "/layout/zero"));
    const bool bridge = framework == Framework::bridge;
    if (framework != Framework::megatron && !bridge)
        return out.empty() ? out : out + " = " + std::to_string(stage);
    if (stage == 0) return "without " + out;
    if (stage == 1) return out;
    const std::string_view shards = stage == 2 ? "optim_grads" : "optim_grads_params";
    return out
           + (bridge ? ", ddp.use_megatron_fsdp, ddp.data_parallel_sharding_strategy = "
                     : " --use-megatron-fsdp --data-parallel-sharding-strategy ")
           + std::string(shards);
}

std::vector<SpelledField> flags_of(Framework framework) {
    std::vector<SpelledField> out;
    for (const FlagRow& r : kFlags)
        if (const std::string_view name = r.name[static_cast<std::size_t>(framework)]; !name.empty())
            out.push_back({r.pointer, name});
    return out;
}

}  // namespace pentamesh::interop
