# What OLMo-core's own functions make of their arguments, from src/olmo_core/nn/transformer/config.py, data/tokenizer.py and
# internal/cookbook.py at allenai/OLMo-core fa6c5014 (2026-06-22). core/interop/script/read_python.cpp reads this text as it reads a script of
# OLMo-core's; nothing runs it. `ffn` is what hidden_size_multiplier and hidden_size_multiple_of make of 8/3 of the hidden size.

# What a script does where its user gives no argument, outside of Ai2's own scheduler.
opts.sequence_length = None
common.launch = None


# These set nothing that a plan says; what partial and build_launch_config are handed is read.
def partial():
    pass


def build_launch_config():
    pass


def get_root_dir():
    pass


def get_work_dir():
    pass


def get_gpu_type():
    pass


def get_cli_parser():
    pass


def seed_all():
    pass


def main():
    pass


def cookbook.configure_trainer():
    pass


def cookbook.configure_default_callbacks():
    pass


def config.model.build():
    pass


def config.train_module.build():
    pass


def TokenizerConfig.dolma2():
    tokenizer.padded_size = 100352


def TokenizerConfig.dolma2_sigdig():
    tokenizer.padded_size = 100352


def TokenizerConfig.gpt2():
    tokenizer.padded_size = 50304


def TokenizerConfig.gpt_neox_olmo_dolma_v1_5():
    tokenizer.padded_size = 50304


def tokenizer_config.padded_vocab_size():
    return tokenizer.padded_size


def tokenizer.padded_vocab_size():
    return tokenizer.padded_size


# build_config's default is dolma2.
def common.tokenizer.padded_vocab_size():
    return 100352


def llama_like(hidden, ffn, layers, heads, kv_heads, vocab):
    model.hidden = hidden
    model.ffn = ffn
    model.layers = layers
    model.heads = heads
    model.kv_heads = kv_heads or heads
    model.head_dim = hidden // heads
    if vocab > 0:
        model.vocab = vocab


def olmo2(hidden, ffn, layers, heads, kv_heads, vocab):
    model.preset = "olmo-2-7b"
    llama_like(hidden, ffn, layers, heads, kv_heads, vocab)


def olmo3(hidden, ffn, layers, heads, kv_heads, vocab):
    model.preset = "olmo-3-7b"
    llama_like(hidden, ffn, layers, heads, kv_heads, vocab)


def TransformerConfig.olmo2_190M(vocab_size, n_layers=12, n_heads=12, n_kv_heads=None):
    olmo2(768, 3072, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo2_370M(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo2(1024, 4096, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo2_600M(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo2(1344, 5376, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo2_760M(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo2(1536, 6144, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo2_1B(vocab_size, n_layers=18, n_heads=16, n_kv_heads=None):
    olmo2(2048, 8192, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo2_1B_v2(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo2(2048, 8192, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo2_3B(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo2(3328, 13312, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo2_7B(vocab_size, n_layers=32, n_heads=32, n_kv_heads=None):
    olmo2(4096, 11008, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo2_13B(vocab_size, n_layers=40, n_heads=40, n_kv_heads=None):
    olmo2(5120, 13824, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo2_32B(vocab_size, n_layers=64, n_heads=40, n_kv_heads=8):
    olmo2(5120, 27648, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo3_190M(vocab_size, n_layers=12, n_heads=12, n_kv_heads=None):
    olmo3(768, 3072, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo3_370M(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo3(1024, 4096, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo3_600M(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo3(1280, 5120, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo3_760M(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo3(1536, 6144, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo3_1B(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo3(2048, 8192, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo3_3B(vocab_size, n_layers=16, n_heads=16, n_kv_heads=None):
    olmo3(3328, 13312, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo3_7B(vocab_size, n_layers=32, n_heads=32, n_kv_heads=None):
    olmo3(4096, 11008, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo3_13B(vocab_size, n_layers=40, n_heads=40, n_kv_heads=None):
    olmo3(5120, 13824, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.olmo3_32B(vocab_size, n_layers=64, n_heads=40, n_kv_heads=8):
    olmo3(5120, 27648, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama2_271M(vocab_size, n_layers=16, n_heads=8, n_kv_heads=None):
    llama_like(1024, 2816, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama2_1B(vocab_size, n_layers=18, n_heads=16, n_kv_heads=None):
    llama_like(2048, 5632, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama2_7B(vocab_size, n_layers=32, n_heads=32, n_kv_heads=None):
    llama_like(4096, 11008, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama2_13B(vocab_size, n_layers=40, n_heads=40, n_kv_heads=None):
    llama_like(5120, 13824, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama2_26B(vocab_size, n_layers=80, n_heads=40, n_kv_heads=None):
    llama_like(5120, 13824, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama2_70B(vocab_size, n_layers=80, n_heads=64, n_kv_heads=8):
    llama_like(8192, 28672, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama3_1B(vocab_size, n_layers=16, n_heads=32, n_kv_heads=8):
    llama_like(2048, 8192, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama3_8B(vocab_size, n_layers=32, n_heads=32, n_kv_heads=8):
    llama_like(4096, 14336, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama3_70B(vocab_size, n_layers=80, n_heads=64, n_kv_heads=8):
    llama_like(8196, 28672, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama3_405B(vocab_size, n_layers=126, n_heads=128, n_kv_heads=8):
    llama_like(16384, 53248, n_layers, n_heads, n_kv_heads, vocab_size)


def TransformerConfig.llama_like_moe(d_model, vocab_size, n_layers, n_heads, num_experts, top_k, expert_hidden_size, shared_expert_hidden_size=None, dropless=False, lb_loss_weight=0, z_loss_weight=0, rope_theta=0, layer_norm_eps=0, qk_norm=False, reordered_norm=False):
    llama_like(d_model, expert_hidden_size, n_layers, n_heads, None, vocab_size)
    model.experts = num_experts
    model.top_k = top_k
    model.expert_ffn = expert_hidden_size
    if shared_expert_hidden_size:
        model.shared_experts = 1
        model.shared_ffn = shared_expert_hidden_size
    if qk_norm:
        model.qk_norm = "full"


def TransformerConfig.olmoe_1B_7B(vocab_size, n_layers=16, n_heads=16):
    TransformerConfig.llama_like_moe(2048, vocab_size, n_layers, n_heads, 64, 8, 1024, None, True, 0, 0, 0, 0, True)


def TransformerConfig.smallmoe(vocab_size, n_layers=12, n_heads=12):
    TransformerConfig.llama_like_moe(768, vocab_size, n_layers, n_heads, 32, 4, 384, 1536, False, 0, 0, 0, 0, True)


def cookbook.configure_train_module(max_sequence_length, rank_microbatch_size, learning_rate=0, scheduler=None, float8_enabled=False, activation_memory_budget=1, dp_shard_degree=None, cp_degree=None):
    module.max_sequence_length = max_sequence_length
    module.rank_microbatch_size = rank_microbatch_size
    TransformerDataParallelConfig.name = "DataParallelType.hsdp"
    TransformerDataParallelConfig.param_dtype = "DType.bfloat16"
    TransformerDataParallelConfig.shard_degree = dp_shard_degree
    if cp_degree:
        TransformerContextParallelConfig.llama3.degree = cp_degree
    if activation_memory_budget == 1:
        module.ac_config = None
    else:
        TransformerActivationCheckpointingConfig.mode = "TransformerActivationCheckpointingMode.budget"
    Float8Config.enabled = float8_enabled
