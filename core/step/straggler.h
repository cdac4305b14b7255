// What does it cost that everybody waits for the slowest? Expected maximum of N normal step times.
#pragma once

#include <cstdint>

namespace pentamesh {

// E[max of n standard normals] = integral of n x phi(x) Phi(x)^(n-1) dx, to 1e-9. 0 for n <= 1.
[[nodiscard]] double expected_maximum(std::int64_t n);

// The textbook bound sqrt(2 ln n) on the same; overstates it. 0 for n <= 1.
[[nodiscard]] double expected_maximum_bound(std::int64_t n);

}  // namespace pentamesh
