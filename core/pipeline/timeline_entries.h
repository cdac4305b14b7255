// Finds the places in a timeline's tables: the row of a chunk, and the op of a micro-batch in it.
#pragma once

#include "core/pipeline/timeline.h"

namespace pentamesh {

// Returns the row of a device's chunk in Sequence::link.
[[nodiscard]] inline std::size_t row(const Timeline& t, int device, int chunk) {
    return static_cast<std::size_t>(device * chunks_of(t.shape) + chunk);
}

// Returns the op of a micro-batch in that row of `table` (forward_op and its like); -1 where the row is
// negative.
[[nodiscard]] inline std::ptrdiff_t entry(const Timeline& t, const std::vector<std::int32_t>& table,
                                          std::int64_t chunk_row, std::int32_t microbatch) {
    const std::int64_t each = std::int64_t{t.shape.microbatches} * t.iterations;
    return chunk_row < 0 ? -1 : table[chunk_row * each + microbatch];
}

}  // namespace pentamesh
