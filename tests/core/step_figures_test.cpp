// Tests the figures of the step view other than the step itself: the waterfall, ranges, constants, published
// runs.
#include "core/explain/verdict.h"
#include "core/io/plan_json.h"
#include "core/step/constants.h"
#include "plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"
#include "tools/fit/check.h"

#include <algorithm>
#include <random>
#include <set>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

using test::presets;

const Constant& constant(const std::vector<Constant>& all, const std::string& id) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const Constant& c) { return c.id == id; });
    REQUIRE(it != all.end());
    return *it;
}

}  // namespace

TEST_CASE("the waterfall is a gapless stair from nothing to the step, for every plan that ships") {
    for (const Presets::Entry& entry : presets().list(PresetKind::plan)) {
        const Evaluation e = evaluate(presets().plan(entry.id));
        if (!e.step) continue;
        CAPTURE(entry.id);
        const std::vector<StepSlice> slices = waterfall(*e.step);
        REQUIRE_FALSE(slices.empty());
        CHECK(slices.front().part == StepPart::ideal);
        double at = 0;
        for (const StepSlice& s : slices) {
            CHECK(s.from_s == near(at));
            CHECK(s.time_s > 0);
            at = s.from_s + s.time_s;
            const Explanation why = explain_step(presets().plan(entry.id), e, s.part, s.group);
            CHECK_FALSE(why.empty());
            CHECK_FALSE(why.source.empty());
            CHECK(why.source.find("docs/") == std::string::npos);  // a user of the window has no such folder
        }
        CHECK(at == near(e.step->time_s, 1e-12));
        CHECK(e.step->ideal_s <= e.step->compute_s);
        CHECK(e.step->mfu >= e.step->ideal_s / e.step->time_s - 1e-12);  // MFU does not halve attention
    }
}

TEST_CASE("what compute takes beyond the peak is cut by what takes it") {
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.training.software = Software::megatron;
    Efficiency& f = p.cluster.gpu.efficiency;
    f.attention = 1, f.kernel_s = 0, f.launch_s = 0;
    const auto below = [&] {
        const Evaluation e = evaluate(p);
        REQUIRE(e.step);
        const BelowPeak& b = e.step->below;
        CHECK(b.products + b.attention + b.moving + b.starts
              == near(e.step->compute_s - e.step->ideal_s, 1e-12));
        return b;
    };
    const BelowPeak usual = below();
    // A fused backward makes 2.5 times the products of the forward, of which MFU counts 2 (Dao 2023).
    const ForwardFlops flops = forward_flops(p.model, p.training.sequence_length);
    const double once = (flops.attention - flops.masked) * static_cast<double>(p.training.global_batch)
                        / static_cast<double>(p.cluster.gpus) / p.cluster.gpu.flops.bf16;
    CHECK(usual.attention == near(0.5 * once, 1e-9));
    CHECK(usual.starts == 0);
    CHECK(usual.moving > 0);
    p.cluster.gpu.hbm_bytes_per_s *= 2;
    CHECK(below().moving == near(usual.moving / 2, 1e-9));
    f.launch_s = 1e-3;  // thirty of them take longer than a layer
    const BelowPeak slow = below();
    CHECK(slow.starts > usual.products);
    p.training.cuda_graphs = CudaGraphs::iteration;
    CHECK(below().starts == 0);
}

TEST_CASE("a plan that is a published run knows what it measured, a plan beside it does not") {
    const std::vector<PublishedRun> runs = load_published_runs(presets());
    Plan p = presets().plan("llama-3.1-405b-8k");
    const auto measured = [&] {
        const Evaluation e = evaluate(p);
        REQUIRE(e.step);
        return measured_mfu(p, *e.step, runs);
    };
    REQUIRE(measured());
    // 430 TFLOP/s on each of 8,192 GPUs (Llama Team 2024, table 4); an H100's dense peak is 989.4.
    CHECK(measured()->mfu == near(430 / 989.4, 1e-3));
    CHECK(measured()->source.find("Llama Team 2024") != std::string::npos);
    p.training.global_batch *= 2;
    CHECK_FALSE(measured());
    p.training.global_batch /= 2;
    p.layout.tp = 4, p.layout.dp_shard *= 2;
    CHECK_FALSE(measured());
}

TEST_CASE("a range holds its figure, and a time's range is a rate's turned over") {
    const Band t = band_of(10, 0.25), r = band_of(1.0 / 10, 0.25);
    CHECK(t.low == near(8));
    CHECK(t.high == near(12.5));
    CHECK(r.low == near(1 / t.high));
    CHECK(r.high == near(1 / t.low));
}

TEST_CASE("a token budget takes its tokens over the rate") {
    Step s;
    s.tokens_per_s = 1e6;
    CHECK(days_for(s, 86400e6) == near(1));
    s.tokens_per_s = 0;
    CHECK(days_for(s, 1e12) == 0);
}

TEST_CASE("every constant of the time model has a name, a range that holds it and a source") {
    const Plan p = presets().plan("llama-3.1-405b-16k");
    const std::vector<Constant> all = list_constants(p, presets());
    CHECK(all.size() >= kEfficiencyKeys.size() + 4 * p.cluster.tiers.size());
    for (const Constant& c : all) {
        CAPTURE(c.id);
        CHECK_FALSE(c.name.empty());
        CHECK_FALSE(c.meaning.empty());
        CHECK_FALSE(c.source.empty());
        CHECK(c.value >= c.least);
        CHECK(c.value <= c.most);
        CHECK_FALSE(c.changed());
    }
}

TEST_CASE("a constant of the efficiency has its unit, and the least that a plan may state") {
    const Plan shipped = presets().plan("llama-3.1-405b-16k");
    Plan p = shipped;
    p.cluster.gpu.efficiency.overlap = 0;
    for (const Constant& c : list_constants(p, presets())) {
        if (c.section != ConstantSection::efficiency) continue;
        CAPTURE(c.id);
        const bool time = c.id.ends_with("_s");
        CHECK(c.unit == (time ? Constant::Unit::seconds : Constant::Unit::share));
        CHECK(c.most == (time ? 3600 : 1));
        const bool may_be_none = time || c.id == "efficiency.overlap" || c.id == "efficiency.error";
        CHECK((c.least == 0) == may_be_none);
        CHECK(c.value >= c.least);
        // The reader takes the same least, and nothing below it.
        const std::string pointer = "/cluster/gpu/efficiency/" + c.id.substr(c.id.find('.') + 1);
        CHECK_NOTHROW(
            static_cast<void>(apply_edits(shipped, {{pointer, may_be_none ? 0.0 : 0.01}}, presets())));
        CHECK_THROWS_AS(
            static_cast<void>(apply_edits(shipped, {{pointer, may_be_none ? -0.01 : 0.0}}, presets())),
            Error);
    }
}

TEST_CASE("each heading of the constants says what stands under it, and no two are alike") {
    Plan p = presets().plan("llama-3.1-405b-16k");
    const auto headings = [&] {
        std::vector<std::string> out;
        for (const Constant& c : list_constants(p, presets()))
            if (std::string heading = heading_of(c.section, p.cluster); out.empty() || out.back() != heading)
                out.push_back(std::move(heading));
        return out;
    };
    // In this order, each once: a section that came back would be a sixth heading.
    CHECK(headings()
          == std::vector<std::string>{p.cluster.gpu.name, "Efficiency", "Fabric", "Memory",
                                      "Verdicts of the Map"});
    std::set<std::string> sections;
    for (const ConstantSection s : all_of<ConstantSection>()) sections.insert(heading_of(s, p.cluster));
    CHECK(sections.size() == kEnumCount<ConstantSection>);
    for (const Constant& c : list_constants(p, presets())) {
        CAPTURE(c.id);
        CHECK((c.section == ConstantSection::efficiency) == c.id.starts_with("efficiency."));
        CHECK((c.section == ConstantSection::fabric) == c.id.starts_with("tier."));
        CHECK((c.section == ConstantSection::memory) == c.id.starts_with("buffers."));
        CHECK((c.section == ConstantSection::verdict) == (c.id == "costly_share"));
    }
    p.cluster.calibration = Calibration{.runs = 12, .from = "own.json"};
    CHECK(headings()[1] == "Efficiency, calibrated from 12 runs (own.json)");
}

TEST_CASE("a GPU's figures and its efficiency have each their own source") {
    const std::vector<Constant> all = list_constants(presets().plan("llama-3.1-405b-16k"), presets());
    const auto& gpus = presets().list(PresetKind::gpu);
    const auto h100 =
        std::find_if(gpus.begin(), gpus.end(), [](const Presets::Entry& e) { return e.id == "h100-sxm"; });
    REQUIRE(h100 != gpus.end());
    CHECK(constant(all, "flops.bf16").source == h100->source);
    CHECK(constant(all, "efficiency.gemm").source == h100->efficiency_source);
    CHECK(h100->source != h100->efficiency_source);
}

TEST_CASE(
    "a constant that is changed is stated in the plan, moves the step, and going back leaves no trace") {
    const Plan p = presets().plan("llama-3.1-405b-16k");
    const double before = evaluate(p).step->time_s;
    for (const auto& given :
         std::initializer_list<std::pair<const char*, double>>{{"efficiency.gemm", 0.5},
                                                               {"hbm_bytes_per_s", 2e12},
                                                               {"flops.bf16", 5e14},
                                                               {"tier.0.bytes_per_s", 1e11},
                                                               {"tier.1.latency_s", 1e-3},
                                                               {"efficiency.step_s", 1.0}}) {
        const char* const id = given.first;
        const double value = given.second;
        CAPTURE(id);
        const Plan changed = with_constant(p, presets(), id, value);
        CHECK(constant(list_constants(changed, presets()), id).changed());
        CHECK(evaluate(changed).step->time_s > before);
        const Plan read = parse_plan(write_plan(changed), "test", presets());
        CHECK(constant(list_constants(read, presets()), id).value == value);
        CHECK(evaluate(read).step->time_s == evaluate(changed).step->time_s);
        const double shipped = constant(list_constants(changed, presets()), id).shipped;
        CHECK(with_constant(changed, presets(), id, shipped) == p);
    }
}

TEST_CASE("a constant of the memory is stated in the plan, moves the bytes, and going back leaves no trace") {
    const Plan p = presets().plan("llama-3.1-405b-16k");
    const double before = evaluate(p).memory.peak();
    for (const char* id : {"buffers.communicator_bytes", "buffers.context_bytes", "buffers.fragmentation"}) {
        CAPTURE(id);
        const Constant shipped = constant(list_constants(p, presets()), id);
        const Plan changed = with_constant(p, presets(), id, shipped.value * 2);
        CHECK(constant(list_constants(changed, presets()), id).changed());
        CHECK(evaluate(changed).memory.peak() > before);
        CHECK(with_constant(changed, presets(), id, shipped.shipped) == p);
    }
}

TEST_CASE("constants changed in any order are the same plan once they are written and read") {
    Plan p = presets().plan("llama-3.1-405b-16k");
    for (const char* id : {"tier.1.bytes_per_s", "efficiency.fast_link", "efficiency.attention"})
        p = with_constant(p, presets(), id, constant(list_constants(p, presets()), id).value * 0.9);
    CHECK(parse_plan(write_plan(p), "test", presets()) == p);
}

TEST_CASE("switches that add up make an all-reduce no slower") {
    Plan p = presets().plan("gpt-175b-a100");
    p.layout.sequence_parallel = false;
    const double before = evaluate(p).step->time_s;
    const Plan with = with_constant(p, presets(), "tier.0.in_network_reduction", 1);
    CHECK(with.cluster.tiers[0].in_network_reduction);
    CHECK(evaluate(with).step->time_s < before);
}

TEST_CASE("a constant keeps to its range, and an unknown one changes nothing") {
    const Plan p = presets().plan("llama-3-8b-fsdp");
    CHECK(with_constant(p, presets(), "efficiency.gemm", 7).cluster.gpu.efficiency.gemm == 1);
    CHECK(with_constant(p, presets(), "efficiency.nothing", 7) == p);
}

TEST_CASE("a published run is nearest to itself, and its error is the one that fit --check keeps") {
    const std::vector<PublishedRun> runs = load_published_runs(presets());
    REQUIRE(runs.size() > 40);
    const std::vector<RunError> kept =
        read_errors(read_text(GOLDEN_DIR "/step_errors.txt"), "step_errors.txt");
    REQUIRE(kept.size() == runs.size());
    for (const std::size_t i : {std::size_t{0}, runs.size() / 2, runs.size() - 1}) {
        Plan p = runs[i].plans.front();
        p.training.software = runs[i].traits.software;  // the software that ran it
        CAPTURE(runs[i].label);
        const std::vector<NearRun> nearest = NearestRuns(runs).of(p, 3);
        REQUIRE(nearest.size() == 3);
        CHECK(nearest[0].distance == 0);
        CHECK(nearest[0].distance <= nearest[1].distance);
        CHECK(nearest[1].distance <= nearest[2].distance);
        for (const NearRun& n : nearest) {
            CHECK_FALSE(runs[n.run].source.empty());
            CHECK(1 + n.error() == near(1 + kept[n.run].error, 1e-4));  // two decimals of a per cent are kept
        }
        const auto self =
            std::find_if(nearest.begin(), nearest.end(), [&](const NearRun& n) { return n.run == i; });
        REQUIRE(self != nearest.end());
        CHECK(self->distance == 0);
        const double tokens = static_cast<double>(p.training.global_batch * p.training.sequence_length);
        CHECK(self->tokens_per_gpu_s * self->measured_s * static_cast<double>(p.cluster.gpus)
              == near(tokens));
    }
}

TEST_CASE("the step of a published run is worked out once, whatever plans it is set beside") {
    NearestRuns nearest(load_published_runs(presets()));
    const Plan p = presets().plan("llama-3-8b-fsdp");
    CHECK(nearest.worked_out() == 0);
    const std::vector<NearRun> first = nearest.of(p, 6);
    CHECK(nearest.worked_out() == 6);
    Plan changed = p;
    changed.training.global_batch *= 2;  // no part of the distance
    const std::vector<NearRun> again = nearest.of(changed, 6);
    CHECK(nearest.worked_out() == 6);
    REQUIRE(again.size() == first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
        CHECK(again[i].run == first[i].run);
        CHECK(again[i].estimated_s == first[i].estimated_s);
        CHECK(again[i].tokens_per_gpu_s == first[i].tokens_per_gpu_s);
    }
}

TEST_CASE("each published run is one of the measured runs that ranges are made of") {
    for (const PublishedRun& run : load_published_runs(presets())) {
        CAPTURE(run.label);
        double nearest = 1e9;
        for (const MeasuredError& m : measured_errors())
            nearest = std::min(nearest, distance(run.traits, m.run));
        CHECK(nearest < 0.1);
    }
}

TEST_CASE("the sentence that no measured run is near and the list of runs use one distance") {
    NearestRuns runs(load_published_runs(presets()));
    int far = 0, others = 0;
    for (const Presets::Entry& entry : presets().list(PresetKind::plan))
        for (const Software software : all_of<Software>()) {
            Plan p = presets().plan(entry.id);
            p.training.software = software;
            CAPTURE(entry.id);
            CAPTURE(name_of(software));
            const Evaluation e = evaluate(p);
            if (!e.step) continue;
            const std::vector<NearRun> list = runs.of(p, 1);
            REQUIRE(list.size() == 1);
            // Figures of the measured runs are kept with five digits.
            CHECK(list[0].distance >= e.step->nearest_run - 0.1);
            const bool says_none =
                range_sentence(*e.step).find("No measured run is near") != std::string::npos;
            if (says_none) CHECK(list[0].distance >= kFarRun - 0.1);
            ++(says_none ? far : others);
        }
    CHECK(far > 0);
    CHECK(others > 0);
}

TEST_CASE("the list of runs knows who ran them, and says how near the nearest of all is") {
    Plan p = presets().plan("gpt-175b-a100");
    NearestRuns runs(load_published_runs(presets()));
    CHECK(runs.of(p, 1).front().distance == 0);
    p.training.software = Software::nanotron;
    CHECK(runs.of(p, 1).front().distance == 4);
    const Evaluation e = evaluate(p);
    REQUIRE(e.step.has_value());
    CHECK(range_sentence(*e.step).ends_with("No measured run is near."));
}
