from torchtitan.config import ParallelismConfig
x = Trainer.Config(parallelism=ParallelismConfig(tensor_parallel_degree=2), training=TrainingConfig(seq_len=4096))
