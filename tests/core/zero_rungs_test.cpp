#include "core/teach/wire_race.h"

#include "core/pipeline/sequence.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <doctest/doctest.h>
#include <string>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

// Llama 3 8B on one node of eight H100, a sample of 8,192 tokens each, full recomputation.
Plan eight_gpus(int zero) {
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.cluster.gpus = 8;
    p.layout.dp_shard = 8;
    p.layout.zero = zero;
    p.training.global_batch = 8;
    p.training.recompute = Recompute::full;
    return p;
}

ZeroRungs rungs_of(const Plan& plan) {
    return zero_rungs(plan, evaluate(plan));
}

}  // namespace

TEST_CASE("each stage of ZeRO is what the plan with that stage holds and sends, whichever is open") {
    for (const char* id : {"llama-3-70b-3d", "deepseek-v3-2048", "mixtral-8x7b-ep", "hsdp-64", "mesh-8"}) {
        CAPTURE(id);
        const Plan plan = presets().plan(id);
        const ZeroRungs rungs = rungs_of(plan);
        for (const ZeroRung& r : rungs.rung) {
            CAPTURE(r.zero);
            Plan same = plan;
            same.layout.zero = r.zero;
            follow_software(plan, same);
            CHECK(r.plan == same);
            const Evaluation e = evaluate(same);
            REQUIRE(r.possible() == e.valid);
            if (!e.valid) continue;
            CHECK(r.held == e.memory.stage[static_cast<std::size_t>(rungs.stage)]);
            double sent = 0, calls = 0;
            for (const GroupKind kind : all_of<GroupKind>())
                if (is_data_parallel(kind))
                    sent += e.comm.by_axis[kind].sent_bytes_per_rank, calls += e.comm.by_axis[kind].count;
            CHECK(r.sent_bytes == near(sent, 1e-9));
            for (const ZeroWire& w : r.wires) calls -= w.calls;
            CHECK(calls == within(0.0, 1e-6));
        }
    }
}

TEST_CASE("eight copies of Llama 3 8B shed the optimizer, the gradients, the weights: an eighth is left") {
    const ZeroRungs all = rungs_of(eight_gpus(0));
    CHECK(all.ranks == 8);
    CHECK(all.own == 0);
    const auto& r = all.rung;
    // 8,030,261,248 parameters (the checkpoint's): 12 bytes of optimizer, 4 of gradients, 2 of weights.
    constexpr double kNumbers = 8030261248;
    CHECK(r[0].held.optimizer == kNumbers * 12);
    CHECK(r[1].held.optimizer == near(kNumbers * 12 / 8, 1e-6));
    CHECK(r[1].held.gradients == kNumbers * 4);
    CHECK(r[2].held.gradients == near(kNumbers * 4 / 8, 1e-6));
    CHECK(r[2].held.parameters == kNumbers * 2);
    CHECK(r[3].held.parameters == near(kNumbers * 2 / 8, 1e-6));
    // docs/memory.md: two layers and both ends, in bf16.
    constexpr double kLayer = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336 + 2 * 4096;
    CHECK(r[3].gathered == near(2 * (2 * kLayer + 2 * 128256.0 * 4096 + 4096), 1e-6));
    CHECK(r[2].gathered == 0);
    for (std::size_t part = 0; part < 3; ++part) {
        CHECK(all.adds_up(r[3], part));
        CHECK_FALSE(all.adds_up(r[0], part));
    }
    // A ring of n sends 2 (n - 1) / n of an all-reduce's bytes, and half of that for each of its two halves.
    CHECK(r[0].sent_bytes == near(2 * kNumbers * 4 * 7 / 8, 1e-6));
    CHECK(r[1].sent_bytes == near(kNumbers * (4 + 2) * 7 / 8, 1e-6));
    CHECK(r[2].sent_bytes == r[1].sent_bytes);
    CHECK(r[3].sent_bytes == near(kNumbers * (4 + 2 + 2) * 7 / 8, 1e-6));
    CHECK(r[1].wire_words == "25 % less than ZeRO-0: weights go out in 2 bytes each, gradients in 4");
    CHECK(r[2].wire_words == "not a byte more than ZeRO-1");
    CHECK(r[3].wire_words == "33.3 % more than ZeRO-2: a layer's weights come twice");
}

TEST_CASE("with several micro-batches ZeRO-2 sends its gradients after each, and says so") {
    Plan p = eight_gpus(1);
    p.training.global_batch = 64;
    const ZeroRungs all = rungs_of(p);
    CHECK(all.rung[2].sent_bytes > all.rung[1].sent_bytes * 2);
    CHECK(all.rung[2].wire_words.find("gradients are summed 8 times a step") != std::string::npos);
    CHECK(all.rung[3].wire_words.find("a layer's weights come 16 times") != std::string::npos);
    p.layout.gradient_reduction = GradientReduction::step;
    p.layout.zero = 2;
    const ZeroRungs once = rungs_of(p);
    CHECK(once.rung[2].held.gradients == once.rung[1].held.gradients);
    CHECK_FALSE(once.rung[2].shared[1]);
    CHECK(once.rung[2].held_words == "gradients stay whole: summed once a step");
    CHECK(once.rung[2].wire_words == "not a byte more than ZeRO-1");
}

TEST_CASE("experts with fewer copies than the dense part add up to more than one copy") {
    const ZeroRungs all = rungs_of(presets().plan("deepseek-v3-2048"));
    REQUIRE(all.experts > 1);
    REQUIRE(all.experts < all.ranks);
    CHECK_FALSE(all.adds_up(all.rung[1], 2));
    CHECK(all.rung[0].held_words == "each keeps its whole state");
}

TEST_CASE("one rank has nothing to share out, and a stage that the plan's software does not run says so") {
    const ZeroRungs one = rungs_of(presets().plan("single-gpu"));
    CHECK(one.ranks == 1);
    for (const ZeroRung& r : one.rung) {
        CHECK(r.held.total() == one.rung[0].held.total());
        CHECK(r.wire_words.empty());
    }
    Plan pipeline = presets().plan("llama-3-70b-3d");
    pipeline.training.software = Software::deepspeed;
    const ZeroRungs lacking = rungs_of(pipeline);
    CHECK(lacking.rung[2].lacks.find("DeepSpeed") != std::string::npos);
    CHECK(lacking.rung[1].lacks.empty());
    pipeline.training.software = Software::nanotron;
    CHECK(rungs_of(pipeline).rung[3].lacks.find("nanotron") != std::string::npos);
    pipeline.layout.tp = 3;
    CHECK_FALSE(rungs_of(pipeline).any_possible());
}
