// Sums up lists of numbers.
#pragma once

#include <algorithm>
#include <vector>

namespace pentamesh {

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
