python3 -m verl.trainer.main_ppo \
  actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \
  +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform \
  actor_rollout_ref.rollout.n=8 trainer.nnodes=2 trainer.n_gpus_per_node=8
