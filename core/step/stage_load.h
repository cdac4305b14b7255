// What does each layer cost a pipeline stage, and what else does a stage do? Of any split of the layers.
#pragma once

#include "core/pipeline/balance.h"
#include "core/step/step.h"

namespace pentamesh {

// `work`: of the plan under any split of its layers (a layer's work does not depend on its stage). Chunks as
// in layers_of_chunks; none beyond kMostChunks.
[[nodiscard]] StageLoad stage_load(const Plan& plan, const ScheduleShape& shape, const StepWork& work);

}  // namespace pentamesh
