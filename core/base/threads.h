// Says if work can go on at the same time as other work. A page has one thread: there it is done in slices.
#pragma once

#include <algorithm>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

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

// Calls `work` on so many threads, this one among them, and waits for all. Where the system starts no more
// threads, those that it did start do the work. `work` must not throw on the others; what it throws on this
// one goes to the caller, after they have ended.
template <typename Work>
void run_on_threads(int count, const Work& work) {
    struct Joined {
        std::vector<std::thread> threads;
        ~Joined() {
            for (std::thread& t : threads) t.join();
        }
    } others;
    try {
        for (int i = 1; i < count; ++i) others.threads.emplace_back(std::cref(work));
    } catch (const std::system_error&) {
        // The system starts no more.
    }
    work();
}

}  // namespace pentamesh
