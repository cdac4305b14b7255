// Finds the cost of everybody waiting for the slowest: the expected maximum of N normal step times.
#pragma once

#include <cstdint>

namespace pentamesh {

// Returns E[max of n standard normals] = integral of n x phi(x) Phi(x)^(n-1) dx, to 1e-9. It is 0 for n <= 1.
[[nodiscard]] double expected_maximum(std::int64_t n);

// Returns the textbook bound sqrt(2 ln n) on the same; it overstates it. It is 0 for n <= 1.
[[nodiscard]] double expected_maximum_bound(std::int64_t n);

// Returns x with Phi(x) = p, to 1e-12; p lies within 0 and 1.
[[nodiscard]] double normal_quantile(double p);

}  // namespace pentamesh
