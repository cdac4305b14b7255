#include "core/pipeline/timeline.h"

#include "core/plan/names.h"

#include "tests/near.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

Timeline replayed(const ScheduleShape& shape, double f, double i, double w, double send = 0) {
    Timeline t;
    run_timeline(shape, uniform_costs(shape, f, i, w, send), t);
    return t;
}

}  // namespace

TEST_CASE("1F1B repeats one forward and one backward, whose time is the period") {
    for (const int devices : {2, 4, 8})
        for (const int microbatches : {32, 120}) {
            const ScheduleShape shape{.devices = devices, .microbatches = microbatches};
            const double f = 1, backward = 2.2;
            const auto steady = steady_part(replayed(shape, f, 1.2, 1));
            CAPTURE(devices);
            CAPTURE(microbatches);
            REQUIRE(steady);
            CHECK(steady->period_s == near(f + backward));
            // The last stage starts after p - 1 forwards; the first stage fills for as many micro-batches.
            CHECK(steady->from_s >= (devices - 1) * f);
            CHECK(steady->from_s <= devices * (f + backward));
            CHECK(steady->periods >= microbatches - 3 * devices);
            CHECK(steady->periods <= microbatches);
        }
}

TEST_CASE("an interleaved schedule repeats one group of micro-batches through all of its chunks") {
    const ScheduleShape shape{
        .schedule = Schedule::interleaved, .devices = 4, .microbatches = 64, .chunks = 5};
    const auto steady = steady_part(replayed(shape, 1, 1, 1));
    REQUIRE(steady);
    // Four micro-batches pass five chunks, each a fifth of a stage that takes 3.
    CHECK(steady->period_s == near(4 * 3.0));
}

TEST_CASE("the first round ends when the last stage has run its last chunk once") {
    CHECK(first_round_s(replayed({.devices = 4, .microbatches = 8}, 1, 1, 1)) == near(4));
    // Stage 3 waits for three fifths, runs four micro-batches through four chunks, and the first through the
    // last.
    const ScheduleShape shape{
        .schedule = Schedule::interleaved, .devices = 4, .microbatches = 64, .chunks = 5};
    CHECK(first_round_s(replayed(shape, 1, 1, 1)) == near((3 + 4 * 4 + 1) / 5.0));
    CHECK(first_round_s(Timeline{}) == 0);
}

TEST_CASE("a steady part is steady: every stage starts the same ops one period later, to 2 %") {
    for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::interleaved, Schedule::dualpipe}) {
        const ScheduleShape shape{.schedule = schedule,
                                  .devices = 4,
                                  .microbatches = 48,
                                  .chunks = schedule == Schedule::one_f_one_b ? 1 : 2};
        const Timeline t = replayed(shape, 1, 1.1, 0.9, 0.05);
        const auto steady = steady_part(t);
        CAPTURE(name_of(schedule));
        REQUIRE(steady);
        CHECK(steady->to_s() <= t.makespan);
        int compared = 0;
        for (std::size_t d = 0; d < t.device.size(); ++d)
            for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
                if (t.start[i] < steady->from_s || t.start[i] >= steady->to_s() - steady->period_s) continue;
                const double next = t.start[i] + steady->period_s;
                const Op& op = t.order.ops[i];
                bool found = false;
                for (std::size_t j = i + 1; j < t.order.begin[d + 1] && !found; ++j)
                    found = t.order.ops[j].kind == op.kind && t.order.ops[j].chunk == op.chunk
                            && std::abs(t.start[j] - next) <= 0.021 * steady->period_s;
                CHECK(found);
                ++compared;
            }
        CHECK(compared >= 2 * steady->periods);
    }
}

TEST_CASE("a pipeline with few micro-batches, or with all forwards first, has no steady part") {
    CHECK_FALSE(steady_part(replayed({.devices = 16, .microbatches = 16}, 1, 1, 1)));
    CHECK_FALSE(
        steady_part(replayed({.schedule = Schedule::gpipe, .devices = 4, .microbatches = 32}, 1, 1, 1)));
    CHECK_FALSE(steady_part(Timeline{}));
}

TEST_CASE("the median op of uniform costs is a forward or a backward") {
    const Timeline t = replayed({.devices = 4, .microbatches = 16}, 1, 1, 2);
    const double median = median_op_s(t);
    CHECK((median == near(1.0) || median == near(3.0)));
    CHECK(median_op_s(Timeline{}) == 0);
}
