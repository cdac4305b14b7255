// Walks a timeline: the op that runs at a moment, the next moment at which anything changes, and the ops that
// need an op's output.
#pragma once

#include "core/pipeline/timeline.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pentamesh {

// Returns the op that a device runs at a time, -1 where it idles. An op owns its start and not its end. It
// takes O(log ops).
[[nodiscard]] std::ptrdiff_t op_at(const Timeline& t, int device, double time);
// Returns the first start or end of an op after `time`, on one device or (-1) on any; nullopt where nothing
// follows.
[[nodiscard]] std::optional<double> next_boundary(const Timeline& t, double time, int device = -1);
// Returns the last one before `time`.
[[nodiscard]] std::optional<double> previous_boundary(const Timeline& t, double time, int device = -1);

// Returns the ops that need the output of op `index` of the order, without its own weight gradient, or -1. It
// is the reverse of inputs_of. A pair has up to two.
[[nodiscard]] std::array<std::ptrdiff_t, 2> outputs_of(const Timeline& t, std::size_t index);
// Says where the output of `index` goes from its device, forward and backward; -1 where it stays.
struct SentTo {
    int forward = -1, backward = -1;  // devices
};
[[nodiscard]] SentTo sent_to(const Timeline& t, int device, const Op& op);

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
