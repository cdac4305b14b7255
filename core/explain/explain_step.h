// Explains a part of the step: formula, this plan's numbers, source.
#pragma once

#include "core/base/explain.h"
#include "core/evaluate.h"

namespace pentamesh {

// It is empty where the plan has no step. `group` is that of StepPart::exposed.
[[nodiscard]] Explanation explain_step(const Plan& plan, const Evaluation& evaluation, StepPart part,
                                       GroupKind group = GroupKind::tp);

}  // namespace pentamesh
