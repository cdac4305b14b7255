// Says if work can go on at the same time as other work. A page has one thread: there it is done in slices.
#pragma once

#include <algorithm>
#include <thread>

namespace pentamesh {

#if defined(__EMSCRIPTEN__)
inline constexpr bool kHasThreads = false;
#else
inline constexpr bool kHasThreads = true;
#endif

// Returns the number of threads that run at once, at least one.
[[nodiscard]] inline int cores() {
    return kHasThreads ? std::max(1, static_cast<int>(std::thread::hardware_concurrency())) : 1;
}

}  // namespace pentamesh
