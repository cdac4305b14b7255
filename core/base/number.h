// Reckons with sizes, which come from files: products and sums are held at the largest instead of
// overflowing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Returns a size as a double, in which operations and bytes are counted.
[[nodiscard]] constexpr double number(std::int64_t n) {
    return static_cast<double>(n);
}

[[nodiscard]] constexpr std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
    std::int64_t c = 0;
    return __builtin_mul_overflow(a, b, &c) ? INT64_MAX : c;
}
[[nodiscard]] constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
    std::int64_t c = 0;
    return __builtin_add_overflow(a, b, &c) ? INT64_MAX : c;
}

// Converts numbers to text and back, always with a point, in any locale.

[[nodiscard]] std::string fixed_text(double x, int decimals);       // 1.5, 2 -> "1.50"
[[nodiscard]] std::string scientific_text(double x, int decimals);  // 15000, 2 -> "1.50e+04"
[[nodiscard]] std::string general_text(double x, int digits);       // 0.1234567, 6 -> "0.123457"
[[nodiscard]] std::string exact_text(double x);                     // reads back as the same number

// Reads a decimal number at the beginning of `text`: sign, digits, point, exponent. `length` is 0 where there
// is no number, or it is not finite.
struct LeadingNumber {
    double value = 0;
    std::size_t length = 0;
};
[[nodiscard]] LeadingNumber leading_number(std::string_view text);
// Reads the whole of `text` as one number; nullopt where it is no number.
[[nodiscard]] std::optional<double> parse_double(std::string_view text);
// Reads the whole of `text` as digits, with a minus before them where it is negative.
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);

// These replace the standard library's conversions where it cannot convert floating point. They are slower
// and give the same answers.
namespace by_stream {
[[nodiscard]] std::string fixed_text(double x, int decimals);
[[nodiscard]] std::string scientific_text(double x, int decimals);
[[nodiscard]] std::string general_text(double x, int digits);
[[nodiscard]] std::optional<double> parse(std::string_view number);
}  // namespace by_stream

// Sums up lists of numbers.

// Returns the middle one; of an even count the mean of the two in the middle; of no numbers 0.
[[nodiscard]] inline double median(std::vector<double> of) {
    if (of.empty()) return 0;
    std::sort(of.begin(), of.end());
    const std::size_t n = of.size();
    return n % 2 == 1 ? of[n / 2] : (of[n / 2 - 1] + of[n / 2]) / 2;
}

// Nine of ten values of a normal distribution lie within this many times the distance within which half of
// them lie (1.645 over 0.674 standard deviations).
inline constexpr double kNineOfTen = 2.44;

}  // namespace pentamesh
