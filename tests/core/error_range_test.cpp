#include "core/base/files.h"
#include "core/plan/names.h"
#include "core/step/constants.h"
#include "tests/core/shipped.h"
#include "tests/near.h"
#include "tools/accuracy/measured.h"

#include <cmath>
#include <doctest/doctest.h>
#include <span>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

RunTraits some_run() {
    return {.flops_per_token = 5e10, .gpus = 64, .sequence_length = 4096, .peak = 1e15};
}

std::vector<MeasuredError> runs_with_errors(int n) {
    std::vector<MeasuredError> out;
    for (int i = 1; i <= n; ++i) out.push_back({"", std::to_string(i), some_run(), i / 100.0, 0});
    number_sources(out);
    return out;
}

}  // namespace

TEST_CASE(
    "each source left out in its turn, half of its runs lie in the range, nine of ten in the wider one") {
    const std::map<std::string, Coverage> by = coverage_of(measured_errors());
    // Runs of a source err together: one kind, which has few sources, allows less certainty than all of them.
    for (const auto& entry : by) {
        CAPTURE(entry.first);
        if (entry.second.runs >= 15) CHECK(entry.second.most >= 0.72 * entry.second.runs);
    }
    const Coverage all = by.at("all");
    CHECK(all.runs > 440);
    CHECK(all.half == near(0.5 * all.runs, 0.1));
    CHECK(all.most == near(0.9 * all.runs, 0.03));
}

TEST_CASE("errors on fitted sources are grown to the size of those on judged ones, which stay as they are") {
    const Halves halves(R"({"fitted": ["a"], "judged": ["b"]})", "halves.json");
    std::vector<MeasuredRun> runs(4);
    std::vector<RunAccuracy> found(4);
    const double errors[] = {0.1, 0.1, 0.21, 1 / 1.21 - 1};  // 1.21 = 1.1 ^ 2
    for (std::size_t i = 0; i < runs.size(); ++i)
        runs[i].family = i < 2 ? "a" : "b", found[i].time = errors[i];
    const std::vector<MeasuredError> out = held_out_errors(runs, found, halves);
    CHECK(out[0].error == near(0.21));
    CHECK(out[2].error == near(0.21));
    CHECK(out[3].size() == near(0.21));
    CHECK_THROWS_AS(static_cast<void>(halves.judged("c")), Error);
    CHECK_THROWS_AS(Halves(R"({"fitted": ["a"], "judged": ["a"]})", ""), Error);
    CHECK_THROWS_AS(Halves(R"({"fitted": ["a"]})", ""), Error);
}

TEST_CASE("the errors that the program carries are those of its measured runs today") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Halves halves = read_halves_file(GOLDEN_DIR "/halves.json");
    const std::vector<MeasuredRun> runs = read_golden_runs(GOLDEN_DIR, halves, presets);
    std::vector<RunAccuracy> found;
    Evaluation scratch;
    for (const MeasuredRun& run : runs) found.push_back(accuracy_of(run, scratch));
    const std::vector<MeasuredError> now = held_out_errors(runs, found, halves);
    REQUIRE(now.size() == measured_errors().size());
    for (std::size_t i = 0; i < now.size(); ++i) {
        const MeasuredError& kept = measured_errors()[i];
        CAPTURE(kept.id);
        CHECK(kept.id == now[i].id);
        CHECK(std::abs(kept.error - now[i].error) < 0.01);  // else: accuracy . --write
        CHECK(distance(kept.run, now[i].run) < 0.01);
    }
}

TEST_CASE("of equally near sources the ranges are the order statistics of their errors' sizes") {
    // 19 runs and a quarter that is larger: half of 19.25 is reached by the 10th, nine tenths by the 18th.
    const std::vector<MeasuredError> runs = runs_with_errors(19);
    const ErrorRange r = error_range(std::span<const MeasuredError>(runs), some_run());
    CHECK(r.half == near(0.10));
    CHECK(r.most == near(0.18));
    CHECK(r.nearest == 0);
    CHECK(r.has_gpu);
}

TEST_CASE("a source counts once, be it of one run or of fifty, and the less the farther it is") {
    std::vector<MeasuredError> runs = runs_with_errors(19);
    MeasuredError other{"", "another", some_run(), 0.9, 0};
    const auto half_with = [&](int n, const RunTraits& plan) {
        std::vector<MeasuredError> all = runs;
        all.insert(all.end(), static_cast<std::size_t>(n), other);
        number_sources(all);
        return error_range(std::span<const MeasuredError>(all), plan).half;
    };
    CHECK(half_with(1, some_run()) == near(0.11));  // 20.25 / 2
    CHECK(half_with(50, some_run()) == near(0.11));
    // At a distance of 8 it weighs 2 ^ (-8 / 6) = 0.4 of a near source: half of 19.65.
    other.run.software = Software::torchtitan;
    other.run.moe = true;
    CHECK(distance(other.run, some_run()) == 8);
    CHECK(half_with(50, some_run()) == near(0.10));
    // From there the nineteen weigh 0.4 each: half of 1 + 7.54 + 0.25 is reached by the 12th.
    CHECK(half_with(50, other.run) == near(0.12));
    // Runs near to the plan have most of the weight of their source.
    runs.assign(1, {"", "one", some_run(), 0.1, 0});
    other.family = "one";
    CHECK(half_with(1, some_run()) == near(0.1));
    CHECK(half_with(1, other.run) == near(0.9));
}

TEST_CASE("an earlier age of the same software is nearer than another software") {
    RunTraits today = some_run(), before = some_run();
    today.software = Software::megatron_bridge, before.software = Software::megatron_bridge_2025;
    CHECK(distance(today, before) == 1);
    before.software = Software::torchtitan_2024;
    CHECK(distance(today, before) == 4);
    today.software = Software::torchtitan;
    CHECK(distance(today, before) == 1);
}

TEST_CASE(
    "twice the GPUs, the context, the model or the peak is one apart; too fast and too slow are alike") {
    RunTraits b = some_run();
    b.gpus *= 2, b.sequence_length /= 2, b.flops_per_token *= 4, b.peak /= 2;
    CHECK(distance(some_run(), b) == near(5));
    b.compute = Dtype::fp8;
    CHECK(distance(b, some_run()) == near(6));
    CHECK(MeasuredError{"", "", b, 0.25, 0}.size() == near(0.25));
    CHECK(MeasuredError{"", "", b, -0.2, 0}.size() == near(0.25));
}

TEST_CASE("a plan that no run is near to says so, and a GPU that none had has its preset's range at least") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan p = presets.plan("llama-3-8b-fsdp");
    const Evaluation e = evaluate(p);
    REQUIRE(e.step.has_value());
    CHECK(e.step->nearest_run < kFarRun);
    CHECK(e.step->error < e.step->error_90);
    CHECK(range_sentence(*e.step).find("No measured run is near") == std::string::npos);
    p.training.sequence_length *= 64;  // 524,288 tokens
    p.cluster.gpu.flops.bf16 = 1.2e14;
    p.cluster.gpu.efficiency.error = 0.3;
    const Evaluation far = evaluate(p);
    REQUIRE(far.step.has_value());
    CHECK(far.step->nearest_run >= kFarRun);
    CHECK(far.step->error >= 0.3);
    CHECK(far.step->error_90 >= 0.7);
    CHECK(range_sentence(*far.step).ends_with("No measured run is near."));
}

TEST_CASE("own runs make the range of a calibrated cluster") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan p = presets.plan("llama-3-8b-fsdp");
    p.cluster.calibration = Calibration{12, 0.03, 0.09, "own.json"};
    const Evaluation e = evaluate(p);
    REQUIRE(e.step.has_value());
    CHECK(e.step->error == 0.03);
    CHECK(e.step->error_90 == 0.09);
    CHECK(range_sentence(*e.step).starts_with("Calibrated from 12 runs of your own"));
}

TEST_CASE("a file of errors names the run that it cannot read") {
    const auto message_of = [](const char* text) {
        try {
            static_cast<void>(read_measured_errors(text, "x.json"));
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(message_of("{}").starts_with("x.json: /runs: is missing"));
    CHECK(message_of(R"({"runs": [{"id": "a"}]})").starts_with("x.json: /runs/0: "));
}
