// The number that a sentence means.
#pragma once

#include "core/advice/advised.h"

namespace pentamesh {

// The measure in `e`, which has a step; what is saved is against `now`. `kind`: of Measure::group_*.
[[nodiscard]] double measured(Measure measure, const Plan& plan, const Evaluation& now, const Evaluation& e,
                              GroupKind kind);

}  // namespace pentamesh
