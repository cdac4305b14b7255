#include "core/step/step.h"

#include "core/evaluate.h"
#include "core/explain/verdict.h"
#include "core/io/presets.h"
#include "core/mesh/mesh.h"
#include "core/model/model.h"
#include "core/plan/software.h"
#include "core/runs/measured.h"
#include "core/step/compute.h"
#include "plans.h"
#include "tests/near.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

Evaluation run(const Plan& plan, bool timeline = true) {
    return evaluate(plan, {.timeline = timeline, .messages = false});
}

double parts_of(const Step& s) {
    double sum = s.compute_s + s.recompute_s + s.slowed_by_traffic_s + s.bubble_s + s.offload_s
                 + s.optimizer_s + s.straggler_s;
    for (const double t : s.exposed_comm_s) sum += t;
    return sum;
}

Plan random_plan(std::mt19937& rng) {
    Plan p = small_plan(64);
    if (rng() % 2) {
        p.model = golden_model("mixtral-8x7b");
        p.layout.ep = 1 << rng() % 4;
        p.layout.etp = 1;
    }
    Layout& l = p.layout;
    l.tp = 1 << rng() % 4, l.pp = 1 << rng() % 3, l.cp = 1 << rng() % 2;
    l.dp_shard = 64 / (l.tp * l.pp * l.cp);
    l.zero = static_cast<int>(rng() % 4);
    if (l.pp > 1 && rng() % 2) l.schedule = Schedule::interleaved, l.virtual_stages = 2;
    p.training.global_batch = 64 * l.dp_shard / l.cp;
    p.training.recompute = static_cast<Recompute>(rng() % 3);
    p.training.compute = rng() % 2 ? Dtype::fp8 : Dtype::bf16;
    p.training.straggler_cv = rng() % 2 ? 0.05 : 0;
    p.training.overlap.tp = rng() % 2, p.training.overlap.ep = rng() % 2;
    p.training.overlap.dp = rng() % 2, p.training.overlap.pp = rng() % 2;
    return p;
}

// Returns idle over busy time, of stages that all do the mean work.
double bubble_over_work(const Evaluation& e) {
    double busy = 0;
    for (const DeviceTime& d : e.timeline.device)
        busy += d.busy / static_cast<double>(e.timeline.device.size());
    return (e.timeline.makespan - busy) / busy;
}

double time_of(const Plan& p, bool timeline = true) {
    const Evaluation e = run(p, timeline);
    REQUIRE(e.step.has_value());
    return e.step->time_s;
}

}  // namespace

TEST_CASE("the parts of a step sum to the replay and the tail behind it, and no part is negative") {
    std::mt19937 rng(11);
    for (int i = 0; i < 200; ++i) {
        const Evaluation e = run(random_plan(rng), i % 2 == 0);
        REQUIRE(e.step.has_value());
        const Step& s = *e.step;
        if (!e.timeline.empty()) {
            const double replayed = e.timeline.makespan + step_tail(s, e.comm).total();
            CHECK(s.time_s == near(replayed));
            CHECK(parts_of(s) == near(replayed));
        }
        for (const double t : {s.compute_s, s.recompute_s, s.slowed_by_traffic_s, s.slowed_once_s, s.bubble_s,
                               s.optimizer_s, s.straggler_s})
            CHECK(t >= 0);
        for (const double t : s.exposed_comm_s) CHECK(t >= 0);
        for (const Operation& o : e.comm.operations) CHECK(o.exposed_s <= o.time_s * (1 + 1e-12));
    }
}

TEST_CASE("more bandwidth, a faster GPU or less latency never makes a step slower") {
    std::mt19937 rng(5);
    for (int i = 0; i < 150; ++i) {
        const Plan p = random_plan(rng);
        const double t = time_of(p);
        Plan faster = p;
        switch (i % 4) {
        case 0: faster.cluster.tiers[0].bytes_per_s *= 2; break;
        case 1: faster.cluster.tiers[1].bytes_per_s *= 2; break;
        case 2: faster.cluster.gpu.hbm_bytes_per_s *= 1.5; break;
        case 3: faster.cluster.tiers[1].latency_s /= 2; break;
        }
        CHECK(time_of(faster) <= t * (1 + 1e-12));
    }
}

TEST_CASE("closed forms come near the replay") {
    std::mt19937 rng(2);
    for (int i = 0; i < 60; ++i) {
        Plan p = random_plan(rng);
        p.training.straggler_cv = 0;
        CHECK(time_of(p, false) == near(time_of(p, true), 0.08));
    }
}

// 8 stages and 8 micro-batches: a bubble of (p - 1) / m of the work with 1F1B, and no less than a tenth with
// any.
TEST_CASE("closed forms come near the replay where the bubble is large") {
    struct Case {
        Schedule schedule;
        int chunks;
        double idle_over_work;  // (p - 1) / m, Narayanan et al. 2021, section 2.2; 0: sends make it more
    };
    for (const Case& c : {Case{Schedule::gpipe, 1, 7.0 / 8}, Case{Schedule::one_f_one_b, 1, 7.0 / 8},
                          Case{Schedule::interleaved, 2, 0}, Case{Schedule::interleaved, 4, 0},
                          Case{Schedule::zb_h1, 1, 0}, Case{Schedule::zb_v, 2, 0}}) {
        CAPTURE(name_of(c.schedule));
        CAPTURE(c.chunks);
        Plan p = small_plan(64);
        p.layout.tp = 8, p.layout.pp = 8, p.layout.dp_shard = 1;
        p.layout.sequence_parallel = true;
        p.model.vocab = 1024;  // stages of one length: the head takes nothing
        p.layout.schedule = c.schedule, p.layout.virtual_stages = c.chunks;
        p.training.global_batch = 8;
        const Evaluation replay = run(p), form = run(p, false);
        REQUIRE(replay.step);
        REQUIRE(form.step);
        CHECK(replay.step->bubble_s > 0.1 * replay.step->time_s);
        CHECK(form.step->time_s == near(replay.step->time_s, 0.05));
        CHECK(form.step->bubble_s == near(replay.step->bubble_s, 0.15));
        if (c.idle_over_work > 0) CHECK(bubble_over_work(replay) == near(c.idle_over_work, 0.1));
    }
}

TEST_CASE("a window's keys are the mean over all tokens of the keys that each meets") {
    constexpr std::int64_t kTokens = 100000;
    for (const std::int64_t window : {std::int64_t{0}, std::int64_t{1000}, std::int64_t{50000}, kTokens}) {
        double met = 0;
        for (std::int64_t token = 1; token <= kTokens; ++token)
            met += static_cast<double>(window > 0 ? std::min(window, token) : token) / kTokens;
        CHECK(keys_met(window, kTokens, true) == near(met, 1e-3));
    }
    CHECK(keys_met(1000, kTokens, false) == 1000);
    CHECK(keys_met(0, kTokens, false) == kTokens);
}

TEST_CASE("MFU counts six FLOPs per parameter and token, and attention unhalved") {
    Plan p = small_plan(8);
    const Evaluation e = run(p);
    const Model& m = p.model;
    const double s = 8192, layer = 4096.0 * (4096 + 2 * 1024) + 4096.0 * 4096 + 3.0 * 4096 * 14336;
    const double per_token = 6 * (32 * layer + 4096.0 * 128000) + 3 * 4 * 32 * s * 4096;
    CHECK(e.step->model_flops_per_gpu
          == near(per_token * s * static_cast<double>(p.training.global_batch) / 8, 1e-6));
    // NVIDIA's data sheet: an H100 SXM computes 989.4 dense bf16 TFLOP/s.
    CHECK(e.step->mfu * 989.4e12 * e.step->time_s == near(e.step->model_flops_per_gpu, 1e-3));
    CHECK(e.step->hfu == e.step->mfu);
    CHECK(m.layers == 32);
    p.training.recompute = Recompute::full;
    const Evaluation again = run(p);
    CHECK(again.step->hfu > again.step->mfu);
    CHECK(again.step->hfu < again.step->mfu * 4 / 3 + 1e-12);
    // The forward of the layers is a third of their work; the head is not run once more.
    const double forward = 2 * 32 * layer + 4 * 32 * s * 4096;
    CHECK(again.step->hfu / again.step->mfu == near(1 + forward / per_token, 1e-3));
}

TEST_CASE("FLOPs per token are those that the frameworks report of their own runs") {
    const Presets presets(SOURCE_DIR "/presets");
    const std::vector<PublishedRun> runs = load_published_runs(presets);
    const auto cases = nlohmann::json::parse(read_text(SOURCE_DIR "/presets/published_runs.json"))["cases"];
    REQUIRE(cases.size() == runs.size());
    int compared = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const double tokens_per_s = cases[i].value("tokens_per_s_per_gpu", 0.0);
        const double tflops = cases[i].value("model_tflops_per_gpu", 0.0);
        // Sliding windows and attention sinks of gpt-oss are counted in more than one way.
        if (tokens_per_s == 0 || tflops == 0 || runs[i].model.starts_with("gpt-oss")) continue;
        CAPTURE(runs[i].label);
        const Evaluation e = run(runs[i].plans.front(), false);
        REQUIRE(e.step.has_value());
        // They count the masked half of attention out, our MFU does not (PaLM's convention).
        const Plan& p = runs[i].plans.front();
        const double masked = 1.5 * forward_flops(p.model, p.training.sequence_length).attention
                              / static_cast<double>(p.training.sequence_length);
        const double ours =
            e.step->model_flops_per_gpu * static_cast<double>(e.mesh.world) / e.step->tokens_per_step;
        CHECK(ours - masked == near(tflops * 1e12 / tokens_per_s, 0.03));
        ++compared;
    }
    CHECK(compared >= 20);
}

TEST_CASE("DeepSeek V3 computes about 250 GFLOPs per token, of which its 37e9 active parameters are most") {
    const Model m = golden_model("deepseek-v3");
    const ForwardFlops f = forward_flops(m, 4096);
    const double active = static_cast<double>(count_parameters(m).active - 129280LL * 7168);
    CHECK(f.layers + f.head - f.attention == near(2 * 4096 * active, 1e-3));
}

TEST_CASE("the expected maximum of normal times is the exact one, below the textbook bound") {
    CHECK(expected_maximum(1) == 0);
    CHECK(expected_maximum(2) == near(1 / std::sqrt(std::acos(-1.0)), 1e-9));
    CHECK(expected_maximum(3) == near(1.5 / std::sqrt(std::acos(-1.0)), 1e-9));
    // Harter 1961, table of expected values of normal order statistics.
    CHECK(expected_maximum(10) == near(1.53875, 1e-5));
    CHECK(expected_maximum(100) == near(2.50759, 1e-5));
    // reference: 16,000 ranks with 5 %: bound 22.0 %, exact 19.8 %.
    CHECK(0.05 * expected_maximum(16000) == near(0.198, 0.003));
    CHECK(0.05 * expected_maximum_bound(16000) == near(0.220, 0.003));
    // These stand in printed tables of the normal distribution.
    CHECK(normal_quantile(0.975) == near(1.959964, 1e-6));
    CHECK(normal_quantile(0.84134475) == near(1.0, 1e-6));
    CHECK(std::abs(normal_quantile(0.5)) < 1e-9);
    CHECK(normal_quantile(0.1) == near(-normal_quantile(0.9), 1e-9));
}

TEST_CASE("the straggler tax is what the slowest of 64 GPUs takes longer, on the mean of many draws") {
    std::mt19937_64 rng(3);
    std::normal_distribution<double> slower(0, 0.05);
    constexpr int kSteps = 50000;
    double sum = 0;
    for (int step = 0; step < kSteps; ++step) {
        double slowest = slower(rng);
        for (int gpu = 1; gpu < 64; ++gpu) slowest = std::max(slowest, slower(rng));
        sum += slowest;
    }
    Plan p = small_plan(64);
    const double even = time_of(p);
    p.training.straggler_cv = 0.05;
    CHECK(time_of(p) / even - 1 == near(sum / kSteps, 0.005));
}

TEST_CASE("what overlaps costs no more than what does not") {
    std::mt19937 rng(9);
    for (int i = 0; i < 60; ++i) {
        Plan p = random_plan(rng);
        p.training.overlap = {.dp = false, .pp = false, .cp = false, .tp = false, .ep = false};
        const double bare = time_of(p);
        p.training.overlap = {.dp = true, .pp = true, .cp = true, .tp = true, .ep = true};
        CHECK(time_of(p) <= bare * (1 + 1e-12));
    }
}

TEST_CASE("the step of a plan that cannot be cut into micro-batches has no time") {
    Plan p = small_plan(64);
    p.training.global_batch = 63;
    const Evaluation e = run(p);
    CHECK(e.microbatches == 0);
    CHECK_FALSE(e.step.has_value());
    CHECK_FALSE(e.valid);
}

TEST_CASE("thin products run slower than square ones of the same FLOPs") {
    const Plan p = small_plan(8);
    const Rates r = find_rates(p);
    const double square = product_time(r, {4096, 4096, 4096}, r.linear, 2, 2);
    const double thin = product_time(r, {65536, 256, 4096}, r.linear, 2, 2);
    const double thinner = product_time(r, {1048576, 16, 4096}, r.linear, 2, 2);
    CHECK(square < thin);
    CHECK(thin < thinner);
}

TEST_CASE("every operation and every part of a step can say how it came about") {
    Plan p = small_plan(64);
    p.layout.tp = 8, p.layout.pp = 2, p.layout.dp_shard = 4;
    p.training.recompute = Recompute::full;
    p.training.straggler_cv = 0.05;
    const Evaluation e = run(p);
    REQUIRE(e.step.has_value());
    for (const Operation& o : e.comm.operations) {
        const Explanation x = explain_operation(p, e, o);
        CHECK_FALSE(x.empty());
        CHECK(x.part == words_of(o.what));
        CHECK(x.whole_title() == std::string(name_of(o.group)) + " sends, " + std::string(words_of(o.what)));
        CHECK_FALSE(x.source.empty());
    }
    for (const StepPart part : {StepPart::compute, StepPart::recompute, StepPart::bubble, StepPart::exposed,
                                StepPart::optimizer, StepPart::straggler}) {
        const Explanation x = explain_step(p, e, part);
        CHECK_FALSE(x.empty());
        CHECK(x.result.find("of the step") != std::string::npos);
    }
}

TEST_CASE("CUDA graphs take from the host's time: of each layer a share, of an iteration all") {
    Plan p = small_plan(8);
    p.model = golden_model("mixtral-8x7b");
    p.layout.ep = 8, p.layout.etp = 1;
    p.training.sequence_length = 256;  // every pass waits for its launches
    const auto with = [&](CudaGraphs graphs, double launch_s) {
        p.training.cuda_graphs = graphs;
        p.cluster.gpu.efficiency.launch_s = launch_s;
        return time_of(p);
    };
    constexpr double kLaunch = 3e-5;
    CHECK(with(CudaGraphs::layers, kLaunch) < with(CudaGraphs::none, kLaunch));
    CHECK(with(CudaGraphs::iteration, kLaunch) < with(CudaGraphs::layers, kLaunch));
    CHECK(with(CudaGraphs::iteration, kLaunch) == with(CudaGraphs::iteration, 2 * kLaunch));
    const double left = facts_of(p.training.software).graphs_layers;
    CHECK(with(CudaGraphs::layers, kLaunch) == near(with(CudaGraphs::none, kLaunch * left), 1e-9));
}

TEST_CASE("a host that waits for the router starts behind it anew, and never saves time by that") {
    Plan p = small_plan(8);
    p.model = golden_model("mixtral-8x7b");
    p.layout.ep = 8, p.layout.etp = 1;
    const int moe = layer_types(p.model).size() - 1;
    const auto waits = [&](RoutingSizes sizes, double launch_s) {
        p.training.routing_sizes = sizes;
        p.cluster.gpu.efficiency.launch_s = launch_s;
        return evaluate(p).work.times.of(moe).waiting;
    };
    // The GPU does what was launched and stands for one launch: this is all where it is the slower one, and
    // where nearly all time is the host's.
    for (const double launch : {1e-9, 1.0}) {
        const PassTime host = waits(RoutingSizes::host, launch), device = waits(RoutingSizes::device, launch);
        CHECK(host.forward - device.forward == near(launch, 1e-6));
        CHECK(host.input_grad == device.input_grad);
    }
    // Between them what is launched behind the router hides behind no attention.
    double most = 0;
    for (double launch = 1e-6; launch < 1e-2; launch *= 1.3) {
        const double more =
            waits(RoutingSizes::host, launch).forward - waits(RoutingSizes::device, launch).forward;
        CHECK(more >= launch * (1 - 1e-9));
        CHECK(more <= launch * (1 + evaluate(p).work.times.of(moe).launches.all()));
        most = std::max(most, more / launch);
    }
    CHECK(most > 2);
    // A graph of the whole iteration holds no such wait, and a dense layer has no router.
    p.training.cuda_graphs = CudaGraphs::iteration;
    CHECK(waits(RoutingSizes::host, 3e-5).forward == 0);
    p.training.cuda_graphs = CudaGraphs::none;
    p.model = golden_model("llama-3-8b");
    p.layout.ep = 1, p.layout.etp.reset();
    p.training.routing_sizes = RoutingSizes::host;
    const double dense = time_of(p);
    p.training.routing_sizes = RoutingSizes::device;
    CHECK(time_of(p) == dense);
    // By its software: DeepSpeed's experts have a capacity, MaxText's sizes stay on the device.
    p.training.routing_sizes = RoutingSizes::by_software;
    p.model = golden_model("mixtral-8x7b");
    p.layout.ep = 8, p.layout.etp = 1;
    for (const Software s : all_of<Software>()) {
        CAPTURE(name_of(s));
        p.training.software = s;
        const double by_software = waits(RoutingSizes::by_software, 3e-5).forward;
        const bool asks = s != Software::deepspeed && s != Software::maxtext;
        CHECK((by_software > waits(RoutingSizes::device, 3e-5).forward) == asks);
    }
}

TEST_CASE("experts one by one take a launch more each, and a kernel's start for each product") {
    Plan p = small_plan(8);
    p.model = golden_model("mixtral-8x7b");
    p.layout.ep = 2, p.layout.etp = 1;
    const int moe = layer_types(p.model).size() - 1;
    const LayerTime grouped = evaluate(p).work.times.of(moe);
    p.training.experts_one_by_one = true;
    const LayerTime apart = evaluate(p).work.times.of(moe);
    const double local = 4, kernel_s = p.cluster.gpu.efficiency.kernel_s;
    CHECK(apart.launches.all() - grouped.launches.all() == local);
    CHECK(apart.mlp.forward - grouped.mlp.forward == near(3 * (local - 1) * kernel_s, 1e-6));
    CHECK(apart.mlp.weight_grad - grouped.mlp.weight_grad == near(2 * (local - 1) * kernel_s, 1e-6));
}

TEST_CASE("an fp8 recipe bears on fp8 products alone, at its software's rate") {
    Plan p = small_plan(8);
    p.training.software = Software::torchtitan;
    const auto with = [&](Dtype compute, Fp8Recipe recipe) {
        p.training.compute = compute, p.training.fp8_recipe = recipe;
        return find_rates(p).linear;
    };
    const SoftwareFacts& f = facts_of(p.training.software);
    for (const Fp8Recipe recipe : {Fp8Recipe::rowwise, Fp8Recipe::blockwise, Fp8Recipe::mxfp8}) {
        CAPTURE(name_of(recipe));
        const double rate = recipe == Fp8Recipe::rowwise     ? f.fp8_rowwise
                            : recipe == Fp8Recipe::blockwise ? f.fp8_blockwise
                                                             : f.fp8_mxfp8;
        CHECK(with(Dtype::fp8, recipe) == near(rate * with(Dtype::fp8, Fp8Recipe::tensorwise)));
        CHECK(with(Dtype::bf16, recipe) == with(Dtype::bf16, Fp8Recipe::tensorwise));
    }
    CHECK(f.fp8_rowwise < 1);
}

TEST_CASE("fused experts save the passes of their activation and its casts, and nothing of a dense model") {
    Plan p = small_plan(8);
    p.training.compute = Dtype::fp8;
    const double dense = time_of(p);
    p.training.fused_experts = true;
    CHECK(time_of(p) == dense);
    p.model = golden_model("mixtral-8x7b");
    p.layout.ep = 8, p.layout.etp = 1;
    p.cluster.gpu.efficiency.launch_s = 0;
    const LayerTypes types = layer_types(p.model);
    const Degrees degrees = degrees_of(p, build_mesh(p));
    const auto mlp = [&] {
        PartsByType parts;
        list_parts(p, degrees, types, parts);
        return time_layers(p, degrees, types, parts).of(types.size() - 1).mlp;
    };
    const PassTime fused = mlp();
    p.training.fused_experts = false;
    const PassTime apart = mlp();
    // Gate and up are read and their product written; what is written is read and cast for the second
    // product, and the gradient of gate and up for the first.
    const double copies = static_cast<double>(p.training.micro_batch * p.training.sequence_length) * 2;
    const double numbers = copies * static_cast<double>(p.model.moe->expert_ffn);
    const Rates r = find_rates(p);
    CHECK(apart.forward - fused.forward == near(numbers * (3 * 2 + r.cast_bytes) / r.hbm + r.kernel_s, 1e-6));
    CHECK(apart.input_grad - fused.input_grad > numbers * 2 * r.cast_bytes / r.hbm);
    CHECK(apart.weight_grad == near(fused.weight_grad, 1e-9));
}

TEST_CASE(
    "the parts of each stage sum to the step, and those of the stage that works longest are the step's own") {
    const Presets all(std::filesystem::path(SOURCE_DIR) / "presets");
    int pipelines = 0;
    for (const Presets::Entry& entry : all.list(PresetKind::plan)) {
        CAPTURE(entry.id);
        const Plan plan = all.plan(entry.id);
        const Evaluation e = run(plan);
        if (!e.step) continue;
        const Step& s = *e.step;
        const std::vector<StageTime> stages = stage_times(plan, e.comm, e.work, s);
        REQUIRE(stages.size() == e.memory.stage.size());
        if (stages.size() > 1) ++pipelines;
        for (std::size_t i = 0; i < stages.size(); ++i) {
            CAPTURE(i);
            const StageTime& t = stages[i];
            double sum =
                t.compute_s + t.slowed_s + t.idle_s + s.slowed_once_s + s.optimizer_s + s.straggler_s;
            for (const double wait : t.exposed_s) sum += wait;
            CHECK(sum == near(s.time_s, 1e-9));
            CHECK(t.idle_s >= -1e-9 * s.time_s);
        }
        const StageTime& longest = stages[static_cast<std::size_t>(e.comm.busiest_device)];
        // In the broken plan another stage computes longest than the one that works longest in all.
        const bool apart = entry.id == "broken-pp-zero3";
        if (!apart) CHECK(longest.compute_s == near(runs::longest_compute(s), 1e-9));
        for (const GroupKind k : all_of<GroupKind>()) {
            CAPTURE(std::string(name_of(k)));
            CHECK(longest.exposed_s[k] == near(s.exposed_comm_s[k], 1e-9));
        }
        if (!apart) CHECK(longest.idle_s == within(schedule_bubble_s(s), 1e-9 * s.time_s));
    }
    CHECK(pipelines >= 5);
}
