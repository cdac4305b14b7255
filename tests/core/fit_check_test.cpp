// Tests `fit --check` on errors made up for it.
#include "core/base/files.h"
#include "tests/near.h"
#include "tools/fit/check.h"

#include <doctest/doctest.h>
#include <limits>
#include <string>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

std::vector<RunError> made_up(std::size_t small, std::size_t large) {
    std::vector<RunError> runs;
    for (std::size_t i = 0; i < small; ++i)
        runs.push_back({.label = "small " + std::to_string(i), .error = 0.05});
    for (std::size_t i = 0; i < large; ++i)
        runs.push_back({.label = "large " + std::to_string(i), .error = -0.5});
    return runs;
}

}  // namespace

TEST_CASE("a table of errors reads as it was written, to a hundredth of a per cent") {
    const std::vector<RunError> runs{{.label = "llama-3-8b 8 x h100 tp 1", .error = 0.07891},
                                     {.label = "gpt 2", .error = -0.448}};
    const std::vector<RunError> read = read_errors(write_errors(runs), "errors.txt");
    REQUIRE(read.size() == 2);
    CHECK(read[0].label == "llama-3-8b 8 x h100 tp 1");
    CHECK(read[0].error == near(0.0789));
    CHECK(read[1].error == near(-0.448));
    CHECK_THROWS_WITH_AS((void)read_errors("+1.00  a\nnothing\n", "errors.txt"), doctest::Contains("nothing"),
                         Error);
}

TEST_CASE("a run that moved by half a per cent, came or went fails the check") {
    const std::vector<RunError> golden = made_up(20, 0);
    CHECK(errors_hold(golden, golden));
    std::vector<RunError> moved = golden;
    moved[3].error += 0.004;
    CHECK(errors_hold(moved, golden));
    moved[3].error += 0.002;
    CHECK_FALSE(errors_hold(moved, golden));
    moved[3].error = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(errors_hold(moved, golden));
    CHECK_FALSE(errors_hold(made_up(19, 0), golden));
    CHECK_FALSE(errors_hold(made_up(21, 0), golden));
}

TEST_CASE("large errors of a tenth of the runs fail the check, and so does a large median") {
    CHECK(errors_hold(made_up(20, 1), made_up(20, 1)));
    CHECK_FALSE(errors_hold(made_up(18, 3), made_up(18, 3)));
    std::vector<RunError> middling = made_up(20, 0);
    for (RunError& r : middling) r.error = 0.09;
    CHECK_FALSE(errors_hold(middling, middling));
}

TEST_CASE("a large median of the MoE runs alone fails the check") {
    std::vector<RunError> runs = made_up(20, 0);
    for (std::size_t i = 0; i < 5; ++i) {
        runs[i].moe = true;
        runs[i].error = i < 3 ? 0.12 : 0.05;
    }
    CHECK_FALSE(errors_hold(runs, runs));
    runs[0].error = 0.05;
    CHECK(errors_hold(runs, runs));
}
