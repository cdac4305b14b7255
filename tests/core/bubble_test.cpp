#include "core/io/presets.h"
#include "core/step/exposure.h"
#include "plans.h"
#include "schedule_shapes.h"
#include "tests/near.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

Bubble bubble_of(const ScheduleShape& shape, const TimelineCosts& costs) {
    Timeline one, two;
    run_timeline(shape, costs, one);
    run_iterations(shape, costs, 2, two);
    return measure_bubble(one, costs, &two);
}

}  // namespace

TEST_CASE("zb-h2 has the makespan bubble of zb-h1, no span bubble, and back to back none at all") {
    const ScheduleShape h1 = shape_of(Schedule::zb_h1, 4, 8), h2 = shape_of(Schedule::zb_h2, 4, 8);
    const Bubble one = bubble_of(h1, uniform_costs(h1, 1, 1, 1, 0));
    const Bubble zero = bubble_of(h2, uniform_costs(h2, 1, 1, 1, 0));
    CHECK(one.work == near(24));
    CHECK(one.makespan == near(3));
    CHECK(zero.makespan == near(3));
    CHECK(zero.span == 0);
    CHECK(one.steady.value() == near(3));
    CHECK(zero.steady.value() == 0);
    CHECK(zero.fraction == near(3.0 / 27));
    CHECK(zero.overhead == near(3.0 / 24));
}

TEST_CASE("where the closed form holds it is the measured overhead, in the measure that it names") {
    int held = 0;
    for_each_shape(6, 14, [&](const ScheduleShape& shape) {
        CAPTURE(label(shape));
        const Bubble b = bubble_of(shape, uniform_costs(shape, 1, 1.1, 0.9, 0));
        if (!b.form_holds()) return;
        ++held;
        CHECK(b.form_overhead == near((b.form.span_measure ? b.span : b.makespan) / b.work));
    });
    CHECK(held > 100);
}

TEST_CASE("fraction, overhead and makespan are one bubble: fraction is that of the timeline") {
    for_each_shape(5, 10, [](const ScheduleShape& shape) {
        TimelineCosts costs = uniform_costs(shape, 1, 1.3, 0.7, 0.2);
        costs.chunk.back().forward *= 1.5;
        Timeline t;
        run_timeline(shape, costs, t);
        const Bubble b = measure_bubble(t, costs);
        CHECK(b.fraction == near(t.bubble_fraction()));
        CHECK(b.makespan == near(t.makespan - b.work));
        CHECK(b.overhead == near(b.fraction / (1 - b.fraction)));
        CHECK_FALSE(b.steady.has_value());
    });
}

TEST_CASE("unequal stages and a slow device take the closed form's right away") {
    const ScheduleShape shape = shape_of(Schedule::one_f_one_b, 4, 8);
    TimelineCosts costs = uniform_costs(shape, 1, 1, 1, 0);
    CHECK(bubble_of(shape, costs).form_holds());
    apply_slow({2, 1.5}, 4, costs);
    CHECK_FALSE(bubble_of(shape, costs).form_holds());
    apply_slow({}, 4, costs);
    CHECK(bubble_of(shape, costs).form_holds());
    costs.chunk[3].forward *= 1.01;
    CHECK_FALSE(bubble_of(shape, costs).form_holds());
}

TEST_CASE("a slow device makes the pipeline its own pace: the steady part slows by its factor") {
    const ScheduleShape shape = shape_of(Schedule::one_f_one_b, 4, 64);
    TimelineCosts costs = uniform_costs(shape, 1, 1, 1, 0);
    Timeline even, slowed;
    run_timeline(shape, costs, even);
    apply_slow({1, 2}, 4, costs);
    run_timeline(shape, costs, slowed);
    CHECK(slowed.device[1].busy == near(2 * even.device[1].busy));
    CHECK(slowed.device[0].busy == near(even.device[0].busy));
    CHECK(slowed.makespan > slowed.device[1].busy);
    CHECK(slowed.makespan < 2 * even.makespan);
    apply_slow({9, 2}, 4, costs);  // beyond the pipeline: nobody
    CHECK(costs.slow.empty());
}

TEST_CASE("the step grows by what the makespan grows, the stragglers' share with it") {
    Step step;
    step.time_s = 11, step.straggler_s = 1;
    CHECK(step_with_makespan(step, 8, 8) == near(11));
    CHECK(step_with_makespan(step, 8, 10) == near(12 * 1.1));
    step.straggler_s = 0;
    CHECK(step_with_makespan(step, 8, 10) == near(13));
}
