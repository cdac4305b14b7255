#include "core/memory/memory_costs.h"
#include "tests/core/memory_plans.h"
#include "tests/near.h"

#include <doctest/doctest.h>
#include <string>
#include <utility>

using namespace pentamesh;
using namespace pentamesh::test;

TEST_CASE("the savings waterfall ends at the plan's fullest GPU, to the byte, each step explained") {
    Plan dense = plan_of_size(16, 1024, 8);
    dense.layout.tp = 2;
    dense.layout.cp = 2;
    dense.layout.pp = 4;
    dense.layout.dp_shard = 4;
    dense.layout.zero = 3;
    dense.training.global_batch = 64;
    dense.training.recompute = Recompute::selective;
    Plan dual = dense;
    dual.layout.schedule = Schedule::dualpipe;
    for (const Plan& p : {dense, dual, moe_plan(), plan_of_size(4, 256, 4)}) {
        const std::vector<SavingStep> steps = savings(p, flights(p));
        REQUIRE_FALSE(steps.empty());
        CHECK(label_of(steps.front()) == "single GPU");
        const Memory m = memory_of(p);
        CHECK(steps.back().fullest.total() == m.peak());
        for (const SavingStep& s : steps) CHECK_FALSE(reason_of(s).empty());
        Plan alone = p;
        alone.layout = Layout{};
        alone.layout.dp_replicate = 1;
        alone.layout.zero = 0;
        alone.layout.sequence_parallel = false;
        alone.training.recompute = Recompute::none;
        CHECK(steps.front().fullest.total() == memory_of(alone).peak());
    }
}

TEST_CASE("each step of the waterfall is the memory of a plan that goes so far, and saves what it says") {
    Plan goal = plan_of_size(16, 1024, 8);
    goal.layout.tp = 2;
    goal.layout.cp = 2;
    goal.layout.pp = 4;
    goal.layout.dp_shard = 4;
    goal.layout.zero = 3;
    goal.training.global_batch = 64;
    goal.training.recompute = Recompute::full;
    const std::vector<SavingStep> steps = savings(goal, flights(goal));

    Plan p = goal;
    p.layout = Layout{};
    p.layout.dp_replicate = 1;
    p.layout.zero = 0;
    p.layout.sequence_parallel = false;
    p.training.recompute = Recompute::none;
    std::vector<std::pair<std::string, double>> plans;
    const auto add = [&](const char* label) {
        const Memory m = memory_of(p);
        plans.emplace_back(label, m.stage[static_cast<std::size_t>(m.peak_stage)].total());
    };
    add("single GPU");
    p.layout.tp = 2, add("tp 2");
    p.layout.sequence_parallel = true, add("sequence parallel");
    p.layout.cp = 2, add("cp 2");
    p.layout.zero = 3, p.layout.dp_shard = 4, add("ZeRO-3 over 8");
    p.layout.pp = 4, add("pp 4");
    p.training.recompute = Recompute::full, add("full recompute");

    REQUIRE(steps.size() == plans.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CAPTURE(label_of(steps[i]));
        CHECK(label_of(steps[i]) == plans[i].first);
        CHECK(steps[i].fullest.total() == plans[i].second);
        if (i == 0) continue;
        CHECK(steps[i].saved == near(plans[i - 1].second - plans[i].second));
    }
}
