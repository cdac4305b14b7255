// The link to host memory takes bytes over its rate; what a pass hides nothing waits for.
#include "core/evaluate.h"
#include "core/pipeline/sequence.h"
#include "core/step/compute.h"
#include "core/step/offload.h"
#include "tests/core/plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

constexpr double kFast = 1e17, kSlow = 1e9;  // bytes per second: nothing waits, everything does

Evaluation run(const Plan& plan) {
    return evaluate(plan, {.messages = false});
}

// One GPU, whose step is its passes and the optimizer.
Plan one_gpu() {
    Plan p = small_plan(1);
    p.training.software = Software::deepspeed;
    return p;
}

double pass(const Evaluation& e, bool forward) {
    const ChunkCost& c = e.costs.chunk.front();
    return forward ? c.forward : c.input_grad + c.weight_grad;
}

double parts_of(const Step& s) {
    double sum = s.compute_s + s.recompute_s + s.slowed_by_traffic_s + s.bubble_s + s.offload_s
                 + s.optimizer_s + s.straggler_s;
    for (const double t : s.exposed_comm_s) sum += t;
    return sum;
}

}  // namespace

TEST_CASE("where nothing is offloaded the link to host memory makes no difference") {
    for (const char* id : {"llama-3-70b-3d", "hsdp-64", "mixtral-8x7b-ep", "deepseek-v3-2048"}) {
        CAPTURE(id);
        Plan plan = presets().plan(id);
        CHECK(plan.cluster.gpu.host_bytes_per_s == 55e9);  // PCIe 5.0 x16
        const Evaluation e = run(plan);
        REQUIRE(e.step);
        CHECK(e.step->offload_s == 0);
        plan.cluster.gpu.host_bytes_per_s = 1;
        CHECK(run(plan).step == e.step);
        plan.cluster.gpu.host_bytes_per_s = 0;
        CHECK(run(plan).step == e.step);
    }
}

TEST_CASE("activations on a slow link: a pass takes their bytes over its rate") {
    Plan p = one_gpu();
    const Evaluation at_home = run(p);
    p.training.offload.activations_layers = 12;
    p.cluster.gpu.host_bytes_per_s = kFast;
    const Evaluation hidden = run(p);
    REQUIRE(hidden.step);
    CHECK(hidden.step->time_s == at_home.step->time_s);     // all hides
    const double bytes = hidden.memory.stage.front().host;  // of the one micro-batch in flight
    REQUIRE(hidden.in_flight.front() == 1);
    CHECK(bytes > 0);
    for (const double rate : {kSlow, 0.4 * bytes / pass(hidden, true)}) {
        p.cluster.gpu.host_bytes_per_s = rate;
        const Evaluation e = run(p);
        REQUIRE(e.step);
        CHECK(pass(e, true) == near(bytes / rate, 1e-8));
        CHECK(pass(e, false) == near(std::max(bytes / rate, pass(hidden, false)), 1e-8));
        const double waits = pass(e, true) - pass(hidden, true) + pass(e, false) - pass(hidden, false);
        CHECK(e.step->offload_s == near(static_cast<double>(e.microbatches) * waits, 1e-9));
        CHECK(e.step->offload_once_s == 0);
        CHECK(e.step->time_s == near(hidden.step->time_s + e.step->offload_s, 1e-9));
        CHECK(e.memory == hidden.memory);
    }
    // A link as fast as the pass needs it hides all; more layers take longer.
    p.cluster.gpu.host_bytes_per_s = 1.001 * bytes / pass(hidden, true);
    CHECK(run(p).step->offload_s == 0);
    p.training.offload.activations_layers = 13;
    CHECK(run(p).step->offload_s > 0);
}

// 6,738,415,616 parameters (meta-llama/Llama-2-7b-hf, model.safetensors.index.json: 13,476,831,232 bytes in
// 16 bits): 4 bytes of gradient and 2 of weight each over 55 GB/s are 735 ms.
TEST_CASE("an optimizer on the host: gradients go there in fp32, weights come back in bf16") {
    Plan p = one_gpu();
    p.model = golden_model("llama-2-7b");
    p.layout.zero = 1;
    p.cluster.gpu.host_bytes_per_s = 55e9;
    const Evaluation at_home = run(p);
    REQUIRE(at_home.step);
    constexpr double kParameters = 6738415616.0;
    for (const double share : {0.25, 1.0}) {
        CAPTURE(share);
        p.training.offload.optimizer = share;
        const Evaluation e = run(p);
        REQUIRE(e.step);
        CHECK(e.step->offload_once_s == near(share * kParameters * 6 / 55e9, 1e-9));
        CHECK(e.step->offload_s == e.step->offload_once_s);
        const double update = at_home.step->optimizer_s - once_a_step(p);
        CHECK(e.step->optimizer_s == near(once_a_step(p) + (1 - share) * update, 1e-9));
        CHECK(e.step->time_s == near(at_home.step->time_s + e.step->offload_s - share * update, 1e-9));
        CHECK(e.step->offload_s > share * update);  // else the host would seem faster than the GPU
    }
    // Weights that lie there need no way back.
    p.layout.zero = 3;
    p.training.offload.parameters = 1;
    CHECK(offloaded_update_time(p, run(p).comm.reduced, StateShards{}) == near(kParameters * 4 / 55e9, 1e-9));
}

TEST_CASE("parameters on the host come once a pass, and every rank brings its shard") {
    Plan p = small_plan(8);
    p.training.software = Software::deepspeed;
    p.model = golden_model("llama-2-7b");
    p.layout.zero = 3;
    p.training.offload.parameters = 1;
    p.cluster.gpu.host_bytes_per_s = kFast;
    const Evaluation hidden = run(p);
    REQUIRE(hidden.step);
    p.cluster.gpu.host_bytes_per_s = kSlow;
    const Evaluation e = run(p);
    REQUIRE(e.step);
    constexpr double kShard = 6738415616.0 / 8 * 2;
    CHECK(pass(e, true) == near(kShard / kSlow, 1e-9));
    CHECK(pass(e, false) == near(kShard / kSlow, 1e-9));
    CHECK(e.step->offload_once_s == near(kShard / kSlow, 1e-9));  // updated on the GPU, kept on the host
    const double waits = 2 * kShard / kSlow - pass(hidden, true) - pass(hidden, false);
    CHECK(e.step->offload_s - e.step->offload_once_s
          == near(static_cast<double>(e.microbatches) * waits, 1e-9));
}

TEST_CASE("where the link is not known offload has no time, and says so") {
    Plan p = small_plan(8);
    p.layout.zero = 3;
    const Evaluation at_home = run(p);
    p.training.offload = {8, 0.5, 0.5};
    p.cluster.gpu.host_bytes_per_s = 0;
    const Evaluation e = run(p);
    REQUIRE(e.step);
    CHECK(e.step->offload_s == 0);
    CHECK(e.step->time_s == at_home.step->time_s);
}

TEST_CASE("the parts of a step with offload sum to it, in a pipeline and on every stage") {
    std::mt19937 rng(7);
    int waits = 0;
    for (int i = 0; i < rounds(60); ++i) {
        Plan p = small_plan(64);
        p.layout.tp = 1 << rng() % 3, p.layout.pp = 1 << rng() % 3;
        p.layout.dp_shard = 64 / (p.layout.tp * p.layout.pp);
        p.layout.zero = p.layout.pp == 1 ? 3 : 1;
        if (p.layout.pp > 1 && rng() % 2)
            p.layout.schedule = Schedule::interleaved, p.layout.virtual_stages = 2;
        p.training.global_batch = 8 * p.layout.dp_shard;
        p.training.straggler_cv = rng() % 2 ? 0.05 : 0;
        p.training.software = Software::deepspeed;
        p.training.offload = {static_cast<std::int64_t>(rng() % 8), 0.25 * static_cast<double>(rng() % 5),
                              p.layout.zero == 3 ? 0.5 * static_cast<double>(rng() % 3) : 0};
        p.cluster.gpu.host_bytes_per_s = rng() % 2 ? 25e9 : kSlow;
        const Evaluation e = run(p);
        REQUIRE(e.step);
        const Step& s = *e.step;
        if (s.offload_s > s.offload_once_s) ++waits;
        CHECK(parts_of(s) == near(s.time_s, 1e-9));
        if (!e.timeline.empty())
            CHECK(e.timeline.makespan + step_tail(s, e.comm).total() == near(s.time_s, 1e-9));
        double shown = 0;
        for (const StepSlice& slice : waterfall(evaluate(p).step.value())) shown += slice.time_s;
        CHECK(shown == near(s.time_s, 1e-9));
        for (const StageTime& t : stage_times(p, e.comm, e.work, s)) {
            double sum = t.compute_s + t.slowed_s + t.idle_s + t.offload_s + s.slowed_once_s + s.optimizer_s
                         + s.straggler_s;
            for (const double wait : t.exposed_s) sum += wait;
            CHECK(sum == near(s.time_s, 1e-9));
        }
        p.cluster.gpu.host_bytes_per_s *= 2;
        CHECK(run(p).step->time_s <= s.time_s * (1 + 1e-12));
    }
    CHECK(waits > rounds(60) / 8);
}
