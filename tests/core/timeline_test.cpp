#include "core/timeline.h"
#include "schedule_shapes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace pentamesh;

namespace {

constexpr double kRounding = 2e-6;  // the golden figures are rounded to six decimals

void compare_figures(const nlohmann::json& c, const Timeline& t) {
    CHECK(t.complete);
    CHECK(t.makespan == doctest::Approx(c["makespan"].get<double>()).epsilon(kRounding));
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
