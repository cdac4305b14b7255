// Finds the number that a sentence means.
#pragma once

#include "core/advice/advised.h"

namespace pentamesh {

// Returns the measure in `e`, which has a step; a saving is against `now`. `kind` is that of
// Measure::group_*.
[[nodiscard]] double measured(Measure measure, const Plan& plan, const Evaluation& now, const Evaluation& e,
                              GroupKind kind);

}  // namespace pentamesh
