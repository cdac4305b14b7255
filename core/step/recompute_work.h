// What does recomputation add to a step? Seconds of a layer's backward, and FLOPs.
#pragma once

#include "core/step/step.h"

namespace pentamesh {

// Fills what recomputation adds to a layer of each type in `work` from its times: the forward of what is made
// again.
void find_recompute(const Plan& plan, StepWork& work);
// Forward FLOPs of one sequence that run again, in the layers that `stages` says.
[[nodiscard]] double recomputed_flops(const Plan& plan, const Stages& stages);

// A layer whose launches take the host longer than the GPU needs for them runs at the host's pace. What is
// missing counts as compute; where only some layers are recomputed, what these wait for more counts as
// recomputation.
void wait_for_host(const Plan& plan, StepWork& work);

}  // namespace pentamesh
