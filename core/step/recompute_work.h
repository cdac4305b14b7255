// What does recomputation add to a step? Seconds of a layer's backward, and FLOPs.
#pragma once

#include "core/step/step.h"

namespace pentamesh {

// Fills what recomputation adds to a layer of each type in `work` from its times: the forward of what is made
// again.
void find_recompute(const Plan& plan, StepWork& work);
// Forward FLOPs of one sequence that run again, in the layers that `stages` says.
[[nodiscard]] double recomputed_flops(const Plan& plan, const Stages& stages);

// Each pass of a layer takes at least its launches x launch_s: forward, input gradient and weight gradient
// each those of a forward where the schedule splits the backward, else both gradients together twice those,
// since the host runs ahead inside one pass. What this adds counts as compute; what a layer takes more
// because its launches are repeated counts as recomputation.
void wait_for_host(const Plan& plan, StepWork& work);

}  // namespace pentamesh
