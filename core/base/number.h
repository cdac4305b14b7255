// Converts numbers to text and back, always with a point, in any locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh {

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

}  // namespace pentamesh
