from olmo_core.train import main

LENGTH = 4096


def build(common):
    model = TransformerConfig.olmo2_7B(vocab_size=common.tokenizer.padded_vocab_size(), n_layers=2**4)
    return TransformerTrainModuleConfig(
        rank_microbatch_size=2 * LENGTH,
        max_sequence_length=LENGTH,
        dp_config=TransformerDataParallelConfig(name=DataParallelType.hsdp, shard_degree=8),
        cp_config=TransformerContextParallelConfig.ulysses(degree=2),
        ac_config=TransformerActivationCheckpointingConfig(mode=Mode.selected_modules, modules=["blocks.*.feed_forward"]),
    )


if __name__ == "__main__":
    main(partial(build, global_batch_size=256 * LENGTH))
