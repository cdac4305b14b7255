// Says which micro-batches a plan has room for.
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

// Holds the fullest GPU of a plan with another micro-batch.
struct BatchRoom {
    std::int64_t micro_batch = 1;  // sequences
    StageMemory fullest;
    MemoryFit fit = MemoryFit::no;
};
// Tries micro-batches of 1, 2, 4 and so on that divide what a replica has of the batch, and the plan's own,
// up to the first two that do not fit. Ascending; empty where the plan has no memory.
[[nodiscard]] std::vector<BatchRoom> batch_rooms(const Plan& plan);
// Returns "largest micro-batch that fits: 1 (2 would need 90.1 GiB)"; empty of no rooms. One that may not fit
// is said to.
[[nodiscard]] std::string words_of(const std::vector<BatchRoom>& rooms);

}  // namespace pentamesh
