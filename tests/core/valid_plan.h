// Makes a plan without a fault, dense or with experts, for tests that break it.
#pragma once

#include "core/plan/plan.h"

namespace pentamesh::test {

inline Model dense_model() {
    Model m;
    m.name = "dense";
    m.layers = 32, m.hidden = 4096, m.heads = 32, m.kv_heads = 8, m.head_dim = 128, m.ffn = 14336,
    m.vocab = 128256;
    return m;
}

inline Model moe_model() {
    Model m = dense_model();
    m.moe = Moe{};
    m.moe->experts = 64, m.moe->top_k = 4, m.moe->expert_ffn = 2048;
    return m;
}

// Returns a plan of 64 GPUs, 8 a node: tp 2, pp 2, dp_shard 16.
inline Plan valid_plan(const Model& model = dense_model()) {
    Plan p;
    p.model = model;
    p.cluster.gpus = 64;
    Gpu& gpu = p.cluster.gpu;
    gpu.name = "a GPU";
    gpu.hbm_bytes = 80e9, gpu.hbm_bytes_per_s = 3.35e12;
    gpu.flops.bf16 = 989e12, gpu.flops.fp8 = 1979e12;
    gpu.efficiency.gemm = 0.7, gpu.efficiency.gemm_fp8 = 0.6;
    gpu.efficiency.grouped = 0.8, gpu.efficiency.attention = 0.5, gpu.efficiency.hbm = 0.8;
    gpu.efficiency.fast_link = gpu.efficiency.slow_link = gpu.efficiency.all_to_all = 0.8;
    gpu.efficiency.overlap = 0.8, gpu.efficiency.kernel_s = 3e-6;
    p.cluster.tiers = {{"NVLink", LinkKind::nvlink, 8, 450e9, 1e-6, 1},
                       {"IB", LinkKind::ib, 64, 50e9, 5e-6, 1}};
    p.layout.tp = 2, p.layout.pp = 2, p.layout.dp_shard = 16, p.layout.dp_replicate = 1;
    p.training.sequence_length = 8192, p.training.global_batch = 64;
    return p;
}

}  // namespace pentamesh::test
