#include "core/base/text.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <tuple>

using namespace pentamesh;
using pentamesh::test::near;

namespace {
double value(const char* text, Dimension d, std::string_view shown = {}) {
    CAPTURE(text);
    const Quantity q = parse_quantity(text, d, shown);
    REQUIRE_MESSAGE(q.value.has_value(), q.refusal);
    CHECK(q.refusal.empty());
    return *q.value;
}
void check_refused(const char* text, Dimension d, std::string_view shown = {}) {
    CAPTURE(text);
    const Quantity q = parse_quantity(text, d, shown);
    CHECK_FALSE(q.value.has_value());
    CHECK(q.refusal.find("write ") != std::string::npos);
}
}  // namespace

TEST_CASE("a bandwidth without a unit takes the unit shown; bits are bits, bytes are bytes") {
    constexpr Dimension d = Dimension::bytes_per_s;
    for (const auto& [text, shown, want] :
         std::initializer_list<std::tuple<const char*, const char*, double>>{{"25", "GB/s", 25e9},
                                                                             {"25", "MB/s", 25e6},
                                                                             {"1.5", "TB/s", 1.5e12},
                                                                             {"200 Gb/s", "GB/s", 25e9},
                                                                             {"200Gbit/s", "GB/s", 25e9},
                                                                             {"400 Gbps", "GB/s", 50e9},
                                                                             {"400 GB/s", "MB/s", 400e9},
                                                                             {" 3.35 TB/s ", "GB/s", 3.35e12},
                                                                             {"1 GiB/s", "GB/s", 1073741824},
                                                                             {"1,200 MB/s", "GB/s", 1.2e9},
                                                                             {"5e10 B/s", "GB/s", 5e10}}) {
        CHECK(value(text, d, shown) == near(want));
    }
    for (const char* bad : {"", "fast", "25 GB", "25 Gb", "25 gb/s", "25 g", "25 s", "25 %", "1,5 GB/s",
                            "25 GB/h", "25 mb/s", "25 GT/s", "-", "1e999", "nan"})
        check_refused(bad, d, "GB/s");
    const std::string why = parse_quantity("25 GT/s", d, "GB/s").refusal;
    CHECK(why == "\"25 GT/s\": write a bandwidth such as 50 GB/s (bytes) or 400 Gb/s (bits)");
}

TEST_CASE("times, rates, shares, sizes and ratios are typed with their units") {
    CHECK(value("5", Dimension::seconds, "µs") == near(5e-6));
    CHECK(value("3.1 us", Dimension::seconds, "s") == near(3.1e-6));
    CHECK(value("3.1 \u03bcs", Dimension::seconds, "s") == near(3.1e-6));
    CHECK(value("20ms", Dimension::seconds, "µs") == near(0.02));
    CHECK(value("2 min", Dimension::seconds, "s") == 120);
    CHECK(value("989", Dimension::flops_per_s, "TFLOP/s") == 989e12);
    CHECK(value("1.2 PFLOPS", Dimension::flops_per_s, "TFLOP/s") == 1.2e15);
    CHECK(value("45", Dimension::share, "%") == near(0.45));
    CHECK(value("45 %", Dimension::share, "%") == near(0.45));
    CHECK(value("80 GiB", Dimension::bytes) == 80.0 * 1073741824);
    CHECK(value("80 GB", Dimension::bytes) == 80e9);
    CHECK(value("8 Gb", Dimension::bytes) == 1e9);
    CHECK(value("1 : 7", Dimension::ratio) == 7);
    CHECK(value("7", Dimension::ratio) == 7);
    check_refused("2 : 7", Dimension::ratio);
    check_refused("5 m", Dimension::seconds, "s");  // minutes or milli?
    check_refused("5 GB/s", Dimension::seconds, "s");
    check_refused("0.45 s", Dimension::share, "%");
}

TEST_CASE("counts take thousands in groups of three, K as in 8K and M") {
    CHECK(value("8192", Dimension::count) == 8192);
    CHECK(value("1,048,576", Dimension::count) == 1048576);
    CHECK(value("1 048 576", Dimension::count) == 1048576);
    CHECK(value("1_048_576", Dimension::count) == 1048576);
    CHECK(value("8K", Dimension::count) == 8192);
    CHECK(value("8k", Dimension::count) == 8192);
    CHECK(value("10 M", Dimension::count) == 10e6);
    CHECK(value("15 T", Dimension::count) == 15e12);
    for (const char* bad : {"", "1,5", "12,34", "one", "8 GB", "8192 tokens", "0x10"})
        check_refused(bad, Dimension::count);
}

TEST_CASE("the unit of a shown figure is what follows its number") {
    CHECK(unit_of("50 GB/s") == "GB/s");
    CHECK(unit_of("5.00 µs") == "µs");
    CHECK(unit_of("62.0 %") == "%");
    CHECK(unit_of("1 : 7") == "");
    CHECK(unit_of("8,192") == "");
}

TEST_CASE("NICs that GPUs share are typed as they are counted") {
    constexpr Dimension d = Dimension::bytes_per_s;
    CHECK(value("4 x 400 Gb/s / 8", d, "GB/s") == near(25e9));
    CHECK(value("1600 Gb/s / 8", d, "GB/s") == near(25e9));
    CHECK(value("2 \u00d7 100 GB/s", d, "GB/s") == near(200e9));
    CHECK(value("400 / 8", d, "GB/s") == near(50e9));
    CHECK(value("8 * 80 GB", Dimension::bytes) == near(640e9));
    check_refused("400 Gb/s / 0", d, "GB/s");
    check_refused("400 Gb/s / eight", d, "GB/s");
    check_refused("x 400 Gb/s", d, "GB/s");
}
