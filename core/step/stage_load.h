// Finds what each layer costs a pipeline stage, and the other work of a stage, for any split of the layers.
#pragma once

#include "core/pipeline/balance.h"
#include "core/step/step.h"

namespace pentamesh {

// `work` is that of the plan under any split of its layers (a layer's work does not depend on its stage).
// Chunks are as in layers_of_chunks; there are none beyond kMostChunks.
[[nodiscard]] StageLoad stage_load(const Plan& plan, const ScheduleShape& shape, const StepWork& work);

}  // namespace pentamesh
