#include "core/pipeline/follow.h"

#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "tests/core/shipped.h"

#include <doctest/doctest.h>

#include <array>
#include <random>

using namespace pentamesh;

namespace {
using test::presets;

Plan only_set(const Plan& plan, const std::vector<std::string>& sets) {
    return with_sets(plan, sets, presets());
}

std::string set_of(Axis axis, std::int64_t n) {
    return "layout." + std::string(name_of(axis)) + "=" + std::to_string(n);
}
}  // namespace

TEST_CASE("a degree that is set is the window's step") {
    int steps = 0;
    for (const Presets::Entry& entry : presets().list(PresetKind::plan)) {
        const Plan plan = presets().plan(entry.id);
        if (ranks_laid_out(plan) != plan.cluster.gpus) continue;
        for (const Axis axis : {Axis::tp, Axis::cp, Axis::pp})
            for (const std::int64_t n : legal_factors(plan, axis)) {
                CAPTURE(entry.id);
                CAPTURE(set_of(axis, n));
                if (n == factor_in_force(plan, axis)) continue;
                const Followed set = follow_sets(plan, {set_of(axis, n)}, presets());
                const Plan stepped = with_factor(plan, axis, n, true);
                CHECK(write_plan(set.plan) == write_plan(stepped));
                CHECK(ranks_laid_out(set.plan) == plan.cluster.gpus);
                ++steps;
            }
        for (const std::int64_t gpus : {plan.cluster.gpus * 2, plan.cluster.gpus * 3}) {
            const Followed set = follow_sets(plan, {"cluster.gpus=" + std::to_string(gpus)}, presets());
            CHECK(set.plan.layout == with_gpus(plan, gpus).layout);
            CHECK(ranks_laid_out(set.plan) == gpus);
        }
    }
    CHECK(steps > 100);
}

TEST_CASE("several degrees keep all GPUs in use wherever that divides, and what is named stays") {
    std::mt19937 random(7);
    const Plan plan = presets().plan("llama-3-70b-3d");
    const auto any = [&] { return std::array<std::int64_t, 6>{1, 2, 3, 4, 8, 16}[random() % 6]; };
    int filled = 0;
    for (int i = 0; i < 400; ++i) {
        std::vector<std::string> sets;
        std::int64_t rest = plan.cluster.gpus;
        for (const Axis axis : {Axis::tp, Axis::cp, Axis::pp}) {
            std::int64_t n = factor_in_force(plan, axis);
            if (random() % 2 == 0) n = any(), sets.push_back(set_of(axis, n));
            rest = rest % n == 0 ? rest / n : 0;
        }
        const Plan now = follow_sets(plan, sets, presets()).plan;
        if (rest > 0) {
            CHECK(ranks_laid_out(now) == plan.cluster.gpus);
            CHECK(now.layout.dp_shard * now.layout.dp_replicate.value_or(1) == rest);
            ++filled;
        } else {
            CHECK(now.layout.dp_shard == plan.layout.dp_shard);
        }
        sets.emplace_back("layout.dp_shard=2");
        Followed named = follow_sets(plan, sets, presets());
        CHECK(named.plan.layout.dp_shard == 2);  // replicas take what it leaves
        CHECK(named.plan.layout.dp_replicate.value_or(1) == (rest % 2 == 0 && rest > 0 ? rest / 2 : 1));
        sets.emplace_back("layout.dp_replicate=1");
        named = follow_sets(plan, sets, presets());
        CHECK(named.plan.layout.dp_shard == 2);
        CHECK(named.plan.layout.dp_replicate == 1);
        CHECK_FALSE(named.fills);
    }
    CHECK(filled > 100);
}

TEST_CASE("of the two degrees of data parallelism the one that is not named takes the rest") {
    const Plan hsdp = presets().plan("hsdp-64");
    REQUIRE(hsdp.layout.dp_replicate.value_or(1) > 1);
    for (const std::int64_t n : {1, 2, 4, 8, 16, 32, 64}) {
        CAPTURE(n);
        const Plan shards = follow_sets(hsdp, {set_of(Axis::dp_shard, n)}, presets()).plan;
        CHECK(shards.layout.dp_shard == n);
        CHECK(shards.layout.dp_replicate == 64 / n);
        const Plan copies = follow_sets(hsdp, {set_of(Axis::dp_replicate, n)}, presets()).plan;
        CHECK(copies.layout.dp_replicate == n);
        CHECK(copies.layout.dp_shard == 64 / n);
    }
    const Followed four = follow_sets(hsdp, {"layout.dp_shard=4"}, presets());
    CHECK(words_of(four) == "dp_replicate = 16 follows, so that all 64 GPUs stay in use");
    const Followed three = follow_sets(hsdp, {"layout.dp_shard=3"}, presets());
    CHECK(three.plan.layout.dp_replicate == hsdp.layout.dp_replicate);
    CHECK(three.edits.empty());
}

TEST_CASE("nodes that a plan makes small are said to stay under more GPUs") {
    const Plan four = presets().plan("mesh-8");
    const std::string words = words_of(follow_sets(four, {"cluster.gpus=256"}, presets()));
    CHECK(words.find("nodes stay nodes of 4 GPUs, 64 of them; cluster.fast_domain = 8") != std::string::npos);
    const Followed wide = follow_sets(four, {"cluster.gpus=256", "cluster.fast_domain=8"}, presets());
    CHECK(wide.stays.empty());
    CHECK(wide.plan.cluster.tiers.front().domain == 8);
    CHECK(follow_sets(four, {"cluster.gpus=4"}, presets()).stays.empty());
    CHECK(follow_sets(four, {"layout.tp=4"}, presets()).stays.empty());
    CHECK(follow_sets(presets().plan("llama-3-70b-3d"), {"cluster.gpus=512"}, presets()).stays.empty());
    // The window says it once, not at each step.
    const Plan many = with_gpus(four, 16);
    CHECK(words_of_edit(four, many).find("Nodes stay nodes of 4 GPUs, 4 of them") == 0);
    CHECK(words_of_edit(many, with_gpus(many, 32)).empty());
    CHECK_FALSE(words_of_edit(many, with_gpus(many, 256)).empty());
    CHECK(words_of_edit(four, with_gpus_per_node(many, 8)).empty());
}

TEST_CASE("a schedule or a ZeRO stage that is set takes a reduction that it can have") {
    const Plan runs = only_set(presets().plan("llama-3-70b-3d"), {"zero=2", "gradient_reduction=run"});
    REQUIRE(evaluate(runs).valid);
    const auto when = [&](const std::vector<std::string>& sets) {
        return follow_sets(runs, sets, presets()).plan.layout.gradient_reduction;
    };
    CHECK(when({"schedule=zb-v"}) == GradientReduction::by_software);
    CHECK(when({"schedule=dualpipev"}) == GradientReduction::by_software);
    CHECK(when({"zero=1"}) == GradientReduction::by_software);
    CHECK(when({"schedule=1f1b"}) == GradientReduction::run);
    CHECK(when({"zero=3"}) == GradientReduction::run);
    const Followed zb_v = follow_sets(runs, {"schedule=zb-v"}, presets());
    CHECK(words_of(zb_v).find("gradient_reduction = by_software") != std::string::npos);
    CHECK(words_of_edit(runs, with_schedule_and_rest(runs, Schedule::zb_v, 2))
          == "gradient_reduction run is not possible with this schedule and ZeRO stage: it is by_software "
             "now");
    // With both named the message has both fields, and a schedule that mends it.
    const Evaluation both =
        evaluate(follow_sets(runs, {"schedule=zb-v", "gradient_reduction=run"}, presets()).plan);
    REQUIRE_FALSE(both.valid);
    const std::string why = first_error(both.problems);
    CHECK(why.find("gradient_reduction run") != std::string::npos);
    CHECK(why.find("schedule zb-v") != std::string::npos);
    CHECK(why.find("interleaved") != std::string::npos);
}

TEST_CASE("a plan that leaves GPUs idle is taken as it is said") {
    const Plan idle = only_set(presets().plan("llama-3-70b-3d"), {"layout.dp_shard=4"});
    const Followed set = follow_sets(idle, {"layout.tp=4"}, presets());
    CHECK(set.plan == only_set(idle, {"layout.tp=4"}));
    CHECK(set.edits.empty());
    CHECK(words_of(set).empty());
}

TEST_CASE("a schedule that is set takes chunks that it can run") {
    const Plan plan = presets().plan("llama-3-70b-3d");
    for (const Schedule s : all_of<Schedule>()) {
        CAPTURE(name_of(s));
        const std::string set = "layout.schedule=" + std::string(name_of(s));
        const Layout l = follow_sets(plan, {set}, presets()).plan.layout;
        CHECK(chunks_for(s, l.virtual_stages) == l.virtual_stages);
        CHECK(l.virtual_stages == chunks_for(s, plan.layout.virtual_stages));
        CHECK(follow_sets(plan, {set, "layout.virtual_stages=5"}, presets()).plan.layout.virtual_stages == 5);
    }
    const Followed whole = follow(plan, only_set(plan, {"layout.schedule=1f1b"}), {"/layout"});
    CHECK(whole.edits.empty());  // the whole layout is named
    const Followed set = follow_sets(plan, {"layout.schedule=1f1b", "layout.tp=4"}, presets());
    CHECK(words_of(set) == "virtual_stages = 1 and dp_shard = 16 follow, so that all 256 GPUs stay in use");
}

TEST_CASE("other stages take an even split of the layers") {
    Plan plan =
        only_set(presets().plan("llama-3-70b-3d"), {"layout.schedule=1f1b", "layout.virtual_stages=1"});
    plan = with_stage_layers(plan, {19, 21, 20, 20});
    CHECK(follow_sets(plan, {"layout.pp=8"}, presets()).plan.layout.stage_layers.empty());
    CHECK(follow_sets(plan, {"layout.tp=4"}, presets()).plan.layout.stage_layers == plan.layout.stage_layers);
}

TEST_CASE("a step of the GPUs offers what the plan can use") {
    // 32 samples over tp 2: 16 GPUs have 8 replicas, 12 have 6, which do not divide them.
    const Plan eight = presets().plan("mesh-8");
    CHECK(next_gpus(eight, 1, 1) == 16);
    CHECK(next_gpus(eight, -1, 1) == 4);
    const Plan twelve = with_gpus(eight, 12);
    REQUIRE_FALSE(evaluate(twelve).valid);
    CHECK(next_gpus(twelve, 1, 1) == 16);
    CHECK(next_gpus(twelve, 1, 4) == 16);
    CHECK(next_gpus(twelve, -1, 1) == 8);
    for (const Presets::Entry& entry : presets().list(PresetKind::plan)) {
        const Plan plan = presets().plan(entry.id);
        if (!evaluate(plan, {.timeline = false}).valid) continue;
        CAPTURE(entry.id);
        const Plan more = with_gpus(plan, next_gpus(plan, 1, 1));
        CHECK(ranks_laid_out(more) == more.cluster.gpus);
    }
}
