// Another thread sees here how far the reading of a run's files is, and ends it.
#pragma once

#include <atomic>
#include <cstdint>

namespace pentamesh::runs {

struct ReadWatch {
    std::atomic<std::uint64_t> bytes = 0;      // that were read
    std::atomic<std::uint64_t> all_bytes = 0;  // that there are to read; 0: not known yet
    std::atomic<bool> cancelled = false;       // a file then ends here
};

// Throws Error (invalid) where nobody waits for the files any more. `watch` may be null.
void end_if_cancelled(const ReadWatch* watch);

}  // namespace pentamesh::runs
