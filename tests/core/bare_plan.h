// Makes a plan of a dense model's sizes and nothing else: one GPU, no cluster. Tests set the fields they
// need.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>

namespace pentamesh::test {

struct Sizes {
    std::int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
};
inline constexpr Sizes kTinyModel{4, 64, 8, 4, 8, 96, 128};
inline constexpr Sizes kLlama70b{80, 8192, 64, 8, 128, 28672, 128256};

inline Plan bare_plan(const Sizes& s, std::int64_t sequence_length) {
    Plan p;
    p.model.layers = s.layers, p.model.hidden = s.hidden;
    p.model.heads = s.heads, p.model.kv_heads = s.kv_heads, p.model.head_dim = s.head_dim;
    p.model.ffn = s.ffn, p.model.vocab = s.vocab;
    p.layout.dp_replicate = 1;
    p.training.sequence_length = sequence_length;
    return p;
}

// Returns the same over tp * cp * shard GPUs.
inline Plan bare_plan(const Sizes& s, std::int64_t sequence_length, std::int64_t tp, std::int64_t cp,
                      std::int64_t shard, int zero) {
    Plan p = bare_plan(s, sequence_length);
    p.layout.tp = tp, p.layout.cp = cp, p.layout.dp_shard = shard, p.layout.zero = zero;
    return p;
}

}  // namespace pentamesh::test
