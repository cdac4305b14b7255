#include "core/plan/edits.h"
#include "tests/core/bare_plan.h"

#include <doctest/doctest.h>
#include <random>

using namespace pentamesh;

namespace {

Plan plan_of(std::int64_t gpus) {
    Plan p = test::bare_plan({64, 8192, 64, 64, 128, 32768, 128000}, 8192);
    p.layout.dp_replicate.reset();
    p.cluster.gpus = gpus;
    p.cluster.tiers = {{"NVLink", LinkKind::nvlink, 8, 450e9, 1e-6, 1},
                       {"InfiniBand", LinkKind::ib, gpus, 50e9, 5e-6, 1}};
    return p;
}

std::int64_t product(const Plan& p) {
    return p.layout.tp * p.layout.cp * p.layout.pp * data_parallel(p);
}

}  // namespace

TEST_CASE("stepping a factor through its legal values keeps every GPU in use") {
    std::mt19937 random(7);
    const std::int64_t sizes[] = {8, 64, 96, 1024, 1536};
    for (int round = 0; round < 300; ++round) {
        Plan p = plan_of(sizes[random() % 5]);
        p.layout.dp_replicate = p.cluster.gpus;
        for (int step = 0; step < 6; ++step) {
            const Axis axis = static_cast<Axis>(random() % kAxisCount);
            if (axis == Axis::ep) continue;
            const auto legal = legal_factors(p, axis);
            p = with_factor(p, axis, legal[random() % legal.size()], true);
            CHECK(product(p) == p.cluster.gpus);
        }
    }
}

TEST_CASE("a left-out dp_replicate is what the other factors leave of the cluster") {
    Plan p = plan_of(64);
    p.layout.tp = 8;
    p.layout.dp_shard = 4;
    CHECK(data_parallel(p) == 8);
    p.layout.tp = 5;
    CHECK(data_parallel(p) == 0);
}

TEST_CASE("GPUs that come are shards, or replicas where that is chosen and leaves a whole number of them") {
    Plan p = plan_of(64);
    p.layout.tp = 4;
    p.layout.dp_shard = 8;
    p.layout.dp_replicate = 2;
    CHECK(with_gpus(p, 128).layout.dp_shard == 16);
    const Plan more = with_gpus_as_replicas(p, 128);
    CHECK(more.layout.dp_shard == 8);
    CHECK(more.layout.dp_replicate == 4);
    CHECK(product(more) == 128);
    CHECK(with_gpus_as_replicas(p, 32).layout.dp_replicate == 1);
    p.layout.dp_replicate.reset();
    CHECK_FALSE(with_gpus_as_replicas(p, 128).layout.dp_replicate.has_value());
    CHECK(data_parallel(with_gpus_as_replicas(p, 128)) == 32);
    CHECK(with_gpus_as_replicas(p, 48) == with_gpus(p, 48));  // 48 / 32 is no whole number
}

TEST_CASE("tp offers only what divides the heads, ep only what divides the experts") {
    Plan p = plan_of(96);
    for (const auto f : legal_factors(p, Axis::tp)) CHECK(64 % f == 0);
    CHECK(legal_factors(p, Axis::ep) == std::vector<std::int64_t>{1});
    p.model.moe = Moe{.experts = 6, .top_k = 2, .expert_ffn = 1024};
    CHECK(legal_factors(p, Axis::ep) == std::vector<std::int64_t>{1, 2, 3, 6});
}

TEST_CASE("switching tensor parallelism on takes the fast domain") {
    CHECK(factor_when_on(plan_of(64), Axis::tp) == 8);
    CHECK(factor_when_on(plan_of(64), Axis::pp) == 2);
    CHECK(factor_when_on(plan_of(1), Axis::tp) == 1);
}
