// Tests how plans scale, against the closed forms that courses teach: the gathers and reductions of sharded
// data parallelism take as long however many GPUs there are, the compute of one GPU falls with their number
// (Austin et al. 2025, How to Scale Your Model, training; CS336 assignment 2, section 8).
#include "core/decide/scale.h"
#include "core/io/presets.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <cmath>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

const ScaleCrossing* crossing(const Scale& s, ScaleTurn turn, GroupKind axis) {
    const auto it = std::find_if(s.crossings.begin(), s.crossings.end(),
                                 [&](const ScaleCrossing& c) { return c.turn == turn && c.axis == axis; });
    return it == s.crossings.end() ? nullptr : &*it;
}

// Sharded states and no other axis, in one fast domain that holds all GPUs: one bandwidth, no schedule, one
// reduction and one gather a step.
Plan sharded_in_one_domain() {
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.cluster.tiers.resize(1);
    p.cluster.tiers[0].domain = 0;
    p.layout.zero = 1;
    p.cluster.tiers[0].latency_s = 0, p.cluster.tiers[0].bytes_per_s = 20e9;
    p.training.global_batch = 4096, p.training.micro_batch = 1;
    return p;
}

}  // namespace

TEST_CASE("each point of a scale is what evaluate says of the plan with that many GPUs") {
    const Plan plan = presets().plan("llama-3.1-405b-16k");
    const Scale s = scale_of(plan);
    REQUIRE(s.points.size() > 6);
    bool own = false;
    for (std::size_t i = 0; i < s.points.size(); ++i) {
        const ScalePoint& p = s.points[i];
        if (i > 0) CHECK(p.at > s.points[i - 1].at);
        Plan at = plan;
        at.cluster.gpus = p.at;
        at.layout.dp_shard = p.at / (plan.layout.tp * plan.layout.pp);
        const Evaluation e = evaluate(at);
        CAPTURE(p.at);
        REQUIRE(e.step.has_value() == p.possible());
        if (!e.step) continue;
        CHECK(p.step_s == e.step->time_s);
        CHECK(p.memory_bytes == e.memory.peak());
        own = own || p.at == plan.cluster.gpus;
    }
    CHECK(own);
    // 2,048 sequences are less than one for each replica beyond 2,048 x 128 GPUs, and the mesh leaves the pod
    // at 3,072.
    const ScaleCrossing* spine = crossing(s, ScaleTurn::leaves_tier, GroupKind::dp_shard);
    REQUIRE(spine);
    CHECK(spine->words.find("spine") != std::string::npos);
    CHECK(spine->at > 2048);
    CHECK(spine->at <= 4096);
}

TEST_CASE("with a fixed batch data parallelism is bound by its wire where batch over GPUs falls below FLOPs "
          "over bandwidth") {
    const Plan plan = sharded_in_one_domain();
    const Scale s = scale_of(plan, {.least = 16, .most = 4096});
    const ScaleCrossing* c = crossing(s, ScaleTurn::passes_compute, GroupKind::dp_shard);
    REQUIRE(c);
    // From one point, by the closed forms: compute as 1/N, the ring's wire as (N - 1)/N.
    const ScalePoint& p = s.points.front();
    REQUIRE(p.possible());
    const double n = static_cast<double>(p.at);
    const double whole_wire = p.time_s[GroupKind::dp_shard] * n / (n - 1);
    const double expected = p.compute_s * n / whole_wire;
    CHECK(c->at == near(expected, 0.1));  // rounded to two digits, between powers of two
    for (const ScalePoint& q : s.points) {
        if (!q.possible()) continue;
        const double m = static_cast<double>(q.at);
        CHECK(q.time_s[GroupKind::dp_shard] == near(whole_wire * (m - 1) / m, 0.02));
    }
}

TEST_CASE("weak scaling keeps the work of a GPU, strong scaling divides it") {
    Plan plan = sharded_in_one_domain();
    plan.training.global_batch = 64;
    const Scale weak = scale_of(plan, {.weak = true, .least = 64, .most = 1024});
    const Scale strong = scale_of(plan, {.least = 64, .most = 1024});
    REQUIRE(weak.points.size() == 5);
    for (const ScalePoint& p : weak.points) {
        CHECK(p.possible());
        CHECK(p.compute_s == near(weak.points.front().compute_s, 1e-6));
    }
    CHECK(strong.points.front().possible());
    for (std::size_t i = 1; i < strong.points.size(); ++i) CHECK_FALSE(strong.points[i].possible());
    REQUIRE(crossing(strong, ScaleTurn::refused, GroupKind::tp));
    CHECK(
        crossing(strong, ScaleTurn::refused, GroupKind::tp)->words.starts_with("refused from 128 GPUs on: "));
}

TEST_CASE("memory over the sequence says where a plan no longer fits") {
    const Plan plan = presets().plan("llama-3-8b-fsdp");
    const Scale s = scale_of(plan, {.over = ScaleOver::sequence});
    const auto it = std::find_if(s.crossings.begin(), s.crossings.end(),
                                 [](const ScaleCrossing& c) { return c.turn == ScaleTurn::memory; });
    REQUIRE(it != s.crossings.end());
    // Activations are linear in the sequence: at the crossing the GPU is full, but for the straight line
    // between.
    Plan at = plan;
    at.training.sequence_length = static_cast<std::int64_t>(it->at);
    const Evaluation e = evaluate(at);
    CHECK(e.memory.peak() == near(at.cluster.gpu.hbm_bytes, 0.15));
}
