#include "core/pipeline/schedules/schedule.h"
#include "schedule_shapes.h"
#include "sha256.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <random>

using namespace pentamesh;
using pentamesh::test::near;

TEST_CASE("orders are those that the reference projects produce, op for op") {
    const nlohmann::json golden = golden_schedules();
    int compared = 0, hashed = 0;
    for (const char* list : {"cases", "cases_group", "cases_overlap"})
        for (const nlohmann::json& c : golden[list]) {
            if (c.contains("expect") || c.contains("variant")) continue;
            const GoldenCase g = golden_case(c);
            CAPTURE(label(g.shape));
            Order order;
            build_order(g.shape, order);
            const nlohmann::json spelling = spelled(order);
            CHECK(testing::sha256(spelling.dump()) == c["order_sha256"].get<std::string>());
            ++hashed;
            if (!c.contains("order")) continue;
            CHECK(spelling == c["order"]);
            ++compared;
        }
    CHECK(compared >= 40);
    CHECK(hashed >= 100);
}

TEST_CASE("what the reference projects refuse is refused, with a message and a change that mends it") {
    const nlohmann::json golden = golden_schedules();
    int refused = 0;
    for (const char* list : {"cases", "cases_group"})
        for (const nlohmann::json& c : golden[list]) {
            if (!c.contains("expect")) continue;
            const ScheduleShape shape = golden_case(c).shape;
            CAPTURE(label(shape));
            CHECK_FALSE(accepts(shape));
            CHECK(refuse(shape).refused());
            ++refused;
        }
    CHECK(refused == 11);
}

namespace {

ScheduleShape mended(ScheduleShape s, const Refusal& r) {
    if (r.microbatches != 0) s.microbatches = static_cast<int>(r.microbatches);
    if (r.chunks != 0) s.chunks = static_cast<int>(r.chunks);
    if (r.devices != 0) s.devices = static_cast<int>(r.devices);
    if (r.group != 0) s.group = static_cast<int>(r.group);
    return s;
}

}  // namespace

TEST_CASE("a refusal's changes together make a shape that is accepted, and nothing accepted is refused") {
    std::mt19937 random(7);
    const auto upto = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    int refused = 0;
    for (int k = 0; k < 20000; ++k) {
        const ScheduleShape shape = shape_of(static_cast<Schedule>(upto(0, kScheduleCount - 1)), upto(-1, 12),
                                             upto(-1, 40), upto(-1, 300) % 6, upto(-2, 20));
        CAPTURE(label(shape));
        const Refusal r = refuse(shape);
        REQUIRE(r.refused() == !accepts(shape));
        const ScheduleShape better = mended(shape, r);
        CHECK(accepts(better));
        if (!r.refused()) {
            CHECK(r.pointer.empty());
            continue;
        }
        ++refused;
        CHECK(r.pointer.front() == '/');
        CHECK(r.message.back() == '.');
        CHECK(r.message.find_first_of("0123456789") != std::string::npos);
        const bool changes = better.microbatches != shape.microbatches || better.chunks != shape.chunks
                             || better.devices != shape.devices || better.group != shape.group;
        CHECK(changes);
    }
    CHECK(refused > 5000);
}

TEST_CASE("a refusal names the field and asks for the nearest number that works") {
    using S = Schedule;
    CHECK(refuse(shape_of(S::interleaved, 4, 6, 2)).microbatches == 8);
    CHECK(refuse(shape_of(S::interleaved, 4, 6, 2)).pointer == "/training/global_batch");
    CHECK(refuse(shape_of(S::interleaved, 4, 2, 2)).microbatches == 4);
    CHECK(refuse(shape_of(S::interleaved, 4, 8, 1)).chunks == 2);
    CHECK(refuse(shape_of(S::interleaved, 1, 8, 2)).devices == 2);
    CHECK(refuse(shape_of(S::interleaved, 4, 8, 2, 3)).group == 4);
    CHECK(refuse(shape_of(S::interleaved, 2, 5, 2, 2)).group == 3);
    CHECK(refuse(shape_of(S::interleaved, 2, 5, 2, 9)).group == 5);
    CHECK(refuse(shape_of(S::one_f_one_b, 4, 8, 2)).chunks == 1);
    CHECK(refuse(shape_of(S::one_f_one_b, 4, 8, 2)).pointer == "/layout/virtual_stages");
    CHECK(refuse(shape_of(S::zb_v, 4, 8, 1)).chunks == 2);
    CHECK(refuse(shape_of(S::dualpipev, 4, 7, 2)).microbatches == 8);
    CHECK(refuse(shape_of(S::dualpipe, 4, 9)).microbatches == 10);
    CHECK(refuse(shape_of(S::dualpipe, 3, 8)).devices == 4);
    CHECK(refuse(shape_of(S::dualpipe, 3, 6)).devices == 2);
    CHECK(refuse(shape_of(S::zb_h2, 4, 7)).microbatches == 8);
}

TEST_CASE("one device runs every schedule that does not need a neighbour") {
    for (const Schedule s : {Schedule::gpipe, Schedule::one_f_one_b, Schedule::zb_h1, Schedule::looped_bfs})
        CHECK(accepts(shape_of(s, 1, 1)));
    CHECK(accepts(shape_of(Schedule::zb_h2, 1, 2)));
    CHECK(accepts(shape_of(Schedule::zb_v, 1, 1, 2)));
    CHECK(accepts(shape_of(Schedule::dualpipev, 1, 2, 2)));
    for_each_shape(1, 9, [](const ScheduleShape& shape) {
        CAPTURE(label(shape));
        CHECK(bubble_estimate(shape, 1, 1.2, 0.8, 0.3) == 0);
    });
}

TEST_CASE("stage_of and device_of undo each other and each stage has one home a copy") {
    for_each_shape(5, 10, [](const ScheduleShape& shape) {
        const int chunks = chunks_of(shape), copies = parameter_copies(shape.schedule);
        std::vector<int> homes(static_cast<std::size_t>(shape.devices * chunks / copies), 0);
        for (int d = 0; d < shape.devices; ++d)
            for (int c = 0; c < chunks; ++c) {
                const int stage = stage_of(shape, d, c);
                CHECK(device_of(shape, stage, c) == d);
                ++homes.at(static_cast<std::size_t>(stage));
            }
        for (const int n : homes) CHECK(n == copies);
    });
}

TEST_CASE("op_count is not less than the ops of an order, and equal where no pairs overlap") {
    for_each_shape(6, 14, [](const ScheduleShape& shape) {
        CAPTURE(label(shape));
        Order order;
        build_order(shape, order);
        const auto ops = static_cast<std::int64_t>(order.ops.size());
        const bool pairs = shape.schedule == Schedule::dualpipe || shape.schedule == Schedule::dualpipev;
        if (pairs) CHECK(ops <= op_count(shape));
        if (!pairs) CHECK(ops == op_count(shape));
    });
}

TEST_CASE("closed forms are those of the golden file, with the condition under which they hold") {
    const nlohmann::json golden = golden_schedules();
    int compared = 0;
    for (const nlohmann::json& c : golden["cases"]) {
        if (!c.contains("closed_form")) continue;
        const GoldenCase g = golden_case(c);
        CAPTURE(label(g.shape));
        const nlohmann::json& want = c["closed_form"];
        const ClosedForm form = closed_form(g.shape, g.f, g.i, g.w, g.comm);
        CHECK(form.exact == want["applies"].get<bool>());
        CHECK(form.span_measure == (want["measure"] == "span"));
        CHECK(form.bubble == near(want["bubble"].get<double>()));
        ++compared;
    }
    CHECK(compared >= 80);
}
