accelerate launch --use_fsdp --fsdp_version 2 --num_processes 16 --mixed_precision bf16 --config_file a.yaml \
  train.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 1 --bf16 True --deepspeed ds.json "$@"
