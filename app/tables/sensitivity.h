// What is each choice and constant worth, as rows.
#pragma once

#include "app/tables/table.h"
#include "core/decide/sensitivity.h"

namespace pentamesh {

// A row for each nudge: what is changed, from and to what, step, tokens/s, memory, and how much longer or
// shorter as many tokens take as the plan's step has. `moving_only`: those that change something, the widest
// reach first; else all, and why an impossible one is.
[[nodiscard]] Table sensitivity_table(const Sensitivity& s, bool moving_only);

}  // namespace pentamesh
