// Reckons with sizes, which come from files: products and sums are held at the largest instead of
// overflowing.
#pragma once

#include <cstdint>

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

}  // namespace pentamesh
