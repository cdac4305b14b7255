#include "core/schedules/schedule.h"
#include "schedule_shapes.h"
#include "sha256.h"

#include <doctest/doctest.h>

using namespace pentamesh;

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
