// A pipeline waits for its longest stage: the step names that wait, and its bubble is the timeline's.
#include "plans.h"
#include "tests/near.h"

#include <doctest/doctest.h>
#include <numeric>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

// Stages that only compute and send: nothing else is exposed in them.
Plan pipeline(std::vector<std::int64_t> layers) {
    Plan p = small_plan(4);
    p.layout.dp_shard = 1;
    p.layout.pp = 4;
    p.model.layers = std::accumulate(layers.begin(), layers.end(), std::int64_t{0});
    p.layout.stage_layers = std::move(layers);
    p.training.global_batch = 16;
    return p;
}

}  // namespace

TEST_CASE("a step's bubble is what the average stage waits in the timeline") {
    for (const std::vector<std::int64_t>& layers :
         {std::vector<std::int64_t>{8, 8, 8, 8}, {4, 12, 8, 8}, {8, 8, 8, 20}}) {
        Plan p = pipeline(layers);
        p.training.software = Software::torchtitan;  // Megatron's schedule does not hide sends
        const Evaluation e = evaluate(p);
        REQUIRE(e.valid);
        REQUIRE(e.step);
        const double idle = e.timeline.makespan * e.timeline.bubble_fraction();
        const double sends = e.step->exposed_comm_s[static_cast<std::size_t>(GroupKind::pp)];
        CHECK(e.step->bubble_s + sends == near(idle));
    }
}

TEST_CASE("the wait for the longest stage is named: it grows with that stage alone") {
    const auto uneven = [](std::vector<std::int64_t> layers) {
        const Evaluation e = evaluate(pipeline(std::move(layers)));
        REQUIRE(e.step);
        CHECK(e.step->uneven_s >= 0);
        CHECK(e.step->uneven_s <= e.step->bubble_s);
        return e.step->uneven_s;
    };
    const double even = uneven({8, 8, 8, 8}), one = uneven({8, 12, 8, 8}), two = uneven({8, 16, 8, 8});
    CHECK(even < one);
    CHECK(one < two);
    // Four layers more on one of four stages: the three others wait for them, three quarters on average.
    Plan p = pipeline({8, 12, 8, 8});
    const Evaluation e = evaluate(p);
    const double layer = e.work.times.of(0).all.total() * e.work.microbatches;
    CHECK(two - one == near(3 * layer));
}

TEST_CASE("a waterfall shows the bubble in two: the schedule's and that of uneven stages") {
    const Evaluation e = evaluate(pipeline({8, 8, 8, 20}));
    REQUIRE(e.step);
    double bubble = 0, uneven = 0, end = 0;
    for (const StepSlice& s : waterfall(*e.step)) {
        if (s.part == StepPart::bubble) bubble = s.time_s;
        if (s.part == StepPart::uneven) uneven = s.time_s;
        end = s.from_s + s.time_s;
    }
    CHECK(bubble == near(schedule_bubble_s(*e.step)));
    // Twelve layers more on one of four stages: the three others wait for them, nine layers on average; the
    // last stage's head makes them wait in any case.
    const Evaluation even = evaluate(pipeline({8, 8, 8, 8}));
    CHECK(uneven - even.step->uneven_s == near(9 * e.work.times.of(0).all.total() * e.work.microbatches));
    CHECK(bubble + uneven == near(e.step->bubble_s));
    CHECK(end == near(e.step->time_s));
}
