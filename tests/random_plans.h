// Makes small plans at random, each of which can be built.
#pragma once

#include "core/evaluate.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>

namespace pentamesh::test {

class RandomPlans {
  public:
    // All that is not drawn is as in `base`, a plan of a dense model on GPUs of two tiers.
    RandomPlans(unsigned seed, Plan base) : random_(seed), base_(std::move(base)) {}
    Plan next() {
        for (;;) {
            const Plan p = draw();
            if (const Evaluation e = evaluate(p); e.valid && e.step) return p;
        }
    }

  private:
    std::int64_t pick(std::initializer_list<std::int64_t> of) {
        return *(of.begin()
                 + std::uniform_int_distribution<int>(0, static_cast<int>(of.size()) - 1)(random_));
    }
    Plan draw() {
        Plan p = base_;
        Model& m = p.model;
        m.layers = pick({8, 16, 32}), m.hidden = pick({2048, 4096, 8192}), m.heads = 16, m.kv_heads = 8;
        m.head_dim = m.hidden / 16, m.ffn = 3 * m.hidden, m.vocab = 32000;
        Layout& l = p.layout;
        l.tp = pick({1, 2, 4}), l.pp = pick({1, 2, 4}), l.dp_shard = pick({1, 2, 4, 8}), l.dp_replicate = 1;
        l.sequence_parallel = l.tp > 1;
        l.zero = static_cast<int>(pick({0, 1, 3}));
        p.cluster.gpus = l.tp * l.pp * l.dp_shard;
        p.cluster.tiers.back().domain = std::max<std::int64_t>(p.cluster.gpus, 16);
        if (p.cluster.gpus <= 8) p.cluster.tiers.resize(1), p.cluster.tiers[0].domain = p.cluster.gpus;
        p.training.sequence_length = pick({1024, 4096});
        p.training.micro_batch = pick({1, 2});
        p.training.global_batch = p.training.micro_batch * l.dp_shard * pick({4, 8, 16});
        return p;
    }
    std::mt19937 random_;
    Plan base_;
};

}  // namespace pentamesh::test
