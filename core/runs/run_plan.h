// Makes a plan of a layout that was found in a run, and compares it with one that is given.
#pragma once

#include "core/plan/plan.h"
#include "core/runs/run_layout.h"

#include <string>
#include <vector>

namespace pentamesh::runs {

// Returns `base` with the run's layout and as many GPUs. Where it is nobody's own plan (`fill`), the batch is
// made to fit too.
[[nodiscard]] Plan plan_of(const RunLayout& layout, Plan base, bool fill);

// Says in sentences in which degrees and strides a plan differs from the run; none: it agrees.
[[nodiscard]] std::vector<std::string> differences(const RunLayout& layout, const Plan& plan);

}  // namespace pentamesh::runs
