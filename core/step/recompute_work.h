// Finds what recomputation adds to a step: seconds of a layer's backward, and FLOPs.
#pragma once

#include "core/step/step.h"

namespace pentamesh {

// Fills the part that recomputation adds to a layer of each type in `work` from its times: the forward of the
// recomputed modules.
void find_recompute(const ResolvedPlan& resolved, StepWork& work);
// Returns the forward FLOPs of one sequence that are recomputed, in the layers that `stages` says.
[[nodiscard]] double recomputed_flops(const ResolvedPlan& resolved, const Stages& stages);

// Each pass of a layer takes at least its launches x launch_s: forward, input gradient and weight gradient
// each those of a forward where the schedule splits the backward, else both gradients together twice those,
// since the host runs ahead inside one pass. The added time counts as compute; the time that a layer takes
// more because its launches are repeated counts as recomputation.
void wait_for_host(const Plan& plan, StepWork& work);

}  // namespace pentamesh
