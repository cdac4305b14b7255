// How does a part of the step come about: formula, this plan's numbers, source?
#pragma once

#include "core/base/explain.h"
#include "core/evaluate.h"

namespace pentamesh {

// Empty where the plan has no step. `group`: of StepPart::exposed.
[[nodiscard]] Explanation explain_step(const Plan& plan, const Evaluation& evaluation, StepPart part,
                                       GroupKind group = GroupKind::tp);

}  // namespace pentamesh
