// Which communication goes on behind a timeline's blocks, where nothing waits for it? What is exposed stands
// in block_parts.h; a call's hidden part is what step.h leaves of its time.
#pragma once

#include "core/comm/comm.h"

#include <vector>

namespace pentamesh {

// Seconds by axis; those of the backward with the calls that a recomputed forward makes again.
struct HiddenComm {
    EnumArray<GroupKind, double> forward{}, backward{};
    [[nodiscard]] double all(GroupKind axis) const { return forward[axis] + backward[axis]; }
};
// Of one micro-batch on each chunk, [device * chunks + c], as TimelineCosts.chunk. Sends are none of it: the
// timeline draws those between the stages. Reuses out's capacity.
void hidden_in_chunks(const Comm& comm, std::vector<HiddenComm>& out);
// Once a step, of the device that holds most: gradients behind the last backward blocks, parameters behind
// the first forward ones.
[[nodiscard]] HiddenComm hidden_in_step(const Comm& comm);

}  // namespace pentamesh
