#include "core/advice/advice.h"
#include "core/plan/edits.h"
#include "core/rules/rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>

using namespace pentamesh;

namespace {

Model dense_model() {
    Model m;
    m.name = "dense";
    m.layers = 32, m.hidden = 4096, m.heads = 32, m.kv_heads = 8, m.head_dim = 128, m.ffn = 14336,
    m.vocab = 128256;
    return m;
}

Model moe_model() {
    Model m = dense_model();
    m.moe = Moe{};
    m.moe->experts = 64, m.moe->top_k = 4, m.moe->expert_ffn = 2048;
    return m;
}

// 64 GPUs, 8 a node: tp 2, pp 2, dp_shard 16.
Plan valid_plan(const Model& model = dense_model()) {
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

std::vector<Problem> errors_of(const Plan& plan) {
    std::vector<Problem> out;
    find_errors(plan, build_mesh(plan), true, out);
    return out;
}

// The one error that a change of the valid plan brings, fixed by its own fix.
void breaks_and_mends(const char* code, const Plan& broken) {
    CAPTURE(code);
    const std::vector<Problem> errors = errors_of(broken);
    const auto found =
        std::find_if(errors.begin(), errors.end(), [&](const Problem& p) { return p.code == code; });
    REQUIRE(found != errors.end());
    CHECK(found->severity == Severity::error);
    CHECK(!found->message.empty());
    CHECK(!found->pointer.empty());
    REQUIRE(!found->fix.empty());
    Plan fixed = broken;
    REQUIRE(apply_in_core(fixed, found->fix));
    const std::vector<Problem> left = errors_of(fixed);
    CHECK(std::none_of(left.begin(), left.end(), [&](const Problem& p) { return p.code == code; }));
}

bool mentions(const Plan& plan, const std::string& word) {
    const std::vector<Problem> errors = errors_of(plan);
    return std::any_of(errors.begin(), errors.end(),
                       [&](const Problem& p) { return p.message.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("a plain plan has no errors") {
    CHECK(errors_of(valid_plan()).empty());
    Plan moe = valid_plan(moe_model());
    moe.layout.ep = 16, moe.layout.etp = 1;
    CHECK(errors_of(moe).empty());
}

TEST_CASE("each rule is broken by a plan of its own, named in words and mended by its fix") {
    const auto with = [](auto change) {
        Plan p = valid_plan(moe_model());
        change(p);
        return p;
    };
    breaks_and_mends("below-one", with([](Plan& p) { p.layout.tp = 0; }));
    breaks_and_mends("below-one", with([](Plan& p) { p.cluster.gpus = -3; }));
    breaks_and_mends("zero-out-of-range", with([](Plan& p) { p.layout.zero = 4; }));
    breaks_and_mends("order-not-a-permutation", with([](Plan& p) { p.layout.order[0] = Axis::pp; }));
    breaks_and_mends("imbalance-below-one", with([](Plan& p) { p.training.router_imbalance = 0.5; }));
    breaks_and_mends("negative-variation", with([](Plan& p) { p.training.straggler_cv = -1; }));
    breaks_and_mends("tp-heads", with([](Plan& p) { p.layout.tp = 3; }));
    breaks_and_mends("tp-kv-heads",
                     with([](Plan& p) { p.model.heads = 24, p.model.kv_heads = 6, p.layout.tp = 4; }));
    breaks_and_mends("tp-ffn", with([](Plan& p) { p.model.ffn = 14337; }));
    breaks_and_mends("ep-experts", with([](Plan& p) { p.layout.ep = 3; }));
    breaks_and_mends("etp-ffn", with([](Plan& p) { p.layout.etp = 3; }));
    breaks_and_mends("stage-layers", with([](Plan& p) { p.layout.stage_layers = {16, 15}; }));
    breaks_and_mends("stage-layers", with([](Plan& p) { p.layout.stage_layers = {16, 16, 0}; }));
    breaks_and_mends("pp-exceeds-layers", with([](Plan& p) { p.layout.pp = 64; }));
    breaks_and_mends("world-differs-from-gpus", with([](Plan& p) { p.cluster.gpus = 65; }));
    breaks_and_mends("world-differs-from-gpus", with([](Plan& p) { p.layout.pp = std::int64_t{1} << 60; }));
    breaks_and_mends("world-differs-from-gpus", with([](Plan& p) { p.layout.dp_shard = 1000; }));
    breaks_and_mends("cluster-too-large", with([](Plan& p) { p.cluster.gpus = std::int64_t{1} << 50; }));
    breaks_and_mends("expert-mesh-does-not-fold", with([](Plan& p) { p.layout.ep = 64; }));
    breaks_and_mends("pipeline-groups-differ", with([](Plan& p) {
                         p.layout.order = {Axis::tp,           Axis::pp, Axis::dp_shard,
                                           Axis::dp_replicate, Axis::cp, Axis::ep};
                         p.layout.etp = 1, p.layout.ep = 2;
                     }));
    breaks_and_mends("sequence-does-not-divide", with([](Plan& p) { p.training.sequence_length = 8191; }));
    breaks_and_mends("sequence-exceeds-positions", with([](Plan& p) {
                         p.model.positions = Positions::learned, p.model.max_positions = 2048;
                     }));
    breaks_and_mends("ulysses-heads", with([](Plan& p) {
                         p.model.heads = p.model.kv_heads = 8, p.layout.cp = 8, p.layout.dp_shard = 2;
                         p.layout.cp_comm = CpComm::ulysses;
                     }));
    breaks_and_mends("batch-does-not-divide", with([](Plan& p) { p.training.global_batch = 63; }));
    breaks_and_mends("too-many-microbatches",
                     with([](Plan& p) { p.training.global_batch = std::int64_t{1} << 60; }));
    breaks_and_mends("schedule-refuses", with([](Plan& p) {
                         p.layout.schedule = Schedule::interleaved, p.layout.virtual_stages = 2;
                         p.training.global_batch = 16 * 3;
                     }));
    breaks_and_mends("compute-type-unsupported", with([](Plan& p) { p.training.compute = Dtype::fp4; }));
}

TEST_CASE("an error names the field that is wrong") {
    Plan p = valid_plan();
    p.layout.tp = 3;
    CHECK(mentions(p, "tp = 3"));
    p = valid_plan();
    p.cluster.gpus = 65;
    CHECK(mentions(p, "gpus = 65"));
    p = valid_plan();
    p.training.global_batch = 63;
    CHECK(mentions(p, "global_batch = 63"));
    p = valid_plan();
    p.layout.ep = 8;
    CHECK(mentions(p, "ep = 8"));
    p = valid_plan();
    p.layout.pp = 1'000'000'000'000'000'000;
    CHECK(mentions(p, "pp = 1,000,000,000,000,000,000"));
}

TEST_CASE("GPUs that make no whole replica are left out") {
    Plan p = valid_plan();
    p.cluster.gpus = 65;
    const std::vector<Edit> expected{{"/cluster/gpus", std::int64_t{64}}};
    CHECK(errors_of(p).front().fix == expected);
}

TEST_CASE("more GPUs become more replicas") {
    Plan p = valid_plan();
    p.cluster.gpus = 128;
    const std::vector<Edit> expected{{"/layout/dp_replicate", std::int64_t{2}}};
    CHECK(errors_of(p).front().fix == expected);
}

TEST_CASE("ep that was meant to multiply the world is told that etp defaults to tp") {
    Plan p = valid_plan(moe_model());
    p.layout.ep = 32;
    const std::vector<Problem> errors = errors_of(p);
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].code == "expert-mesh-does-not-fold");
    const std::vector<Edit> expected{{"/layout/etp", std::int64_t{1}}};
    CHECK(errors[0].fix == expected);
}

TEST_CASE("applying fixes in any order ends in a valid plan") {
    std::mt19937_64 rng(7);
    const std::vector<std::int64_t> odd{-1,
                                        0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        5,
                                        6,
                                        7,
                                        8,
                                        12,
                                        16,
                                        24,
                                        31,
                                        32,
                                        63,
                                        64,
                                        65,
                                        100,
                                        1000,
                                        4096,
                                        1'000'000,
                                        std::int64_t{1} << 40,
                                        std::int64_t{1} << 62};
    const auto pick = [&] { return odd[rng() % odd.size()]; };
    for (int round = 0; round < 3000; ++round) {
        Plan p = valid_plan(rng() % 2 ? moe_model() : dense_model());
        if (rng() % 4 == 0) p.model.positions = Positions::learned, p.model.max_positions = 2048;
        if (rng() % 4 == 0) p.layout.stage_layers = {16, 16};
        std::shuffle(p.layout.order.begin(), p.layout.order.end(), rng);
        p.layout.schedule = static_cast<Schedule>(rng() % kScheduleCount);
        p.layout.cp_comm = static_cast<CpComm>(rng() % 3);
        std::int64_t* fields[] = {&p.layout.tp,
                                  &p.layout.cp,
                                  &p.layout.pp,
                                  &p.layout.ep,
                                  &p.layout.dp_shard,
                                  &p.layout.virtual_stages,
                                  &p.cluster.gpus,
                                  &p.training.sequence_length,
                                  &p.training.micro_batch,
                                  &p.training.global_batch};
        for (std::int64_t* field : fields)
            if (rng() % 3 == 0) *field = pick();
        if (rng() % 3 == 0) p.layout.etp = pick();
        if (rng() % 2 == 0) p.layout.dp_replicate = rng() % 2 ? std::optional(pick()) : std::nullopt;
        if (rng() % 3 == 0) p.layout.microbatch_group = pick();
        int steps = 0;
        for (std::vector<Problem> errors = errors_of(p); !errors.empty(); errors = errors_of(p)) {
            const Problem& chosen = errors[rng() % errors.size()];
            CAPTURE(chosen.code);
            CAPTURE(chosen.message);
            REQUIRE(!chosen.fix.empty());
            REQUIRE(apply_in_core(p, chosen.fix));
            REQUIRE(++steps < 60);
        }
        REQUIRE(build_mesh(p).world == p.cluster.gpus);
    }
}

TEST_CASE("codes and severities do not depend on whether messages are asked for") {
    Plan p = valid_plan();
    p.layout.tp = 3, p.training.global_batch = 63, p.layout.ep = 8;
    const std::vector<Problem> with = errors_of(p);
    std::vector<Problem> without;
    find_errors(p, build_mesh(p), false, without);
    REQUIRE(with.size() == without.size());
    for (std::size_t i = 0; i < with.size(); ++i) {
        CHECK(with[i].code == without[i].code);
        CHECK(without[i].message.empty());
    }
}

namespace {

// The problem of that code in a plan's evaluation, if any.
std::optional<Problem> advice_on(const Plan& plan, std::string_view code) {
    const Evaluation e = assess(plan);
    for (const Problem& p : e.problems)
        if (p.code == code) return p;
    return std::nullopt;
}

// Applies the fix: still valid, and that problem is gone.
Plan mended(const Plan& plan, const Problem& problem) {
    Plan fixed = plan;
    REQUIRE(!problem.fix.empty());
    REQUIRE(apply_in_core(fixed, problem.fix));
    CAPTURE(problem.message);
    const Evaluation e = evaluate(fixed, {false, false});
    REQUIRE(e.valid);
    CHECK(!advice_on(fixed, problem.code).has_value());
    return fixed;
}

}  // namespace

TEST_CASE("tp across nodes is shown in bytes and time, and its fix is faster") {
    Plan p = valid_plan();
    p.model.kv_heads = 32;
    p.layout.tp = 16, p.layout.dp_shard = 2;
    const auto found = advice_on(p, "tp-spans-nodes");
    REQUIRE(found);
    CHECK(found->severity == Severity::warning);
    CHECK(found->message.find("4 of its 4 groups") != std::string::npos);
    CHECK(found->message.find("IB") != std::string::npos);
    const Plan fixed = mended(p, *found);
    CHECK(evaluate(fixed).step->time_s < evaluate(p).step->time_s);
    CHECK(!advice_on(valid_plan(), "tp-spans-nodes"));
}

TEST_CASE("groups that would fit a domain but straddle two are told why") {
    Plan p = valid_plan(moe_model());
    p.cluster.gpus = 144;
    p.cluster.tiers = {{"NVLink", LinkKind::nvlink, 72, 900e9, 1e-6, 1},
                       {"IB", LinkKind::ib, 144, 50e9, 5e-6, 1}};
    p.layout.tp = 1, p.layout.pp = 1, p.layout.dp_shard = 144, p.layout.ep = 16,
    p.training.global_batch = 144;
    const auto found = advice_on(p, "ep-spans-nodes");  // ranks 64 .. 79 alone cross the end of the first 72
    REQUIRE(found);
    CHECK(found->message.find("in 1 of its 9 groups") != std::string::npos);
    CHECK(found->message.find("uses 64 GPUs of each domain") != std::string::npos);
}

TEST_CASE("an order that lays tp over the slow tier is named with the axis that suffers") {
    Plan p = valid_plan();
    p.layout.tp = 8, p.layout.dp_shard = 8, p.layout.pp = 1;
    p.layout.order = {Axis::dp_shard, Axis::tp, Axis::cp, Axis::ep, Axis::dp_replicate, Axis::pp};
    const auto found = advice_on(p, "order-puts-chatty-axis-outside");
    REQUIRE(found);
    CHECK(found->message.find("lays tp (stride 8)") != std::string::npos);
    mended(p, *found);
}

TEST_CASE("FSDP over nodes is offered HSDP where that is faster") {
    Plan p = valid_plan();
    p.layout.tp = 1, p.layout.pp = 1, p.layout.dp_shard = 64, p.layout.zero = 3;
    p.training.sequence_length = 1024,
    p.training.global_batch = 64 * 4;  // gathers repeat, replicas reduce once
    const auto found = advice_on(p, "hsdp-keeps-shards-inside");
    REQUIRE(found);
    Plan fixed = p;
    REQUIRE(apply_in_core(fixed, found->fix));
    CHECK(fixed.layout.dp_shard * *fixed.layout.dp_replicate == 64);
    CHECK(fixed.layout.dp_shard < 64);
    const Evaluation before = evaluate(p), after = evaluate(fixed);
    CHECK(after.valid);
    CHECK(after.step->time_s < before.step->time_s);
}

TEST_CASE("a thousand FSDP ranks are warned of with the ring's latency") {
    Plan p = valid_plan();
    p.cluster.gpus = p.cluster.tiers[1].domain = p.training.global_batch = 1024;
    p.layout.tp = 1, p.layout.pp = 1, p.layout.dp_shard = 1024, p.layout.zero = 3;
    const auto found = advice_on(p, "fsdp-many-ranks");
    REQUIRE(found);
    CHECK(found->message.find("1,023 steps") != std::string::npos);
    CHECK(found->message.find("5.12 ms a collective") != std::string::npos);  // 1,023 x 5 us
}

TEST_CASE("ZeRO-3 under a pipeline is shown what it sends, and what less sharding would") {
    Plan p = valid_plan();
    p.layout.zero = 3, p.training.global_batch = 512;
    const auto found = advice_on(p, "pp-with-zero3");
    REQUIRE(found);
    mended(p, *found);
    p.layout.zero = 1;
    CHECK(!advice_on(p, "pp-with-zero3"));
}

TEST_CASE("a large bubble names the batch that makes it small") {
    Plan p = valid_plan();
    p.layout.pp = 8, p.layout.dp_shard = 4, p.training.global_batch = 32;
    const auto found = advice_on(p, "bubble-too-large");
    REQUIRE(found);
    const Plan fixed = mended(p, *found);
    const Evaluation e = evaluate(fixed, {false, false});
    CHECK(schedule_bubble_s(*e.step) < 0.1 * e.step->time_s);
    // And it is the smallest multiple of pp that does.
    Plan less = fixed;
    less.training.global_batch -= 8 * 4;
    const Evaluation l = evaluate(less, {false, false});
    CHECK(schedule_bubble_s(*l.step) >= 0.1 * l.step->time_s);
}

TEST_CASE("what does not fit is offered a change that fits") {
    Plan p = valid_plan();
    p.layout.tp = 1, p.layout.pp = 1, p.layout.dp_shard = 1, p.layout.dp_replicate = 64, p.layout.zero = 0;
    const auto found = advice_on(p, "memory-does-not-fit");
    REQUIRE(found);
    CHECK(found->severity == Severity::warning);
    const Plan fixed = mended(p, *found);
    CHECK(evaluate(fixed).memory.fits());

    Plan experts = valid_plan(moe_model());
    experts.layout.tp = 1, experts.layout.pp = 1, experts.layout.dp_shard = 64, experts.layout.ep = 1;
    experts.model.moe->expert_ffn = 4096;
    const auto spread = advice_on(experts, "memory-does-not-fit");
    REQUIRE(spread);
    CHECK(evaluate(mended(experts, *spread)).memory.fits());

    Plan hopeless = p;
    hopeless.model.hidden *= 64, hopeless.model.ffn *= 64, hopeless.model.head_dim *= 64;
    const auto none = advice_on(hopeless, "memory-does-not-fit");
    REQUIRE(none);
    CHECK(none->fix.empty());
}

TEST_CASE("recomputation that nothing needs is named with the time it takes") {
    Plan p = valid_plan();
    p.layout.tp = 8, p.layout.dp_shard = 4;
    p.training.recompute = Recompute::full;
    const auto found = advice_on(p, "recompute-not-needed");
    REQUIRE(found);
    mended(p, *found);
}

TEST_CASE("stragglers cost what the exact maximum says, beside the bound") {
    Plan p = valid_plan();
    p.training.straggler_cv = 0.05;
    const auto found = advice_on(p, "straggler-tax");
    REQUIRE(found);
    CHECK(found->message.find("slowest of 64 GPUs") != std::string::npos);
}

TEST_CASE("rules of one framework are warnings or notices that name it, never errors") {
    Plan p = valid_plan(moe_model());
    p.layout.etp = 1, p.layout.ep = 32, p.layout.sequence_parallel = false;
    p.layout.dp_shard = 1, p.layout.dp_replicate = 16;
    CHECK(evaluate(p).valid);
    const auto sp = advice_on(p, "megatron-moe-needs-sp"), ep = advice_on(p, "torchtitan-ep");
    REQUIRE(sp);
    REQUIRE(ep);
    CHECK(sp->message.find("Megatron") != std::string::npos);
    CHECK(ep->message.find("torchtitan") != std::string::npos);
    mended(p, *sp);
    mended(p, *ep);
}

TEST_CASE("leftover GPUs are said aloud as replicas") {
    Plan p = valid_plan();
    p.layout.dp_replicate.reset();
    p.layout.dp_shard = 4;
    const auto found = advice_on(p, "leftover-replicas");
    REQUIRE(found);
    CHECK(found->message.find("dp_replicate = 4") != std::string::npos);
    CHECK(evaluate(p).valid);
}

TEST_CASE("whatever advice offers is a valid plan") {
    std::mt19937_64 rng(11);
    const auto pick = [&](std::initializer_list<std::int64_t> from) {
        return from.begin()[rng() % from.size()];
    };
    for (int round = 0; round < 60; ++round) {
        Plan p = valid_plan(rng() % 2 ? moe_model() : dense_model());
        Layout& l = p.layout;
        l.tp = pick({1, 2, 8}), l.cp = pick({1, 1, 2}), l.pp = pick({1, 2, 4});
        l.dp_shard = pick({1, 2, 4}), l.dp_replicate = pick({1, 2, 8}), l.zero = static_cast<int>(rng() % 4);
        if (p.model.moe) l.ep = pick({1, 2, 4}), l.etp = pick({1, 2});
        std::shuffle(l.order.begin(), l.order.end(), rng);
        p.cluster.gpus = l.tp * l.cp * l.pp * l.dp_shard * *l.dp_replicate;
        p.training.global_batch = l.dp_shard * *l.dp_replicate * pick({1, 4, 32});
        p.training.recompute = static_cast<Recompute>(rng() % 3);
        const Evaluation e = assess(p);
        if (!e.valid) continue;
        for (const Problem& problem : e.problems) {
            CAPTURE(problem.code);
            CHECK(problem.severity != Severity::error);
            CHECK(!problem.message.empty());
            Plan fixed = p;
            REQUIRE(apply_in_core(fixed, problem.fix));
            CHECK(evaluate(fixed, {false, false}).valid);
        }
    }
}
