#include "core/base/number.h"

#include "core/base/text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <locale>
#include <random>

using namespace pentamesh;

TEST_CASE("numbers are written the same with and without the standard library's own conversion") {
    std::mt19937_64 rng(5);
    std::uniform_real_distribution<double> digits(-10, 10);
    std::uniform_int_distribution<int> power(-30, 30);
    for (int i = 0; i < 2000; ++i) {
        const double x = digits(rng) * std::pow(10.0, power(rng));
        CHECK(fixed_text(x, i % 8) == by_stream::fixed_text(x, i % 8));
        CHECK(scientific_text(x, i % 8) == by_stream::scientific_text(x, i % 8));
        CHECK(general_text(x, 1 + i % 16) == by_stream::general_text(x, 1 + i % 16));
        CHECK(parse_double(exact_text(x)) == x);
        CHECK(by_stream::parse(general_text(x, 17)) == parse_double(general_text(x, 17)));
    }
    CHECK(fixed_text(1.5, 2) == "1.50");
    CHECK(scientific_text(15000, 2) == "1.50e+04");
    CHECK(general_text(0.1234567, 6) == "0.123457");
    CHECK(exact_text(0.1) == "0.1");
}

TEST_CASE("a number is read whole or not at all") {
    CHECK(parse_double("12") == 12);
    CHECK(parse_double("-0.5") == -0.5);
    CHECK(parse_double("+3.25e2") == 325);
    CHECK(parse_double(".5") == 0.5);
    CHECK(parse_double("5.") == 5);
    for (const char* bad : {"", "+", "-", ".", "e5", "1e999", "inf", "nan", "0x10", "1,5", "1.5 ", " 1",
                            "1.5.2", "+-1", "--1"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_double(bad));
    }
    CHECK(leading_number("50GB/s").length == 2);
    CHECK(leading_number("5e").length == 1);  // the e belongs to what follows
    CHECK(leading_number("GB").length == 0);
}

TEST_CASE("numbers have a point in every locale") {
    struct Comma : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
    CHECK(by_stream::fixed_text(1234.5, 1) == "1234.5");
    CHECK(by_stream::parse("1234.5") == 1234.5);
    CHECK(fixed_text(1234.5, 1) == "1234.5");
    CHECK(three_digits(1.25) == "1.25");
    CHECK(parse_double("1.25") == 1.25);
    std::locale::global(before);
}
