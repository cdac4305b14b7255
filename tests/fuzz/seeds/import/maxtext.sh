python3 -m maxtext.train base.yml model_name=llama3-8b per_device_batch_size=2 \
  ici_fsdp_parallelism=-1 ici_tensor_parallelism=4 dcn_data_parallelism=2
