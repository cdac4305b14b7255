// Tests figures in words: each unit at its size and at the size that rounds up to the next.
#include "core/base/text.h"

#include <doctest/doctest.h>
#include <string>

using namespace pentamesh;

TEST_CASE(
    "times, sizes and rates are written with the unit that leaves one to three digits before the point") {
    CHECK(time_text(2.5) == "2.5 s");
    CHECK(time_text(2.5e-3) == "2.5 ms");
    CHECK(time_text(2.5e-6) == "2.5 µs");
    CHECK(time_text(2.5e-9) == "2.5 ns");
    CHECK(time_text(0.99996) == "1 s");
    CHECK(time_text(0.000999) == "999 µs");
    CHECK(time_text(0) == "0 s");
    CHECK(memory_text(1024) == "1 KiB");
    CHECK(memory_text(80.0 * (1 << 30)) == "80 GiB");
    CHECK(memory_text(80e9) == "74.5 GiB");
    CHECK(bytes_text(80e9) == "80 GB");
    CHECK(bytes_text(999) == "999 B");
    CHECK(percent_text(0.125) == "12.5 %");
}

TEST_CASE("numbers have three digits, commas and one noun or many") {
    CHECK(with_commas(1234567) == "1,234,567");
    CHECK(with_commas(-1234) == "-1,234");
    CHECK(with_commas(999) == "999");
    CHECK(three_digits(12345.0) == "12,300");
    CHECK(three_digits(0.012345) == "0.0123");
    CHECK(whole_text(12345.0) == "12,345");
    CHECK(count_text(1, "stage") == "1 stage");
    CHECK(count_text(2, "stage") == "2 stages");
}

TEST_CASE("a text is cut at separators, into lines and into words") {
    using Pieces = std::vector<std::string_view>;
    CHECK(split("", ',') == Pieces{""});
    CHECK(split("a,,b,", ',') == Pieces{"a", "", "b", ""});
    CHECK(split_lines("").empty());
    CHECK(split_lines("a\n\nb\n") == Pieces{"a", "", "b"});
    CHECK(split_lines("a\nb") == Pieces{"a", "b"});
    CHECK(split_words(" a\t b\r") == Pieces{"a", "b"});
    CHECK(split_words(" , ", " ,").empty());
}
