#include "core/step/straggler.h"

#include <cmath>

namespace pentamesh {

double expected_maximum(std::int64_t n) {
    if (n <= 1) return 0;
    // E[max] is the integral over x > 0 of 1 - Phi^n, less that over x < 0 of Phi^n. Both are smooth and die
    // out before |x| = 12, so the trapezoid rule converges exponentially (Trefethen and Weideman 2014). The
    // seam at 0 would spoil that: x d(Phi^n) is integrated instead.
    constexpr double kEnd = 12, kStep = 1.0 / 64;
    constexpr double kInverseRootTwo = 0.70710678118654752440, kInverseRootTwoPi = 0.39894228040143267794;
    const double count = static_cast<double>(n);
    double sum = 0;
    for (double x = -kEnd; x <= kEnd; x += kStep) {
        const double above = 0.5 * std::erfc(x * kInverseRootTwo);
        if (above >= 1) continue;
        const double density = kInverseRootTwoPi * std::exp(-0.5 * x * x);
        sum += x * count * density * std::exp((count - 1) * std::log1p(-above));
    }
    return sum * kStep;
}

double normal_quantile(double p) {
    constexpr double kEnd = 12, kExact = 1e-12;
    double low = -kEnd, high = kEnd;
    while (high - low > kExact) {
        const double x = (low + high) / 2;
        (0.5 * std::erfc(-x * 0.70710678118654752440) < p ? low : high) = x;
    }
    return (low + high) / 2;
}

double expected_maximum_bound(std::int64_t n) {
    return n <= 1 ? 0 : std::sqrt(2 * std::log(static_cast<double>(n)));
}

}  // namespace pentamesh
