// A table says how much each choice and constant matters.
#pragma once

#include "app/tables/table.h"
#include "core/decide/sensitivity.h"

namespace pentamesh {

// Returns a table with a row for each nudge: the changed field, its old and new value, step, tokens/s,
// memory, and how much longer or shorter as many tokens take as the plan's step has. With `moving_only`, it
// has those that change something, the widest reach first; else all, and why an impossible one is.
[[nodiscard]] Table sensitivity_table(const Sensitivity& s, bool moving_only);

}  // namespace pentamesh
