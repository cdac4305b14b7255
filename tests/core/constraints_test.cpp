// Holds what a search is asked for to what people write.
#include "core/decide/search.h"

#include "shipped.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

using namespace pentamesh;
using pentamesh::test::near;

TEST_CASE("the least memory within a share of the best time is what brute force finds") {
    Plan plan = test::presets().plan("llama-3-8b-fsdp");
    std::optional<SpaceError> error;
    const SearchSpace space =
        search_space(plan, {{"virtual_stages=1,2", "micro_batch=1", "zero=1,3", "cp=1,2"}, {}, true}, error);
    const SearchReport all = search(plan, space, {.top = 1000000, .threads = 2});  // nothing is skipped
    REQUIRE(all.counts.skipped == 0);
    REQUIRE(all.counts.fit > 20);
    const double best = all.results.front().step_s;
    for (const double share : {0.0, 0.01, 0.05, 0.5}) {
        double least = 1e300;
        for (const SearchResult& x : all.results)
            if (x.step_s <= best * (1 + share)) least = std::min(least, x.memory_bytes);
        SearchReport r = search(plan, space, {.top = 3, .threads = 2});
        keep_within(r, share);
        REQUIRE(!r.results.empty());
        CHECK(r.results.front().memory_bytes == least);
        CHECK(r.results.back().step_s == best);
        for (const SearchResult& x : r.results) CHECK(x.step_s <= best * (1 + share));
    }
}

TEST_CASE("constraints of a search are read as people write them") {
    const Plan plan = test::presets().plan("llama-3-70b-3d");  // 256 GPUs in nodes of 8, 80 layers
    std::optional<SpaceError> error;
    const auto of = [&](const std::vector<std::string>& vary, const std::vector<std::string>& hold) {
        const SearchSpace s = search_space(plan, {vary, hold}, error);
        CHECK_MESSAGE(!error, (error ? error->message : ""));
        return s;
    };
    using Values = std::vector<std::int64_t>;
    CHECK(of({}, {"tp=8"}).tp == Values{8});
    CHECK(of({"pp=1..8"}, {}).pp == Values{1, 2, 4, 8});
    CHECK(of({"pp=1-4"}, {}).pp == Values{1, 2, 4});
    CHECK(of({"pp=..4,32"}, {}).pp == Values{1, 2, 4, 32});
    CHECK(of({"pp<=8"}, {}).pp == Values{1, 2, 4, 8});
    CHECK(of({}, {" pp <= 8 ", "pp>1"}).pp == Values{2, 4, 8});
    CHECK(of({"pp=2,4,16"}, {"pp<16"}).pp == Values{2, 4});
    CHECK(of({}, {}).gradients == std::vector<Dtype>{Dtype::fp32});  // the plan's own
    CHECK(of({"gradients"}, {}).gradients == std::vector<Dtype>{Dtype::fp32, Dtype::bf16});
    CHECK(of({"optimizer_state=bf16"}, {}).optimizer_state == std::vector<Dtype>{Dtype::bf16});
    CHECK(of({"overlap.tp"}, {}).overlap_tp.size() == 2);
    CHECK(of({"overlap.pp"}, {}).overlap_pp.size() == 2);
    CHECK(of({}, {}).overlap_pp == std::vector<Switched>{Switched::on});  // the plan's own
    CHECK(of({}, {}).offload_layers == Values{0});
    CHECK(of({"offload.activations_layers=0,4..6"}, {}).offload_layers == Values{0, 4, 5, 6});
    CHECK(of({"offload.optimizer"}, {}).offload_optimizer == std::vector<double>{0, 0.25, 0.5, 0.75, 1});
    CHECK(of({"offload.optimizer=1,0.5"}, {}).offload_optimizer == std::vector<double>{0.5, 1});
    CHECK(of({"recompute_layers=1..3,8"}, {}).recompute.size() == 3 + 4);
    CHECK(of({"recompute=none", "recompute_modules=mlp,core_attn+mlp"}, {}).recompute
          == std::vector<RecomputeChoice>{Recompute::none,
                                          {RecomputeModules(RecomputeModule::mlp), 0, RecomputeMethod::block},
                                          {RecomputeModules(RecomputeModule::mlp, RecomputeModule::core_attn),
                                           0, RecomputeMethod::block}});
    CHECK(of({}, {"recompute_layers=2"}).recompute
          == std::vector<RecomputeChoice>{{RecomputeModules{}, 2, RecomputeMethod::block}});
    CHECK(of({"zero=1..2"}, {}).zero == std::vector<int>{1, 2});
    CHECK(of({"zero>=2"}, {}).zero == std::vector<int>{2, 3});
    CHECK(of({"virtual_stages=3..5"}, {}).virtual_stages == Values{3, 4, 5});
    CHECK(of({}, {"tp inside the node"}).inside == std::vector<Inside>{{GroupKind::tp, 0}});
    CHECK(of({}, {"dp_shard inside InfiniBand"}).inside == std::vector<Inside>{{GroupKind::dp_shard, 1}});
    const double giga = 1024.0 * 1024 * 1024;
    CHECK(of({}, {"memory<=70GiB"}).most_memory == 70 * giga);
    CHECK(of({}, {"memory < 60 GiB", "memory<=70"}).most_memory == 60 * giga);
    const SearchSpace tight = of({}, {"memory<=70GiB"});
    const double has = plan.cluster.gpu.hbm_bytes;
    CHECK((1 - headroom_of(tight, plan.cluster, {}, 0.05)) * has == near(70 * giga, 1e-12));
    CHECK(headroom_of(tight, plan.cluster, 0.5, 0.05) == 0.5);
    CHECK(headroom_of(of({}, {}), plan.cluster, {}, 0.05) == 0.05);
}

TEST_CASE("a constraint that cannot be met says why") {
    const Plan plan = test::presets().plan("llama-3-70b-3d");
    const std::vector<std::pair<const char*, const char*>> bad{
        {"pp<=0", "a whole number from 1"},
        {"pp<1", "no value of pp is left"},
        {"pp=8..2", "goes backwards"},
        {"pp=3..3", "no pp in 3..3"},
        {"pp=..", "a whole number from"},
        {"pp=1..x", "a whole number from"},
        {"pp<=", "a whole number from"},
        {"recompute<=full", "none, selective, full"},
        {"schedule=1..2", "1f1b"},
        {"memory<=9 TiB", "a GPU has 79.6 GiB"},
        {"memory<=much", "a size such as"},
        {"memory<=0", "above 0"},
        {"memory>=1GiB", "largest value"},
        {"memory=70GiB", "memory<=70GiB"},
        {"tq inside the node", "closest is \"tp\""},
        {"tp inside the rail", "the node, NVLink, InfiniBand"},
        {"tq<=8", "closest is \"tp\""}};
    for (const auto& one : bad) {
        std::optional<SpaceError> error;
        static_cast<void>(search_space(plan, {{}, {one.first}}, error));
        CAPTURE(std::string(one.first));
        REQUIRE(error);
        CHECK(error->message.find(one.second) != std::string::npos);
        CHECK(error->message.starts_with("--hold "));
    }
    Plan unknown = plan;
    unknown.cluster.gpu.host_bytes_per_s = 0;
    std::optional<SpaceError> error;
    static_cast<void>(search_space(unknown, {{"offload.optimizer"}, {}}, error));
    REQUIRE(error);
    CHECK(error->message.find("cluster.gpu.host_bytes_per_s") != std::string::npos);
    static_cast<void>(search_space(unknown, {{}, {"offload.optimizer"}}, error));  // its own
    CHECK_FALSE(error);
}
