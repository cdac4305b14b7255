v5p = {}

a_256 = _add(
    v5p,
    MaxTextModel(
        model_name="a",
        model_type="llama2-7b",
        tuning_params={
            "per_device_batch_size": 0.5,
            "ici_fsdp_parallelism": -1,
            **more,
            "xs": [1, {"a": 2}],
        },
        xla_flags=(flags.A + flags.B),
    ),
)
b_512 = _add(v5p, MaxTextModel(model_type="llama2-7b", tuning_params={}))
