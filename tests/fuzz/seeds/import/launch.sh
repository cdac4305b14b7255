#!/bin/bash
#SBATCH --nodes=2
GPUS=8; TP=${TP:-4}
ARGS=(--num-layers 16 --hidden-size 2048 --num-attention-heads 16)
if [[ "$TP" -gt 1 ]]; then ARGS+=(--sequence-parallel); else ARGS+=(--bf16); fi
for x in a b; do OPT+=" --$x"; done
case "$GPUS" in 8) ARGS+=(--tensor-model-parallel-size $TP) ;; *) exit 1 ;; esac
torchrun --nproc_per_node $GPUS --nnodes 2 pretrain_gpt.py "${ARGS[@]}" --seq-length $((2 * 1024)) \
    --max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 64 --bf16
