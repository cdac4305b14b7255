// Tests the loads of named workloads against the published ones.
#include "core/teach/expert_loads.h"
#include "tests/near.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>

using namespace pentamesh;
using test::near;

// NVIDIA/Megatron-LM pull request 7488, README.md: max/mean and coefficient of variation of 8 experts. Tokens
// were drawn, 512 of top_k 2 and 2,048 of top_k 4, so that the published figures scatter.
TEST_CASE("the named loads of experts have the published heat") {
    struct Published {
        const char* name;
        std::int64_t top_k;
        double most, cv;
    };
    for (const Published& p : {Published{"W0", 2, 1.0, 0},
                               {"W1", 2, 3.312, 1.309},
                               {"W2", 2, 3.219, 1.272},
                               {"W5", 2, 2.156, 1.007},
                               {"W6", 2, 3.312, 1.319},
                               {"W0", 4, 1.0, 0},
                               {"W1", 4, 1.781, 0.744},
                               {"W2", 4, 1.770, 0.747},
                               {"W5", 4, 2.0, 1.0},
                               {"W6", 4, 1.770, 0.742}}) {
        CAPTURE(p.name);
        CAPTURE(p.top_k);
        const NamedLoad* named = named_load(p.name);
        REQUIRE(named != nullptr);
        const std::vector<double> loads = expert_loads_of(*named, 8, p.top_k);
        REQUIRE(loads.size() == 8);
        double sum = 0, squares = 0;
        for (const double l : loads) sum += l, squares += (l - 1) * (l - 1);
        CHECK(sum == near(8, 1e-12));
        CHECK(*std::max_element(loads.begin(), loads.end()) == near(p.most, p.top_k == 2 ? 0.08 : 0.02));
        CHECK(std::abs(std::sqrt(squares / 8) - p.cv) < 0.03);
    }
    CHECK(named_load("W3") == nullptr);
    CHECK(named_load("w") == nullptr);
}

TEST_CASE("named loads add up for any number of experts") {
    for (const NamedLoad& named : kNamedLoads)
        for (std::int64_t experts = 1; experts <= 17; ++experts)
            for (const std::int64_t top_k : {1, 2, 8}) {
                CAPTURE(named.name);
                CAPTURE(experts);
                double sum = 0;
                for (const double l : expert_loads_of(named, experts, top_k)) sum += l;
                CHECK(sum == near(static_cast<double>(experts), 1e-12));
            }
}
