#include "core/base/files.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/runs/calibrate.h"
#include "core/runs/run_file.h"
#include "core/step/constants.h"
#include "tests/core/shipped.h"
#include "tests/near.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;
using test::presets;

namespace {

// Returns a run that took as long as the program says with these constants.
MeasuredRun run_of(const Efficiency& truth, std::int64_t sequence, std::int64_t tp, std::int64_t gpus) {
    MeasuredRun run;
    run.plan = presets().plan("llama-3-8b-fsdp");
    Layout& l = run.plan.layout;
    run.plan.cluster.gpus = gpus;
    l.tp = tp;
    l.dp_shard = gpus / tp;
    l.sequence_parallel = tp > 1;
    run.plan.training.sequence_length = sequence;
    run.plan.training.global_batch = l.dp_shard * 2;
    run.id = std::to_string(sequence) + " tp " + std::to_string(tp) + " on " + std::to_string(gpus);
    Plan real = run.plan;
    real.cluster.gpu.efficiency = truth;
    const Evaluation e = evaluate(real);
    REQUIRE(e.step.has_value());
    run.step_s = e.step->time_s;
    return run;
}

std::vector<MeasuredRun> runs_of(const Efficiency& truth) {
    std::vector<MeasuredRun> runs;
    for (const std::int64_t sequence : {2048, 8192, 65536})
        for (const std::int64_t tp : {1, 2}) runs.push_back(run_of(truth, sequence, tp, 16));
    runs.push_back(run_of(truth, 131072, 2, 8));
    return runs;
}

double constant(const Calibrated& made, std::string_view id) {
    for (const CalibratedConstant& c : made.constants)
        if (c.id == id) return c.after;
    return 0;
}

std::string refusal_of(const auto& act) {
    try {
        act();
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

}  // namespace

TEST_CASE("calibration finds the constants that the runs were made with, and foretells a run left out") {
    const Cluster on = presets().plan("llama-3-8b-fsdp").cluster;
    Efficiency truth = on.gpu.efficiency;
    truth.gemm *= 0.85;
    truth.attention *= 0.8;
    const Calibrated made = calibrate(runs_of(truth), {}, on, "own.json");
    CHECK(constant(made, "efficiency.gemm") == near(truth.gemm, 0.02));
    // Seven runs do not overrule the prior of attention (FlashAttention-3's figures), but they move it.
    CHECK(constant(made, "efficiency.attention") < 0.95 * on.gpu.efficiency.attention);
    CHECK(constant(made, "efficiency.attention") > truth.attention);
    CHECK(made.before > 0.1);
    CHECK(made.after < 0.01);
    CHECK(made.left_out < 0.02);
    for (const CalibratedRun& r : made.runs) {
        CAPTURE(r.id);
        CHECK(r.better());
    }
    REQUIRE(made.cluster.calibration.has_value());
    CHECK(made.cluster.calibration->runs == 7);
    CHECK(made.cluster.calibration->from == "own.json");
    CHECK(made.cluster.calibration->error < 0.02);
    CHECK(made.cluster.calibration->error_90 >= made.cluster.calibration->error);
}

TEST_CASE("many runs overrule what was known of a constant" * doctest::skip(test::kSanitized)) {
    const Cluster on = presets().plan("llama-3-8b-fsdp").cluster;
    Efficiency truth = on.gpu.efficiency;
    truth.gemm *= 0.9;
    truth.attention *= 0.8;
    std::vector<MeasuredRun> runs(60, run_of(truth, 131072, 2, 8));
    runs.resize(70, run_of(truth, 2048, 1, 8));
    const Calibrated made = calibrate(runs, {}, on, "own.json");
    CHECK(constant(made, "efficiency.gemm") == near(truth.gemm, 0.02));
    CHECK(constant(made, "efficiency.attention") == near(truth.attention, 0.04));
}

TEST_CASE(
    "runs as the constants already say move them hardly, and those of another nature keep to the bounds") {
    const Cluster on = presets().plan("llama-3-8b-fsdp").cluster;
    const Calibrated same = calibrate(runs_of(on.gpu.efficiency), {}, on, "");
    for (const CalibratedConstant& c : same.constants) CHECK(c.after == near(c.before, 0.01));
    std::vector<MeasuredRun> slow = runs_of(on.gpu.efficiency);
    for (MeasuredRun& r : slow) r.step_s *= 20;
    for (const CalibratedConstant& c : calibrate(slow, {}, on, "").constants) {
        CAPTURE(c.id);
        CHECK(c.after >= c.least);
        CHECK(c.after <= c.most);
    }
}

TEST_CASE("fewer runs than constants fit fewer of them, the products first") {
    const Cluster on = presets().plan("llama-3-8b-fsdp").cluster;
    const std::vector<MeasuredRun> one{run_of(on.gpu.efficiency, 8192, 1, 8)};
    const Calibrated made = calibrate(one, {}, on, "");
    REQUIRE(made.constants.size() == 1);
    CHECK(made.constants[0].id == "efficiency.gemm");
}

TEST_CASE("a cluster without a launch time is fitted all the same, and its own constant stands as before") {
    Cluster on = presets().plan("llama-3-8b-fsdp").cluster;
    Efficiency truth = on.gpu.efficiency;
    truth.gemm *= 0.9;
    const std::vector<MeasuredRun> runs = runs_of(truth);
    on.gpu.efficiency.launch_s = 0;
    const Calibrated made = calibrate(runs, {}, on, "");
    CHECK(made.after < made.before);
    CHECK(constant(made, "efficiency.gemm") == near(truth.gemm, 0.05));
    for (const CalibratedConstant& c : made.constants)
        if (c.id == "efficiency.launch_s") CHECK(c.before == 0);
}

TEST_CASE("a calibrated file goes onto a plan and back, and the plan's constants name it") {
    const Plan plan = presets().plan("llama-3-8b-fsdp");
    Efficiency truth = plan.cluster.gpu.efficiency;
    truth.gemm *= 0.9;
    const Calibrated made = calibrate(runs_of(truth), {}, plan.cluster, "own.json");
    const Cluster read = read_constants(write_constants(made, "Ours", presets()), "c.json", presets());
    CHECK(read.name == "Ours");
    CHECK(read.gpu == made.cluster.gpu);
    CHECK(read.calibration == made.cluster.calibration);
    const Plan with = with_constants_of(plan, read, presets());
    CHECK(with.cluster.gpu.efficiency == made.cluster.gpu.efficiency);
    CHECK(with.cluster.calibration == made.cluster.calibration);
    CHECK(parse_plan(write_plan(with), "p", presets()).cluster == with.cluster);
    bool named = false;
    for (const Constant& c : list_constants(with, presets()))
        if (c.id == "efficiency.gemm") named = c.source == "calibrated from 7 runs (own.json)";
    CHECK(named);
    const Evaluation e = evaluate(with);
    REQUIRE(e.step.has_value());
    CHECK(e.step->calibrated == 7);
    CHECK(e.step->error == made.cluster.calibration->error);
    Plan other = plan;
    other.cluster = presets().cluster("a100-80gb-ib");
    CHECK(refusal_of([&] {
              static_cast<void>(with_constants_of(other, read, presets()));
          }).find("the constants are of")
          != std::string::npos);
}

TEST_CASE("nothing to calibrate from, a run without a time and a run on another GPU are refused by name") {
    const Cluster on = presets().plan("llama-3-8b-fsdp").cluster;
    CHECK(refusal_of([&] { static_cast<void>(calibrate({}, {}, on, "")); }).find("there is no run") == 0);
    MeasuredRun run = run_of(on.gpu.efficiency, 8192, 1, 8);
    run.id = "mine";
    run.step_s = 0;
    CHECK(
        refusal_of([&] { static_cast<void>(calibrate({run}, {}, on, "")); }).find("\"mine\" has no step time")
        != std::string::npos);
    run.step_s = 1;
    CHECK(refusal_of([&] {
              static_cast<void>(calibrate({run}, {}, presets().cluster("a100-80gb-ib"), ""));
          }).find("calibrate them apart")
          != std::string::npos);
}

TEST_CASE("a log's step is the median without the first two, of Megatron's seconds and torchtitan's tokens") {
    const std::string megatron =
        " iteration 1/ 9 | elapsed time per iteration (ms): 9000.0 | learning rate: 1E-4\n"
        " iteration 2/ 9 | elapsed time per iteration (ms): 5000.0 | x\n"
        " iteration 3/ 9 | elapsed time per iteration (ms): 810.0 | x\n"
        " iteration 4/ 9 | elapsed time per iteration (ms): 830.0 | x\n"
        " iteration 5/ 9 | elapsed time per iteration (ms): 820.5 | x\n";
    const runs::RunFile steps = runs::read_run_log(megatron);
    CHECK(steps.steps == 5);
    CHECK(steps.step_s == near(0.8205));
    const std::string titan =
        "[rank0]:2025 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  7.1  \x1b[33mmemory: 40.1GiB(50.2%)  "
        "\x1b[34mtps: 7,212  \x1b[36mtflops: 418.5  \x1b[35mmfu: 42.3%\x1b[39m\n";
    CHECK(runs::read_run_log(titan).tokens_per_s_per_gpu == 7212);
    const Plan plan = presets().plan("llama-3-8b-fsdp");
    const MeasuredRun run = read_log(titan, "titan.log", &plan, "", presets());
    const Training& t = plan.training;
    CHECK(run.step_s * 7212 * static_cast<double>(plan.cluster.gpus)
          == near(static_cast<double>(t.global_batch * t.sequence_length)));
    CHECK(runs::read_run_log("nothing").steps == 0);
    CHECK(refusal_of([&] {
              static_cast<void>(read_log(titan, "titan.log", nullptr, "", presets()));
          }).find("--plan")
          != std::string::npos);
}

TEST_CASE("a table of runs holds plans with what was measured, and rows as the published ones") {
    const std::string table = R"([{"plan": "llama-3-8b-fsdp", "measured": {"iteration_s": 3.5}},
        {"model": "llama-3-8b", "gpu": "h100-sxm", "gpus": 8, "precision": "BF16", "sequence": 8192,
         "micro_batch": 1, "global_batch": 64, "tp": 1, "pp": 1, "cp": 1, "ep": 1, "dp": 8, "zero": 3,
         "recompute": null, "tokens_per_s_per_gpu": 7000, "source": "us"}])";
    const std::vector<MeasuredRun> runs = read_measured(table, "t.json", presets());
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].step_s == 3.5);
    CHECK(runs[1].step_s == near(64 * 8192.0 / (7000 * 8)));
    CHECK(refusal_of([&] { static_cast<void>(read_measured("{}", "t.json", presets())); }).find("/cases")
          != std::string::npos);
    for (const char* wrong : {R"("tokens_per_s_per_gpu": 0)", R"("iteration_s": -3)"}) {
        const std::string bad = R"([{"plan": "llama-3-8b-fsdp", "measured": {)" + std::string(wrong) + "}}]";
        CHECK(refusal_of([&] {
                  static_cast<void>(read_measured(bad, "t.json", presets()));
              }).find("must be more than 0")
              != std::string::npos);
    }
}

TEST_CASE(
    "a run whose compute is known apart, with recomputation and uneven stages, fits the products it ran") {
    const Cluster on = presets().plan("llama-3-8b-fsdp").cluster;
    Efficiency truth = on.gpu.efficiency;
    truth.gemm *= 0.8;
    std::vector<MeasuredRun> runs;
    for (int i = 0; i < 30; ++i) {
        MeasuredRun run = run_of(truth, 4096, 1, 16);
        Plan& p = run.plan;
        p.training.recompute = Recompute::full;
        p.layout.pp = 2, p.layout.dp_shard = 8, p.layout.zero = 1, p.layout.stage_layers = {20, 12};
        p.training.global_batch = 64;
        Plan real = p;
        real.cluster.gpu.efficiency = truth;
        const Evaluation e = evaluate(real);
        REQUIRE(e.step.has_value());
        REQUIRE(e.step->recompute_s > 0.2 * e.step->compute_s);
        REQUIRE(e.step->uneven_s > 0.1 * e.step->compute_s);
        run.step_s = e.step->time_s;
        run.compute_s = e.step->compute_s + e.step->recompute_s + e.step->uneven_s;
        runs.push_back(run);
    }
    CHECK(constant(calibrate(runs, {}, on, "own.json"), "efficiency.gemm") == near(truth.gemm, 0.03));
}

TEST_CASE("the network is blamed where the error grows with exposed communication, and only there") {
    const Cluster on = presets().plan("llama-3-8b-fsdp").cluster;
    std::vector<MeasuredRun> noise = runs_of(on.gpu.efficiency), slow = noise;
    const double off[] = {1.15, 0.85, 0.85, 1.15, 1.15, 0.85, 0.85};
    const auto blames = [&](const std::vector<MeasuredRun>& runs) {
        const std::vector<std::string> said = calibrate(runs, {}, on, "").links;
        return std::ranges::any_of(said,
                                   [](const std::string& s) { return s.starts_with("The error grows"); });
    };
    for (std::size_t i = 0; i < noise.size(); ++i) {
        noise[i].step_s *= off[i];
        const Evaluation e = evaluate(slow[i].plan);
        slow[i].step_s += 3 * exposed_of(*e.step);  // links a quarter as fast
    }
    CHECK_FALSE(blames(runs_of(on.gpu.efficiency)));
    CHECK_FALSE(blames(noise));
    CHECK(blames(slow));
}
