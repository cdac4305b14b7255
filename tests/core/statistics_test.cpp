#include "core/base/number.h"

#include <doctest/doctest.h>

using pentamesh::median;

TEST_CASE("the median is the middle number, of an even count the mean of two, of none 0") {
    CHECK(median({}) == 0);
    CHECK(median({3}) == 3);
    CHECK(median({9, 1, 5}) == 5);
    CHECK(median({8, 2, 1, 4}) == 3);
}
