#include "core/pipeline/follow.h"

#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
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
        const Followed named = follow_sets(plan, sets, presets());
        CHECK(named.plan.layout.dp_shard == 2);
        CHECK(named.plan.layout.dp_replicate == plan.layout.dp_replicate);
        CHECK_FALSE(named.fills);
    }
    CHECK(filled > 100);
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
