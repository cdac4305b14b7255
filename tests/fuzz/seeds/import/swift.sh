NPROC_PER_NODE=4 \
megatron sft --model Qwen/Qwen3-30B-A3B --expert_model_parallel_size 4 --max_length 2048
NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B --tensor_model_parallel_size 2
