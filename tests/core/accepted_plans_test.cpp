// Frameworks, papers and published runs really used these plans: none of them may be called impossible.
#include "core/advice/advice.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <utility>

using namespace pentamesh;
using nlohmann::json;

namespace {

// Returns the cases of a golden file.
json golden_cases(const char* name) {
    std::ifstream file(std::string(name).find('/') == std::string::npos ? std::string(GOLDEN_DIR "/") + name
                                                                        : std::string(SOURCE_DIR "/") + name);
    return json::parse(file)["cases"];
}

json with_dp(json layout, std::int64_t zero, std::int64_t dp) {
    layout["order"] = "tp-cp-ep-dp-pp";
    layout["zero"] = zero;
    layout["dp_shard"] = zero ? dp : 1;
    layout["dp_replicate"] = zero ? 1 : dp;
    return layout;
}

json plan(const json& model, const char* cluster, std::int64_t gpus, const json& layout,
          const json& training) {
    return {{"format", "pentamesh.plan/1"},
            {"name", "case"},
            {"model", model},
            {"cluster", {{"preset", cluster}, {"gpus", gpus}}},
            {"layout", layout},
            {"training", training}};
}

void accepted(const json& text) {
    static const Presets presets(SOURCE_DIR "/presets");
    CAPTURE(text.dump());
    const Evaluation e = evaluate(parse_plan(text.dump(), "case", presets));
    for (const Problem& p : e.problems)
        if (p.severity == Severity::error) FAIL_CHECK(name_of(p.code) << ": " << p.message);
    CHECK(e.valid);
}

}  // namespace

TEST_CASE("layouts of Megatron's memory estimator are accepted") {
    int seen = 0;
    for (const json& c : golden_cases("memory.json")) {
        if (c["kind"] != "megatron_weight_and_optimizer") continue;
        const json &g = c["config"], &l = c["layout"];
        json m{{"name", c["model"]},  {"layers", g["layers"]},     {"hidden", g["hidden"]},
               {"heads", g["heads"]}, {"kv_heads", g["kv_heads"]}, {"head_dim", g["head_dim"]},
               {"ffn", g["ffn"]},     {"ffn_kind", g["ffn_kind"]}, {"vocab", g["vocab"]},
               {"norm", g["norm"]},   {"positions", "rope"},       {"tied_embeddings", g["tied"]}};
        if (!g["experts"].is_null())
            m["moe"] = {{"experts", g["experts"]}, {"top_k", g["top_k"]}, {"expert_ffn", g["expert_ffn"]}};
        const std::int64_t dp = l["dp"], pp = l["pp"];
        const json layout =
            with_dp({{"tp", l["tp"]}, {"cp", l["cp"]}, {"pp", pp}, {"ep", l["ep"]}, {"etp", l["etp"]}},
                    l["zero"], dp);
        accepted(plan(m, "h100-sxm-ib", l["world"], layout,
                      {{"sequence_length", 4096}, {"micro_batch", 1}, {"global_batch", dp * pp}}));
        ++seen;
    }
    CHECK(seen > 10);
}

TEST_CASE("layouts of the communication cases are accepted") {
    for (const json& c : golden_cases("communication.json")) {
        json l = c["layout"];
        std::int64_t gpus = 1;
        for (const char* axis : {"tp", "cp", "pp", "dp_shard", "dp_replicate"})
            gpus *= l[axis].get<std::int64_t>();
        l["order"] = "tp-cp-ep-dp-pp";
        if (!l.contains("sequence_parallel")) l["sequence_parallel"] = false;
        accepted(plan({{"preset", c["model"]}, {"mtp_layers", 0}}, "h100-sxm-ib", gpus, l, c["training"]));
    }
}

TEST_CASE("published runs are accepted") {
    for (const json& c : golden_cases("presets/published_runs.json")) {
        if (c.contains("gpt"))
            continue;  // their models are not presets; their layouts are only tp, pp and dp
        const std::int64_t v = c["vpp"].is_null() ? 1 : c["vpp"].get<std::int64_t>();
        const std::int64_t ep = c["ep"], tp = c["tp"];
        const bool named = c.contains("schedule") && !c["schedule"].is_null();
        const json schedule = named ? c["schedule"] : json(v > 1 ? "interleaved" : "1f1b");
        json l = with_dp({{"tp", tp},
                          {"cp", c["cp"]},
                          {"pp", c["pp"]},
                          {"ep", ep},
                          {"etp", ep > 1 ? 1 : tp},
                          {"virtual_stages", v},
                          {"schedule", schedule}},
                         c["zero"], c["dp"]);
        if (c.contains("stage_layers")) l["stage_layers"] = c["stage_layers"];
        const json micro_batch = c["micro_batch"].is_null() ? json(1) : c["micro_batch"];
        accepted(plan(c["model"], "h100-sxm-ib", c["gpus"], l,
                      {{"sequence_length", c["sequence"]},
                       {"micro_batch", micro_batch},
                       {"global_batch", c["global_batch"]}}));
    }
}

TEST_CASE("plans that ship are accepted") {
    const Presets presets(SOURCE_DIR "/presets");
    REQUIRE(!presets.list(PresetKind::plan).empty());
    for (const Presets::Entry& entry : presets.list(PresetKind::plan)) {
        CAPTURE(entry.id);
        CHECK(evaluate(presets.plan(entry.id)).valid);
    }
}

TEST_CASE("a fix applied through the plan file's own rules gives what the engine reckoned with") {
    const Presets presets(SOURCE_DIR "/presets");
    const auto check = [&](const char* id, auto break_it, ProblemCode code) {
        Plan broken = presets.plan(id);
        break_it(broken);
        bool found = false;
        for (const Problem& p : assess(broken).problems) {
            if (p.fix.empty()) continue;
            CAPTURE(name_of(p.code));
            Plan in_core = broken;
            REQUIRE(apply_in_core(in_core, p.fix));
            const Plan through_file = apply_edits(broken, p.fix, presets);
            CHECK(through_file.layout == in_core.layout);
            CHECK(through_file.training == in_core.training);
            CHECK(through_file.cluster.gpus == in_core.cluster.gpus);
            found = found || p.code == code;
        }
        CHECK_MESSAGE(found, id << " lacks " << name_of(code));
    };
    check(
        "llama-3-70b-3d", [](Plan& p) { p.layout.tp = 3; }, ProblemCode::tp_heads);
    check(
        "llama-3-70b-3d", [](Plan& p) { p.cluster.gpus = 257; }, ProblemCode::world_differs_from_gpus);
    check(
        "llama-3-70b-3d",
        [](Plan& p) {
            p.layout.stage_layers = {80, 1};
        },
        ProblemCode::stage_layers);
    check(
        "llama-3-70b-3d", [](Plan& p) { std::swap(p.layout.order[0], p.layout.order[3]); },
        ProblemCode::order_puts_chatty_axis_outside);
    check(
        "llama-3-70b-3d", [](Plan& p) { p.training.overlap.pp = p.training.overlap.dp = false; },
        ProblemCode::overlap_off);
    check(
        "llama-3-70b-3d", [](Plan& p) { p.training.recompute = Recompute::full; },
        ProblemCode::recompute_not_needed);
    check(
        "llama-3-70b-3d", [](Plan& p) { p.training.compute = Dtype::fp4; },
        ProblemCode::compute_type_unsupported);
    check(
        "llama-3-70b-3d", [](Plan& p) { p.layout.schedule = Schedule::dualpipev; },
        ProblemCode::schedule_refuses);
    check(
        "deepseek-v3-2048",
        [](Plan& p) {
            p.layout.order = {Axis::ep, Axis::pp, Axis::cp, Axis::tp, Axis::dp_shard, Axis::dp_replicate};
        },
        ProblemCode::pipeline_groups_differ);
    check(
        "broken-tp-over-ib", [](Plan&) {}, ProblemCode::tp_spans_nodes);
    check(
        "broken-pp-zero3", [](Plan&) {}, ProblemCode::pp_with_zero3);
}
