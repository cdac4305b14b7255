// Tests how plans scale, against the closed forms that courses teach: the gathers and reductions of sharded
// data parallelism take as long however many GPUs there are, the compute of one GPU falls with their number
// (Austin et al. 2025, How to Scale Your Model, training; CS336 assignment 2, section 8).
#include "core/base/text.h"
#include "core/decide/scale.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "core/teach/lesson.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

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

// A dense model on one tier, with nothing that the closed forms leave out: no latency, no launches, short
// sequences, so that attention's scores are little work.
Plan ideal() {
    Plan p = presets().plan("llama-3-8b-fsdp");
    Efficiency& e = p.cluster.gpu.efficiency;
    e.gemm = e.attention = e.hbm = e.fast_link = e.slow_link = e.overlap = 1;
    e.kernel_s = e.launch_s = e.step_s = 0;
    p.cluster.gpu.hbm_bytes_per_s = 1e18;
    p.cluster.tiers.resize(1);
    p.cluster.tiers[0].domain = 0, p.cluster.tiers[0].latency_s = 0;
    p.cluster.tiers[0].bytes_per_s = 25e9;
    p.training.gradients = Dtype::bf16;
    p.training.sequence_length = 1024, p.training.micro_batch = 1, p.training.global_batch = 4096;
    p.layout = {};
    p.layout.zero = 0;
    p.cluster.gpus = 64;
    p.layout.dp_shard = 64;
    return p;
}

double asked(const Plan& plan, std::string_view query) {
    return answer_query(query, plan, evaluate(plan), presets()).number;
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
    CHECK(spine->words().find("spine") != std::string::npos);
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
    CHECK(crossing(strong, ScaleTurn::refused, GroupKind::tp)
              ->words()
              .starts_with("refused from 128 GPUs on: "));
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

TEST_CASE("the parts of a point sum to its step, and over a factor each point is what evaluate says") {
    const Plan plan = presets().plan("llama-3.1-405b-16k");
    for (std::size_t i = 0; i < kNames<ScaleOver>.size(); ++i) {
        const auto over = static_cast<ScaleOver>(i);
        const ScaleRequest request{.over = over};
        const Scale s = scale_of(plan, request);
        CAPTURE(name_of(over));
        REQUIRE(s.at(s.own) != nullptr);
        for (const ScalePoint& p : s.points) {
            CAPTURE(p.at);
            const Plan at = scaled_plan(plan, request, p.at);
            if (const auto axis = axis_of(over)) {
                CHECK(at.cluster.gpus == plan.cluster.gpus);
                CHECK(factor_in_force(at, *axis) == p.at);
            }
            const Evaluation e = evaluate(at);
            REQUIRE(e.step.has_value() == p.possible());
            if (!e.step) {
                CHECK(p.code.has_value());
                continue;
            }
            CHECK(p.step_s == e.step->time_s);
            double sum = 0;
            for (const ScalePart& part : parts_of(p)) sum += part.time_s;
            CHECK(sum == near(p.step_s, 1e-9));
        }
    }
}

TEST_CASE("of many values only those around the plan's own are evaluated") {
    const Plan plan = presets().plan("llama-3.1-405b-16k");
    const Scale all = scale_of(plan, {.over = ScaleOver::sequence});
    REQUIRE(all.points.size() > 4);
    const Scale few = scale_of(plan, {.over = ScaleOver::sequence, .most_values = 4});
    REQUIRE(few.points.size() == 4);
    CHECK(few.at(plan.training.sequence_length) != nullptr);
    for (const ScalePoint& p : few.points) {
        REQUIRE(all.at(p.at) != nullptr);
        CHECK(p.step_s == all.at(p.at)->step_s);
    }
}

TEST_CASE("the verdict says how much of perfect scaling is kept, and what the rest is lost to") {
    const Plan plan = presets().plan("llama-3.1-405b-16k");
    const Scale s = scale_of(plan);
    const ScalePoint *own = s.at(16384), *best = s.best();
    REQUIRE(own);
    REQUIRE(best);
    // By hand: what shrinks with the GPUs is not lost. A part that stays as long as it was loses most.
    const double grown = static_cast<double>(best->at) / static_cast<double>(own->at);
    CHECK(own->of_best == near(best->step_s * grown / own->step_s, 1e-9));
    const double bubble = own->bubble_s - best->bubble_s * grown;
    const double gradients = own->waits_s[GroupKind::dp_shard] - best->waits_s[GroupKind::dp_shard] * grown;
    const double lost = own->step_s - best->step_s * grown;
    CHECK(bubble + gradients > 0.8 * lost);
    const std::string verdict = words_of(plan, s).verdict;
    CAPTURE(verdict);
    CHECK(verdict.find("16,384") != std::string::npos);
    CHECK(verdict.find(percent_text(1 - own->of_best)) != std::string::npos);
    CHECK(verdict.find("most of it to the bubble.") != std::string::npos);
}

TEST_CASE("the bubble passes an axis between two points, on whose sides it is shorter and longer") {
    const Plan plan = presets().plan("llama-3.1-405b-16k");
    const Scale s = scale_of(plan);
    const auto it = std::find_if(s.crossings.begin(), s.crossings.end(),
                                 [](const ScaleCrossing& c) { return c.turn == ScaleTurn::bubble; });
    REQUIRE(it != s.crossings.end());
    const ScalePoint *before = nullptr, *after = nullptr;
    for (const ScalePoint& p : s.points) {
        if (!p.possible()) continue;
        if (static_cast<double>(p.at) <= it->at) before = &p;
        if (static_cast<double>(p.at) >= it->at && after == nullptr) after = &p;
    }
    REQUIRE(before);
    REQUIRE(after);
    CHECK(before->bubble_s <= before->waits_s[it->axis]);
    CHECK(after->bubble_s > after->waits_s[it->axis]);
}

TEST_CASE(
    "a sum of gradients takes as long as compute where a GPU has two thirds of FLOPs over bytes in tokens") {
    const Plan p = ideal();
    const double flops_per_byte = p.cluster.gpu.flops.bf16 / 25e9;
    CHECK(asked(p, "flops per byte 0") == near(flops_per_byte, 1e-9));
    // All gradients in bf16 by a ring: 4 bytes for each parameter. Forward and backward: 6 FLOPs for each
    // parameter and token.
    const double tokens = 4.0 / 6 * flops_per_byte;
    const double gpus = tokens_per_step(p.training) / tokens;
    CHECK(asked(p, "binds dp") == near(gpus, 0.1));
    Plan twice = p;
    twice.training.global_batch *= 2;
    CHECK(asked(twice, "binds dp") == near(2 * asked(p, "binds dp"), 0.05));
}

TEST_CASE("tensor parallelism's share of compute grows with its ranks and does not know the batch") {
    Plan p = ideal();
    p.training.overlap.tp = true;
    const auto share = [&](std::int64_t tp, std::int64_t batch) {
        Plan q = p;
        q.layout.tp = tp, q.layout.dp_shard = 64 / tp, q.training.global_batch = batch;
        return asked(q, "time tp over compute");
    };
    CHECK(share(4, 4096) == near(3 * share(2, 4096), 0.02));
    CHECK(share(8, 4096) == near(7 * share(2, 4096), 0.02));
    CHECK(share(4, 8192) == near(share(4, 4096), 0.01));
}

TEST_CASE("sharded weights cost three halves of the sum of gradients, and bind at the same tokens of a GPU") {
    Plan ddp = ideal(), fsdp = ideal();
    fsdp.layout.zero = 3;
    ddp.training.global_batch = fsdp.training.global_batch = 64;  // one micro-batch of each GPU
    const auto bytes = [](const Plan& p, const char* axis) {
        return asked(p, std::string("bytes ") + axis + " per step");
    };
    CHECK(bytes(fsdp, "dp_shard") == near(1.5 * bytes(ddp, "dp"), 0.02));
    CHECK(asked(fsdp, "time dp_shard over compute") == near(1.5 * asked(ddp, "time dp over compute"), 0.02));
}

TEST_CASE("the compute of a point has the forward that is run once more: a third of the layers' work") {
    Plan once = ideal();
    once.training.recompute = Recompute::none;
    Plan twice = once;
    twice.training.recompute = Recompute::full;
    const Scale a = scale_of(once), b = scale_of(twice);
    const ScalePoint *without = a.at(64), *with = b.at(64);
    REQUIRE(without != nullptr);
    REQUIRE(with != nullptr);
    // Llama 3 8B: 32 layers; the head of 128,256 words of 4,096 numbers is not run once more. A layer's
    // attention over 1,024 tokens is less than a hundredth of its products.
    const double layer = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336, head = 128256.0 * 4096;
    const double third = 32 * layer / (32 * layer + head) / 3;
    CHECK(with->compute_s / without->compute_s == near(1 + third, 0.01));
    const Evaluation e = evaluate(twice);
    CHECK(with->compute_s == near(e.step->compute_s + e.step->recompute_s));
    CHECK(with->step_s > 1.2 * without->step_s);
}

TEST_CASE("a sweep names the size from which groups with copies across beat FSDP over all GPUs") {
    Plan plan = test::presets().plan("llama-3-8b-fsdp");
    plan.model = test::presets().model("llama-3-70b");
    plan.cluster.gpus = 1024, plan.training.software = Software::torchtitan;
    plan.layout.zero = 3, plan.layout.dp_shard = 1024, plan.layout.dp_replicate = 1;
    plan.training.sequence_length = 2048, plan.training.micro_batch = 1, plan.training.global_batch = 1024;
    plan.training.recompute = Recompute::full;
    const Scale few = scale_of(plan, {.weak = true, .most = 1024});
    const ScaleCrossing* faster = crossing(few, ScaleTurn::groups, GroupKind::dp_shard);
    REQUIRE(faster);
    CHECK(faster->what == "HSDP is faster");
    // It says what two evaluations say: at that size, and not at half of it.
    const auto saved = [&](double gpus, std::int64_t shards) {
        Plan all = scaled_plan(plan, {.weak = true}, static_cast<std::int64_t>(gpus));
        Plan grouped = all;
        grouped.layout.dp_shard = shards, grouped.layout.dp_replicate = all.layout.dp_shard / shards;
        const Evaluation e = evaluate(grouped);
        return e.memory.fits() ? 1 - e.step->time_s / evaluate(all).step->time_s : 0.0;
    };
    std::int64_t shards = 0;
    REQUIRE(std::sscanf(faster->why.c_str(), "shards over %" SCNd64, &shards) == 1);
    CHECK(saved(faster->at, shards) > 0.01);
    for (std::int64_t s = 2; s < static_cast<std::int64_t>(faster->at) / 2; s *= 2)
        CHECK(saved(faster->at / 2, s) < 0.01);
    // More tokens hide the gathers: there is nothing to win.
    plan.training.sequence_length = 8192;
    CHECK(crossing(scale_of(plan, {.weak = true, .most = 1024}), ScaleTurn::groups, GroupKind::dp_shard)
          == nullptr);
}
