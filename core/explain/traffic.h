// Says which GPU sends how much to which other: the bytes of one axis' collectives between blocks of ranks,
// in closed form over the mesh's strides, so that 131,072 GPUs cost what 128 do.
#pragma once

#include "core/comm/collective_time.h"
#include "core/evaluate.h"

#include <cstdint>
#include <vector>

namespace pentamesh {

// Rows send, columns receive. A block is `block` ranks in a row: ranks [i * block, (i + 1) * block) are block
// i. Every rank is taken to send as much as the busiest one (Operation::sent_bytes_per_rank); pipeline stages
// send only to their neighbours, the first and the last to one.
struct TrafficMatrix {
    GroupKind group = GroupKind::tp;
    std::int64_t world = 0, block = 1;
    int blocks = 0;             // of either side
    std::vector<double> bytes;  // per step, blocks x blocks, row by row; inside a block on the diagonal
    double most = 0;            // largest of them
    [[nodiscard]] double at(int from, int to) const {
        return bytes[static_cast<std::size_t>(from) * static_cast<std::size_t>(blocks)
                     + static_cast<std::size_t>(to)];
    }
};

// Ring collectives send along the rings of each tier (Route), all-to-alls to every member, less beyond the
// first tier where copies are sent once. `most_blocks` is at least 2. Blocks are the finest that the mesh's
// strides allow: their edges are edges of the axis' groups or lie evenly in them. It is empty where nobody on
// that axis talks.
[[nodiscard]] TrafficMatrix traffic_matrix(const Plan& plan, const Evaluation& evaluation, GroupKind group,
                                           int most_blocks);

}  // namespace pentamesh
