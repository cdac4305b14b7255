ARGS=()
ARGS+=( --num-layers 48 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 )
ARGS+=( --vocab-size 99584 --micro-batch-size 1 --global-batch-size 1024 --bf16 --tensor-model-parallel-size 2 )
