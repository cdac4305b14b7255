// Says which communication goes on behind a timeline's blocks, where nothing waits for it. Exposed
// communication is in block_parts.h; a call's hidden part is the rest of its time in step.h.
#pragma once

#include "core/comm/comm.h"

#include <vector>

namespace pentamesh {

// Holds seconds by axis; those of the backward include the calls that a recomputed forward repeats.
struct HiddenComm {
    EnumArray<GroupKind, double> forward{}, backward{};
    [[nodiscard]] double all(GroupKind axis) const { return forward[axis] + backward[axis]; }
};
// Finds those of one micro-batch on each chunk, [device * chunks + c], as TimelineCosts.chunk. Sends are not
// among them: the timeline draws those between the stages. Reuses out's capacity.
void hidden_in_chunks(const Comm& comm, std::vector<HiddenComm>& out);
// Returns those of once a step, of the device that holds most: gradients behind the last backward blocks,
// parameters behind the first forward ones.
[[nodiscard]] HiddenComm hidden_in_step(const Comm& comm);

}  // namespace pentamesh
