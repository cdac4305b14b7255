# Recipes of Megatron-Bridge that other recipes start from, by name: what each sets of layout, batch, precision and recomputation.
# Facts from src/megatron/bridge/recipes at NVIDIA-NeMo/Megatron-Bridge 067f987d (August 2026), where the functions that they call are
# followed. core/interop/script/read_python.cpp reads this text as it reads a recipe; nothing runs it.


def get_mixed_precision_config(name):
    return name


# What each of these means stands in words.json (bridge_precisions).
def bf16_mixed():
    return "bf16_mixed"


def fp16_mixed():
    return "fp16_mixed"


def bf16_with_fp8_delayed_scaling_mixed():
    return "bf16_with_fp8_delayed_scaling_mixed"


def fp16_with_fp8_delayed_scaling_mixed():
    return "fp16_with_fp8_delayed_scaling_mixed"


def bf16_with_mxfp8_mixed():
    return "bf16_with_mxfp8_mixed"


def fp16_with_mxfp8_mixed():
    return "fp16_with_mxfp8_mixed"


def bf16_with_fp8_current_scaling_mixed():
    return "bf16_with_fp8_current_scaling_mixed"


def nemotron_h_bf16_with_fp8_current_scaling_mixed():
    return "nemotron_h_bf16_with_fp8_current_scaling_mixed"


def nanov2_bf16_with_fp8_current_scaling_mixed():
    return "nanov2_bf16_with_fp8_current_scaling_mixed"


def fp16_with_fp8_current_scaling_mixed():
    return "fp16_with_fp8_current_scaling_mixed"


def bf16_with_fp8_subchannel_scaling_mixed():
    return "bf16_with_fp8_subchannel_scaling_mixed"


def fp16_with_fp8_subchannel_scaling_mixed():
    return "fp16_with_fp8_subchannel_scaling_mixed"


def bf16_with_nvfp4_mixed():
    return "bf16_with_nvfp4_mixed"


def nemotron_3_super_bf16_with_nvfp4_mixed():
    return "nemotron_3_super_bf16_with_nvfp4_mixed"


def set_deepseek_v3_pipeline_model_parallel_layout(model, layout=None):
    if layout is not None:
        model.pipeline_model_parallel_layout = layout
    else:
        known = {
            (1, 1): None,
            (4, 1): "Et*16|t*16|t*16|t*13mL",
            (8, 1): "Et*8|(t*8|)*6t*5mL",
            (4, 2): "Et*8|(t*8|)*6t*5mL",
            (16, 1): "Et*4|(t*4|)*14tmL",
            (8, 2): "Et*4|(t*4|)*14tmL",
            (4, 4): "Et*4|(t*4|)*14tmL",
        }
        chunks = model.virtual_pipeline_model_parallel_size or 1
        if (model.pipeline_model_parallel_size, chunks) in known:
            model.pipeline_model_parallel_layout = known[(model.pipeline_model_parallel_size, chunks)]


def _get_kimi_k2_pipeline_layout(pp, chunks):
    known = {
        (4, 1): "Et*16|t*16|t*16|t*13L",
        (8, 1): "Et*8|(t*8|)*6t*5L",
        (4, 2): "Et*8|(t*8|)*6t*5L",
        (16, 1): "Et*4|(t*4|)*14tL",
        (8, 2): "Et*4|(t*4|)*14tL",
        (4, 4): "Et*4|(t*4|)*14tL",
        (2, 8): "Et*4|(t*4|)*14tL",
    }
    return known[(pp, chunks or 1)]


def apply_flex_dispatcher_backend(model, backend=None):
    if backend is not None:
        model.moe_token_dispatcher_type = "flex"
        model.moe_flex_dispatcher_backend = backend


# A function with `instead` is read in the place of the text's own, which asks which version of Megatron there is.
def set_cuda_graph_modules(model, modules=None, instead=True):
    model.cuda_graph_modules = modules or []


def clear_cuda_graph_modules(model, instead=True):
    model.cuda_graph_modules = []


def set_full_iteration_cuda_graph(model, instead=True):
    model.cuda_graph_impl = "full_iteration"
    model.cuda_graph_modules = []


def _states_in_fp32():
    cfg.use_precision_aware_optimizer = False
    cfg.main_params_dtype = torch.float32
    cfg.main_grads_dtype = torch.float32
    cfg.exp_avg_dtype = torch.float32
    cfg.exp_avg_sq_dtype = torch.float32


def _mock_of_32_sequences():
    cfg.global_batch_size = 32
    cfg.micro_batch_size = 2
    cfg.grad_reduce_in_fp32 = True
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.use_distributed_optimizer = True
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.sequence_parallel = True
    cfg.seq_length = 4096
    cfg.overlap_grad_reduce = False
    cfg.overlap_param_gather = False


def deepseek_v3_pretrain_config():
    cfg.model = AutoBridge.from_hf_pretrained("deepseek-ai/DeepSeek-V3")
    cfg.tensor_model_parallel_size = 2
    cfg.pipeline_model_parallel_size = 16
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.expert_model_parallel_size = 64
    cfg.expert_tensor_parallel_size = 1
    cfg.sequence_parallel = True
    cfg.seq_length = 4096
    cfg.mtp_num_layers = 1
    cfg.account_for_embedding_in_pipeline_split = False
    cfg.account_for_loss_in_pipeline_split = False
    cfg.pipeline_model_parallel_layout = "Etttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tmL"
    cfg.global_batch_size = 4096
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    cfg.recompute_method = None
    cfg.recompute_num_layers = None
    cfg.bf16 = True
    cfg.params_dtype = torch.bfloat16
    cfg.use_precision_aware_optimizer = True
    cfg.main_params_dtype = torch.float32
    cfg.main_grads_dtype = torch.bfloat16
    cfg.exp_avg_dtype = torch.bfloat16
    cfg.exp_avg_sq_dtype = torch.bfloat16
    cfg.tp_comm_overlap = False
    cfg.overlap_moe_expert_parallel_comm = False
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.use_megatron_fsdp = False
    cfg.grad_reduce_in_fp32 = False
    cfg.data_parallel_sharding_strategy = "no_shard"
    cfg.moe_token_dispatcher_type = "flex"
    cfg.moe_flex_dispatcher_backend = "hybridep"
    return cfg


def gpt_oss_120b_pretrain_config():
    cfg.model = AutoBridge.from_hf_pretrained("openai/gpt-oss-120b")
    cfg.tensor_model_parallel_size = 2
    cfg.pipeline_model_parallel_size = 4
    cfg.pipeline_model_parallel_layout = None
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.expert_model_parallel_size = 16
    cfg.expert_tensor_parallel_size = 1
    cfg.sequence_parallel = True
    cfg.seq_length = 4096
    cfg.cp_comm_type = "a2a"
    cfg.account_for_embedding_in_pipeline_split = False
    cfg.account_for_loss_in_pipeline_split = False
    cfg.moe_token_dispatcher_type = "alltoall"
    cfg.moe_flex_dispatcher_backend = "deepep"
    cfg.global_batch_size = 512
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    _states_in_fp32()
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.use_megatron_fsdp = False
    cfg.grad_reduce_in_fp32 = True
    cfg.data_parallel_sharding_strategy = "no_shard"
    return cfg


def gpt_oss_20b_pretrain_config():
    cfg.model = AutoBridge.from_hf_pretrained("openai/gpt-oss-20b")
    cfg.tensor_model_parallel_size = 2
    cfg.pipeline_model_parallel_size = 4
    cfg.pipeline_model_parallel_layout = None
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.expert_model_parallel_size = 4
    cfg.expert_tensor_parallel_size = 1
    cfg.sequence_parallel = True
    cfg.seq_length = 4096
    cfg.cp_comm_type = "a2a"
    cfg.account_for_embedding_in_pipeline_split = False
    cfg.account_for_loss_in_pipeline_split = False
    cfg.moe_token_dispatcher_type = "alltoall"
    cfg.moe_flex_dispatcher_backend = "deepep"
    cfg.global_batch_size = 512
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    _states_in_fp32()
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.use_megatron_fsdp = False
    cfg.grad_reduce_in_fp32 = True
    cfg.data_parallel_sharding_strategy = "no_shard"
    return cfg


def kimi_k2_pretrain_config():
    cfg.model = AutoBridge.from_hf_pretrained("moonshotai/Kimi-K2-Instruct")
    cfg.tensor_model_parallel_size = 2
    cfg.pipeline_model_parallel_size = 16
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.expert_model_parallel_size = 32
    cfg.sequence_parallel = True
    cfg.expert_tensor_parallel_size = 1
    cfg.recompute_granularity = "selective"
    cfg.recompute_modules = None
    cfg.recompute_method = None
    cfg.recompute_num_layers = None
    cfg.account_for_embedding_in_pipeline_split = False
    cfg.account_for_loss_in_pipeline_split = False
    cfg.pipeline_model_parallel_layout = "Etttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tttt|tL"
    cfg.seq_length = 4096
    cfg.moe_token_dispatcher_type = "alltoall"
    cfg.moe_flex_dispatcher_backend = "deepep"
    cfg.global_batch_size = 4096
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.bf16 = True
    cfg.params_dtype = torch.bfloat16
    cfg.tp_comm_overlap = False
    cfg.overlap_moe_expert_parallel_comm = False
    cfg.use_distributed_optimizer = False
    cfg.overlap_param_gather = False
    _states_in_fp32()
    cfg.grad_reduce_in_fp32 = True
    cfg.overlap_grad_reduce = True
    cfg.use_megatron_fsdp = False
    cfg.data_parallel_sharding_strategy = "no_shard"
    return cfg


def llama31_405b_pretrain_config():
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3.1-405B")
    cfg.tensor_model_parallel_size = 8
    cfg.pipeline_model_parallel_size = 8
    cfg.pipeline_model_parallel_layout = None
    cfg.virtual_pipeline_model_parallel_size = 2
    cfg.context_parallel_size = 4
    cfg.sequence_parallel = True
    cfg.seq_length = 131072
    cfg.account_for_embedding_in_pipeline_split = True
    cfg.account_for_loss_in_pipeline_split = True
    cfg.global_batch_size = 512
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    _states_in_fp32()
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.use_megatron_fsdp = False
    cfg.data_parallel_sharding_strategy = "no_shard"
    cfg.tp_comm_overlap = True
    cfg.bf16 = True
    cfg.params_dtype = torch.bfloat16
    cfg.grad_reduce_in_fp32 = True
    return cfg


def llama3_70b_peft_config():
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3-70B")
    cfg.seq_length = 4096
    cfg.pipeline_model_parallel_layout = None
    cfg.tensor_model_parallel_size = 8
    cfg.pipeline_model_parallel_size = 1
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.sequence_parallel = False
    cfg.global_batch_size = 8
    cfg.micro_batch_size = 1
    _states_in_fp32()
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    cfg.overlap_grad_reduce = False
    cfg.overlap_param_gather = False
    cfg.use_distributed_optimizer = False
    cfg.grad_reduce_in_fp32 = False
    return cfg


def llama3_70b_pretrain_config():
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3-70B")
    cfg.tensor_model_parallel_size = 4
    cfg.pipeline_model_parallel_size = 4
    cfg.pipeline_model_parallel_layout = None
    cfg.virtual_pipeline_model_parallel_size = 5
    cfg.context_parallel_size = 2
    cfg.sequence_parallel = True
    cfg.seq_length = 8192
    cfg.global_batch_size = 512
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    _states_in_fp32()
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.use_megatron_fsdp = False
    cfg.data_parallel_sharding_strategy = "no_shard"
    cfg.tp_comm_overlap = True
    cfg.bf16 = True
    cfg.params_dtype = torch.bfloat16
    cfg.grad_reduce_in_fp32 = True
    return cfg


def llama3_70b_sft_config():
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3-70B")
    cfg.seq_length = 4096
    cfg.pipeline_model_parallel_layout = None
    cfg.tensor_model_parallel_size = 8
    cfg.pipeline_model_parallel_size = 4
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.sequence_parallel = False
    cfg.global_batch_size = 8
    cfg.micro_batch_size = 1
    _states_in_fp32()
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    cfg.overlap_grad_reduce = False
    cfg.overlap_param_gather = False
    cfg.use_distributed_optimizer = False
    cfg.grad_reduce_in_fp32 = False
    return cfg


def llama3_8b_pretrain_config():
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3-8B")
    cfg.tensor_model_parallel_size = 1
    cfg.pipeline_model_parallel_size = 1
    cfg.pipeline_model_parallel_layout = None
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 2
    cfg.sequence_parallel = False
    cfg.seq_length = 8192
    cfg.global_batch_size = 512
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    _states_in_fp32()
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.use_megatron_fsdp = False
    cfg.grad_reduce_in_fp32 = True
    cfg.data_parallel_sharding_strategy = "no_shard"
    return cfg


def llama3_8b_sft_config():
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3-8B")
    cfg.seq_length = 4096
    cfg.pipeline_model_parallel_layout = None
    cfg.tensor_model_parallel_size = 2
    cfg.pipeline_model_parallel_size = 1
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.sequence_parallel = False
    cfg.global_batch_size = 8
    cfg.micro_batch_size = 1
    _states_in_fp32()
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    cfg.overlap_grad_reduce = False
    cfg.overlap_param_gather = False
    cfg.use_distributed_optimizer = False
    cfg.grad_reduce_in_fp32 = False
    return cfg


def nemotron_3_nano_pretrain_config():
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.hybrid_layer_pattern = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
    cfg.mamba_num_heads = 64
    cfg.mamba_head_dim = 64
    cfg.mamba_state_dim = 128
    cfg.mamba_num_groups = 8
    cfg.activation_func = squared_relu
    cfg.vocab_size = 131072
    cfg.hidden_size = 2688
    cfg.kv_channels = 128
    cfg.ffn_hidden_size = 1856
    cfg.num_attention_heads = 32
    cfg.num_query_groups = 2
    cfg.num_moe_experts = 128
    cfg.moe_ffn_hidden_size = 1856
    cfg.moe_shared_expert_intermediate_size = 3712
    cfg.moe_router_topk = 6
    cfg.moe_router_num_groups = 1
    cfg.moe_router_group_topk = 1
    cfg.make_vocab_size_divisible_by = 128
    cfg.moe_router_enable_expert_bias = True
    cfg.tensor_model_parallel_size = 1
    cfg.pipeline_model_parallel_size = 1
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.sequence_parallel = False
    cfg.expert_tensor_parallel_size = 1
    cfg.expert_model_parallel_size = 8
    cfg.seq_length = 8192
    cfg.pipeline_model_parallel_layout = None
    cfg.moe_token_dispatcher_type = "flex"
    cfg.moe_flex_dispatcher_backend = "hybridep"
    cfg.global_batch_size = 1024
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "transformer_engine"
    cfg.attention_backend = "fused"
    cfg.recompute_granularity = "selective"
    cfg.recompute_modules = ["moe", "layernorm"]
    cfg.recompute_method = None
    cfg.recompute_num_layers = None
    _states_in_fp32()
    cfg.tp_comm_overlap = True
    cfg.overlap_moe_expert_parallel_comm = False
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.grad_reduce_in_fp32 = False
    return cfg


def nemotron_3_super_pretrain_16gpu_h100_bf16_config():
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.tensor_model_parallel_size = 8
    cfg.pipeline_model_parallel_size = 1
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.sequence_parallel = True
    cfg.expert_tensor_parallel_size = 1
    cfg.expert_model_parallel_size = 16
    cfg.pipeline_model_parallel_layout = None
    cfg.seq_length = 8192
    cfg.moe_token_dispatcher_type = "alltoall"
    cfg.moe_flex_dispatcher_backend = "hybridep"
    cfg.global_batch_size = 1024
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "transformer_engine"
    cfg.cuda_graph_scope = ["attn", "mamba", "moe_router", "moe_preprocess"]
    cfg.attention_backend = "fused"
    cfg.mtp_num_layers = 2
    cfg.bf16 = True
    cfg.params_dtype = torch.bfloat16
    cfg.grad_reduce_in_fp32 = False
    cfg.overlap_grad_reduce = False
    cfg.overlap_param_gather = False
    cfg.use_distributed_optimizer = True
    cfg.use_precision_aware_optimizer = True
    cfg.main_params_dtype = torch.float16
    cfg.exp_avg_dtype = torch.bfloat16
    cfg.exp_avg_sq_dtype = torch.bfloat16
    return cfg


def nemotron_3_super_pretrain_config():
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.attention_backend = "fused"
    cfg.mtp_num_layers = 2
    cfg.bf16 = True
    cfg.params_dtype = torch.bfloat16
    cfg.grad_reduce_in_fp32 = False
    cfg.use_distributed_optimizer = True
    cfg.tensor_model_parallel_size = 1
    cfg.pipeline_model_parallel_size = 2
    cfg.context_parallel_size = 1
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.pipeline_model_parallel_layout = None
    cfg.sequence_parallel = False
    cfg.expert_tensor_parallel_size = 1
    cfg.expert_model_parallel_size = 32
    cfg.overlap_p2p_comm = False
    cfg.seq_length = 4096
    cfg.global_batch_size = 1280
    cfg.micro_batch_size = 1
    cfg.moe_token_dispatcher_type = "flex"
    cfg.moe_flex_dispatcher_backend = "hybridep"
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = []
    cfg.recompute_granularity = "selective"
    cfg.recompute_modules = ["layernorm", "moe_act", "moe", "core_attn"]
    cfg.use_precision_aware_optimizer = True
    cfg.main_grads_dtype = torch.bfloat16
    cfg.main_params_dtype = torch.float16
    cfg.exp_avg_dtype = torch.bfloat16
    cfg.exp_avg_sq_dtype = torch.bfloat16
    cfg.optimizer_cpu_offload = False
    cfg.optimizer_offload_fraction = 0.0
    cfg.overlap_grad_reduce = False
    cfg.overlap_param_gather = False
    return cfg


def nemotron_3_ultra_pretrain_config():
    cfg.grad_reduce_in_fp32 = True
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.tensor_model_parallel_size = 1
    cfg.pipeline_model_parallel_size = 3
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.sequence_parallel = True
    cfg.expert_tensor_parallel_size = 1
    cfg.expert_model_parallel_size = 8
    cfg.pipeline_model_parallel_layout = None
    cfg.attention_backend = "fused"
    cfg.moe_token_dispatcher_type = "flex"
    cfg.moe_flex_dispatcher_backend = "hybridep"
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = []
    cfg.mtp_num_layers = 2
    cfg.seq_length = 8192
    cfg.global_batch_size = 3072
    cfg.micro_batch_size = 1
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    return cfg


def nemotronh_56b_pretrain_config():
    cfg.grad_reduce_in_fp32 = True
    cfg.hybrid_layer_pattern = "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"
    cfg.mamba_num_heads = 256
    cfg.mamba_head_dim = 64
    cfg.mamba_state_dim = 256
    cfg.mamba_num_groups = 8
    cfg.activation_func = squared_relu
    cfg.vocab_size = 131072
    cfg.hidden_size = 8192
    cfg.ffn_hidden_size = 32768
    cfg.num_attention_heads = 64
    cfg.num_query_groups = 8
    cfg.make_vocab_size_divisible_by = 128
    cfg.moe_router_enable_expert_bias = True
    cfg.moe_token_dispatcher_type = "alltoall"
    cfg.tensor_model_parallel_size = 8
    cfg.pipeline_model_parallel_size = 1
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.sequence_parallel = True
    cfg.pipeline_model_parallel_layout = None
    cfg.seq_length = 8192
    cfg.global_batch_size = 768
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    _states_in_fp32()
    cfg.tp_comm_overlap = True
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = False
    cfg.use_distributed_optimizer = True
    cfg.data_parallel_sharding_strategy = "no_shard"
    return cfg


def qwen35_vl_122b_a10b_pretrain_mock_config():
    _mock_of_32_sequences()
    cfg.tensor_model_parallel_size = 4
    cfg.pipeline_model_parallel_size = 8
    cfg.context_parallel_size = 2
    cfg.expert_model_parallel_size = 8
    return cfg


def qwen35_vl_35b_a3b_pretrain_16gpu_h100_bf16_functional_config():
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.use_distributed_optimizer = True
    cfg.seq_length = 4096
    cfg.global_batch_size = 512
    cfg.micro_batch_size = 1
    cfg.bf16 = True
    cfg.params_dtype = torch.bfloat16
    cfg.grad_reduce_in_fp32 = False
    cfg.use_precision_aware_optimizer = True
    cfg.main_params_dtype = torch.float32
    cfg.main_grads_dtype = torch.float32
    cfg.exp_avg_dtype = torch.bfloat16
    cfg.exp_avg_sq_dtype = torch.bfloat16
    cfg.tensor_model_parallel_size = 1
    cfg.pipeline_model_parallel_size = 2
    cfg.context_parallel_size = 1
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.expert_model_parallel_size = 8
    cfg.expert_tensor_parallel_size = 1
    cfg.sequence_parallel = False
    cfg.recompute_method = None
    cfg.recompute_num_layers = None
    cfg.moe_token_dispatcher_type = "flex"
    cfg.moe_flex_dispatcher_backend = "hybridep"
    cfg.cuda_graph_impl = "transformer_engine"
    cfg.tp_comm_overlap = False
    cfg.overlap_grad_reduce = False
    cfg.overlap_param_gather = False
    cfg.overlap_moe_expert_parallel_comm = False
    cfg.num_layers_in_first_pipeline_stage = 16
    cfg.num_layers_in_last_pipeline_stage = 24
    cfg.recompute_granularity = "selective"
    return cfg


def qwen35_vl_35b_a3b_pretrain_mock_config():
    _mock_of_32_sequences()
    cfg.tensor_model_parallel_size = 4
    cfg.pipeline_model_parallel_size = 2
    cfg.context_parallel_size = 1
    cfg.expert_model_parallel_size = 4
    return cfg


def qwen35_vl_397b_a17b_pretrain_mock_config():
    _mock_of_32_sequences()
    cfg.tensor_model_parallel_size = 4
    cfg.pipeline_model_parallel_size = 16
    cfg.context_parallel_size = 2
    cfg.expert_model_parallel_size = 16
    return cfg


def qwen3_235b_a22b_pretrain_config():
    cfg.model = AutoBridge.from_hf_pretrained("Qwen/Qwen3-235B-A22B")
    cfg.global_batch_size = 32
    cfg.grad_reduce_in_fp32 = True
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.tensor_model_parallel_size = 4
    cfg.pipeline_model_parallel_size = 16
    cfg.pipeline_model_parallel_layout = None
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 2
    cfg.expert_model_parallel_size = 8
    cfg.expert_tensor_parallel_size = 1
    cfg.sequence_parallel = True
    cfg.seq_length = 4096
    cfg.account_for_embedding_in_pipeline_split = True
    cfg.account_for_loss_in_pipeline_split = True
    cfg.micro_batch_size = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = None
    cfg.recompute_modules = None
    _states_in_fp32()
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.use_megatron_fsdp = False
    cfg.moe_token_dispatcher_type = "flex"
    cfg.moe_flex_dispatcher_backend = "deepep"
    return cfg


def qwen3_30b_a3b_pretrain_16gpu_h100_bf16_config():
    cfg.model = AutoBridge.from_hf_pretrained("Qwen/Qwen3-30B-A3B")
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.pipeline_model_parallel_layout = None
    cfg.attention_backend = None
    cfg.recompute_modules = None
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_megatron_fsdp = False
    cfg.bf16 = True
    cfg.params_dtype = torch.bfloat16
    cfg.grad_reduce_in_fp32 = False
    cfg.use_precision_aware_optimizer = True
    cfg.recompute_granularity = None
    cfg.recompute_method = None
    cfg.recompute_num_layers = None
    cfg.seq_length = 4096
    cfg.tensor_model_parallel_size = 1
    cfg.pipeline_model_parallel_size = 1
    cfg.context_parallel_size = 1
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.expert_model_parallel_size = 16
    cfg.expert_tensor_parallel_size = 1
    cfg.sequence_parallel = False
    cfg.global_batch_size = 1024
    cfg.micro_batch_size = 1
    cfg.use_distributed_optimizer = True
    cfg.main_grads_dtype = torch.float32
    cfg.main_params_dtype = torch.float32
    cfg.exp_avg_dtype = torch.float32
    cfg.exp_avg_sq_dtype = torch.float32
    cfg.cuda_graph_impl = "transformer_engine"
    cfg.cuda_graph_scope = ["moe_router", "moe_preprocess"]
    cfg.tp_comm_overlap = True
    cfg.moe_token_dispatcher_type = "flex"
    cfg.moe_flex_dispatcher_backend = "hybridep"
    return cfg


def qwen3_30b_a3b_pretrain_8gpu_h100_bf16_config():
    cfg.model = AutoBridge.from_hf_pretrained("Qwen/Qwen3-30B-A3B")
    cfg.global_batch_size = 32
    cfg.micro_batch_size = 2
    cfg.grad_reduce_in_fp32 = True
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.tensor_model_parallel_size = 4
    cfg.pipeline_model_parallel_size = 2
    cfg.pipeline_model_parallel_layout = None
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.expert_model_parallel_size = 4
    cfg.expert_tensor_parallel_size = 1
    cfg.sequence_parallel = True
    cfg.seq_length = 4096
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = "full"
    cfg.recompute_method = "uniform"
    cfg.recompute_num_layers = 1
    cfg.recompute_modules = None
    _states_in_fp32()
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.use_megatron_fsdp = False
    cfg.moe_token_dispatcher_type = "flex"
    cfg.moe_flex_dispatcher_backend = "deepep"
    return cfg


def qwen3_next_80b_a3b_pretrain_config():
    cfg.model = AutoBridge.from_hf_pretrained("Qwen/Qwen3-Next-80B-A3B-Instruct")
    cfg.global_batch_size = 32
    cfg.micro_batch_size = 2
    cfg.grad_reduce_in_fp32 = True
    cfg.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.tensor_model_parallel_size = 1
    cfg.pipeline_model_parallel_size = 4
    cfg.pipeline_model_parallel_layout = None
    cfg.virtual_pipeline_model_parallel_size = None
    cfg.context_parallel_size = 1
    cfg.expert_model_parallel_size = 8
    cfg.expert_tensor_parallel_size = 1
    cfg.sequence_parallel = False
    cfg.seq_length = 4096
    cfg.mtp_num_layers = 1
    cfg.cuda_graph_impl = "none"
    cfg.cuda_graph_scope = "full"
    cfg.attention_backend = None
    cfg.recompute_granularity = "selective"
    cfg.recompute_modules = ["layernorm", "moe", "moe_act"]
    cfg.recompute_method = None
    cfg.recompute_num_layers = None
    _states_in_fp32()
    cfg.overlap_grad_reduce = True
    cfg.overlap_param_gather = True
    cfg.use_distributed_optimizer = True
    cfg.use_megatron_fsdp = False
    cfg.moe_token_dispatcher_type = "flex"
    cfg.moe_flex_dispatcher_backend = "deepep"
    return cfg


def qwen3_vl_235b_a22b_pretrain_mock_config():
    _mock_of_32_sequences()
    cfg.tensor_model_parallel_size = 4
    cfg.pipeline_model_parallel_size = 16
    cfg.context_parallel_size = 2
    cfg.expert_model_parallel_size = 8
    return cfg


def qwen3_vl_30b_a3b_pretrain_mock_config():
    _mock_of_32_sequences()
    cfg.tensor_model_parallel_size = 4
    cfg.pipeline_model_parallel_size = 2
    cfg.context_parallel_size = 1
    cfg.expert_model_parallel_size = 4
    return cfg
