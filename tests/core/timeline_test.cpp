#include "core/pipeline/timeline.h"
#include "schedule_shapes.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

constexpr double kRounding = 2e-6;  // the golden figures are rounded to six decimals

void compare_figures(const nlohmann::json& c, const Timeline& t) {
    CHECK(t.complete);
    CHECK(t.makespan == near(c["makespan"].get<double>(), kRounding));
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const DeviceTime& time = t.device[d];
        CHECK(std::abs(time.busy - c["busy"][d].get<double>()) < kRounding);
        CHECK(std::abs(time.idle_within_span() - c["idle_within_span"][d].get<double>()) < kRounding);
        CHECK(std::abs(time.peak_in_flight - c["peak_in_flight"][d].get<double>()) < kRounding);
        const double fraction = (t.makespan - time.busy) / t.makespan;
        CHECK(std::abs(fraction - c["bubble_fraction"][d].get<double>()) < kRounding);
    }
}

void compare_starts(const nlohmann::json& c, const Timeline& t) {
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const nlohmann::json& starts = c["start"][d];
        REQUIRE(starts.size() == t.order.begin[d + 1] - t.order.begin[d]);
        for (std::size_t k = 0; k < starts.size(); ++k)
            CHECK(std::abs(t.start[t.order.begin[d] + k] - starts[k].get<double>()) < kRounding);
    }
}

}  // namespace

TEST_CASE("a replay gives the starts, makespans, idle times and peaks of the reference projects") {
    const nlohmann::json golden = golden_schedules();
    int compared = 0;
    for (const char* list : {"cases", "cases_group", "cases_overlap"})
        for (const nlohmann::json& c : golden[list]) {
            if (c.contains("expect") || c.contains("variant")) continue;
            const GoldenCase g = golden_case(c);
            CAPTURE(label(g.shape));
            CAPTURE(g.comm);
            Timeline t;
            run_timeline(g.shape, g.costs, t);
            compare_figures(c, t);
            if (c.contains("start")) compare_starts(c, t);
            ++compared;
        }
    CHECK(compared >= 100);
}

TEST_CASE("an FB pair takes its share of the parts' time and a slow device its factor") {
    const ScheduleShape shape = shape_of(Schedule::dualpipev, 2, 6, 2);
    Timeline t;
    TimelineCosts costs = uniform_costs(shape, 1, 1.5, 0.5, 0, 2.4);
    costs.slow = {1, 2};
    run_timeline(shape, costs, t);
    int pairs = 0;
    for (std::size_t i = 0; i < t.order.ops.size(); ++i) {
        const double pace = device_of_op(t, i) == 1 ? 2 : 1, takes = t.end[i] - t.start[i];
        const OpKind kind = t.order.ops[i].kind;
        pairs += kind == OpKind::FB;
        const double want = kind == OpKind::FB  ? 1.2
                            : kind == OpKind::F ? 0.5
                            : kind == OpKind::B ? 1.0
                            : kind == OpKind::I ? 0.75
                                                : 0.25;
        CHECK(takes == near(want * pace));
    }
    CHECK(pairs == 14);
}

TEST_CASE("chunks that cost more make the device that holds them busier and the step longer") {
    const ScheduleShape shape = shape_of(Schedule::interleaved, 4, 8, 2);
    TimelineCosts costs = uniform_costs(shape, 1, 1, 1, 0);
    Timeline even, uneven;
    run_timeline(shape, costs, even);
    costs.chunk[static_cast<std::size_t>(3 * 2 + 1)].forward += 0.5;  // a head on the last stage
    run_timeline(shape, costs, uneven);
    CHECK(uneven.device[3].busy == near(even.device[3].busy + 8 * 0.5));
    CHECK(uneven.device[0].busy == near(even.device[0].busy));
    CHECK(uneven.makespan >= uneven.device[3].busy);
}

TEST_CASE("back to back, the zero-bubble schedules lose only what each device idles within its own span") {
    // One more step adds so much to the makespan: the span bubble of the zero-bubble papers is in it.
    const auto period = [](Schedule s, int v) {
        const ScheduleShape shape = shape_of(s, 4, 8, v);
        Timeline two;
        run_iterations(shape, uniform_costs(shape, 1, 1, 1, 0), 2, two);
        return two.makespan - iteration_end(two, 0);
    };
    const double ideal = 8 * 3;
    CHECK(period(Schedule::zb_h2, 1) == near(ideal));
    CHECK(period(Schedule::zb_v, 2) == near(ideal));
    CHECK(period(Schedule::zb_h1, 1) == near(ideal + 3));
    CHECK(period(Schedule::one_f_one_b, 1) == near(ideal + 9));
    CHECK(period(Schedule::gpipe, 1) == near(ideal + 9));
}

TEST_CASE("steps back to back: each runs whole, in order, and one step alone is the plain timeline") {
    for_each_shape(4, 9, [](const ScheduleShape& shape) {
        CAPTURE(label(shape));
        const TimelineCosts costs = uniform_costs(shape, 1, 1.2, 0.8, 0.1);
        Timeline once, same, twice;
        run_timeline(shape, costs, once);
        run_iterations(shape, costs, 1, same);
        run_iterations(shape, costs, 2, twice);
        REQUIRE(twice.complete);
        CHECK(same.makespan == once.makespan);
        CHECK(iteration_end(same, 0) == once.makespan);
        CHECK(iteration_end(twice, 1) == twice.makespan);
        CHECK(twice.order.ops.size() == 2 * once.order.ops.size());
        CHECK(twice.device[0].busy == near(2 * once.device[0].busy));
        CHECK(twice.makespan <= near(2 * once.makespan));
        CHECK(twice.makespan - iteration_end(twice, 0) >= near(once.device[0].busy));
    });
}

TEST_CASE("a warm timeline is replayed in place") {
    for (const Schedule s : {Schedule::interleaved, Schedule::zb_v, Schedule::dualpipe}) {
        const ScheduleShape shape = shape_of(s, 4, 16, 2);
        const TimelineCosts costs = uniform_costs(shape, 1, 1, 1, 0.1);
        Timeline t;
        run_timeline(shape, costs, t);
        const auto places = [&] {
            return std::vector<const void*>{t.order.ops.data(),
                                            t.order.begin.data(),
                                            t.start.data(),
                                            t.end.data(),
                                            t.device.data(),
                                            t.lane_time.data(),
                                            t.sequence.forward_op.data(),
                                            t.sequence.backward_op.data(),
                                            t.sequence.link.data(),
                                            t.sequence.lane.data(),
                                            t.sequence.turn.data(),
                                            t.sequence.back_input.data(),
                                            t.slot_end.data(),
                                            t.sequence.device.data(),
                                            t.sequence.rows.data(),
                                            t.sequence.progress.data()};
        };
        const auto before = places();
        const double makespan = t.makespan;
        ScheduleShape smaller = shape;
        smaller.microbatches = 8;
        run_timeline(smaller, uniform_costs(smaller, 1, 1, 1, 0.1), t);
        run_timeline(shape, costs, t);
        CHECK(places() == before);
        CHECK(t.makespan == makespan);
    }
}

TEST_CASE("a timeline that keeps its order for other costs is the one that is made from nothing") {
    Timeline kept;
    for_each_shape(4, 9, [&](const ScheduleShape& shape) {
        CAPTURE(label(shape));
        TimelineCosts slow = uniform_costs(shape, 1, 2, 0.5, 0.3, 3);
        slow.slow.assign(static_cast<std::size_t>(shape.devices), 1);
        slow.slow.back() = 1.5;
        for (const TimelineCosts& costs : {uniform_costs(shape, 1, 1.2, 0.8, 0), slow}) {
            for (const int steps : {1, 2}) {
                Timeline fresh, again;
                run_iterations(shape, costs, steps, fresh);
                run_iterations(shape, slow, steps, kept);
                run_iterations(shape, costs, steps, kept);
                CHECK(kept == fresh);
                again = kept;  // a copy keeps it too
                run_iterations(shape, slow, steps, again);
                run_iterations(shape, costs, steps, again);
                CHECK(again == fresh);
                // The sequence that gives these times has each op once, after those it waits for. Each is
                // known by the slot of its end; the one before a device's first stands for the time 0.
                const Sequence& sequence = kept.sequence;
                std::vector<bool> seen(fresh.order.ops.size()), ended(kept.slot_end.size());
                for (std::size_t d = 0; d < sequence.device.size(); ++d)
                    ended[fresh.order.begin[d] + static_cast<std::size_t>(slot_shift(d)) - 1] = true;
                for (std::size_t i = 0; i < sequence.turn.size(); ++i) {
                    const Turn turn = sequence.turn[i];
                    const auto device = static_cast<std::size_t>(sequence.lane[turn.lane].device);
                    const auto op = static_cast<std::size_t>(turn.slot - slot_shift(device));
                    const auto slot = static_cast<std::size_t>(turn.slot);
                    CHECK(!seen[op]);
                    CHECK((ended[slot - 1] && ended[static_cast<std::size_t>(turn.input)]));
                    if (fresh.order.ops[op].kind == OpKind::FB)
                        CHECK(ended[static_cast<std::size_t>(sequence.back_input[i])]);
                    seen[op] = ended[slot] = true;
                }
                CHECK(std::all_of(seen.begin(), seen.end(), [](bool s) { return s; }));
            }
        }
    });
}

TEST_CASE("a timeline that was cleared or moved away is made anew") {
    const ScheduleShape shape = shape_of(Schedule::dualpipe, 4, 8);
    const TimelineCosts costs = uniform_costs(shape, 1, 1, 1, 0.1);
    Timeline fresh, t;
    run_timeline(shape, costs, fresh);
    run_timeline(shape, costs, t);
    t.clear();
    run_timeline(shape, costs, t);
    CHECK(t == fresh);
    const Timeline taken = std::move(t);
    run_timeline(shape, costs, t);  // NOLINT(bugprone-use-after-move)
    CHECK(t == fresh);
    CHECK(taken == fresh);
}

TEST_CASE("an op's inputs are the ops that make what it needs, a pair has both") {
    const ScheduleShape shape = shape_of(Schedule::dualpipe, 4, 8);
    Timeline t;
    run_timeline(shape, uniform_costs(shape, 1, 1, 1, 0), t);
    int crossing = 0;
    for (std::size_t i = 0; i < t.order.ops.size(); ++i) {
        const Op& op = t.order.ops[i];
        const auto inputs = inputs_of(t, i);
        for (const std::ptrdiff_t input : inputs) {
            if (input < 0) continue;
            const Op& from = t.order.ops[static_cast<std::size_t>(input)];
            const bool forward = from.microbatch == op.microbatch
                                 || (from.kind == OpKind::FB && from.backward_microbatch == op.microbatch);
            const bool backward = op.kind == OpKind::FB
                                  && (from.microbatch == op.backward_microbatch
                                      || from.backward_microbatch == op.backward_microbatch);
            CHECK((forward || backward));
            CHECK(t.end[static_cast<std::size_t>(input)] <= t.start[i]);
            crossing += device_of_op(t, static_cast<std::size_t>(input)) != device_of_op(t, i);
        }
        if (op.kind == OpKind::W) CHECK(t.order.ops[static_cast<std::size_t>(inputs[0])].kind == OpKind::I);
        if (op.kind == OpKind::FB) CHECK(inputs[1] >= 0);
    }
    // Each micro-batch crosses p - 1 borders forward and as many back.
    CHECK(crossing == 8 * 2 * 3);
}

TEST_CASE("an empty timeline has no bubble and no ops") {
    const Timeline t;
    CHECK(t.empty());
    CHECK(t.bubble_fraction() == 0);
}

TEST_CASE(
    "the zero-bubble rules are as good as the orders that a search finds: no longer, at no higher peak") {
    const nlohmann::json golden = golden_schedules();
    int compared = 0;
    for (const nlohmann::json& c : golden["variants"]) {
        if (!parse_name<Schedule>(c["schedule"].get<std::string>())) continue;
        const GoldenCase g = golden_case(c);
        CAPTURE(label(g.shape));
        Timeline t;
        run_timeline(g.shape, g.costs, t);
        CHECK(t.makespan <= c["makespan"].get<double>() * (1 + kRounding));
        for (std::size_t d = 0; d < t.device.size(); ++d)
            CHECK(t.device[d].peak_in_flight <= c["peak_in_flight"][d].get<double>() + kRounding);
        ++compared;
    }
    CHECK(compared == 16);
}
