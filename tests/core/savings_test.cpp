#include "tests/core/memory_plans.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::test;

TEST_CASE("the savings waterfall ends at the plan's fullest GPU, to the byte, each step explained") {
    Plan dense = plan_of(16, 1024, 8);
    dense.layout.tp = 2;
    dense.layout.cp = 2;
    dense.layout.pp = 4;
    dense.layout.dp_shard = 4;
    dense.layout.zero = 3;
    dense.training.global_batch = 64;
    dense.training.recompute = Recompute::selective;
    Plan dual = dense;
    dual.layout.schedule = Schedule::dualpipe;
    for (const Plan& p : {dense, dual, moe_plan(), plan_of(4, 256, 4)}) {
        const std::vector<SavingStep> steps = savings(p, flights(p));
        REQUIRE_FALSE(steps.empty());
        CHECK(steps.front().label == "single GPU");
        const Memory m = memory_of(p);
        CHECK(steps.back().fullest.total() == m.peak());
        double left = steps.front().fullest.total();
        for (const SavingStep& s : steps) {
            CHECK_FALSE(s.reason.empty());
            left -= s.saved;
            CHECK(left == s.fullest.total());
        }
        Plan alone = p;
        alone.layout = Layout{};
        alone.layout.dp_replicate = 1;
        alone.layout.zero = 0;
        alone.layout.sequence_parallel = false;
        alone.training.recompute = Recompute::none;
        CHECK(steps.front().fullest.total() == memory_of(alone).peak());
    }
}
