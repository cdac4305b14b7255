// Tables say what the estimates rest on: constants, a software's figures, how much each choice is worth,
// and what measured runs say.
#pragma once

#include "app/tables/table.h"
#include "core/calibrate/calibrate.h"
#include "core/decide/sensitivity.h"
#include "core/plan/plan.h"
#include "core/step/constants.h"

#include <vector>

namespace pentamesh {

[[nodiscard]] Table constants_table(const std::vector<Constant>& constants);

// Returns a table with a row for each figure, in the order of its file: its meaning, its value, whether it
// was read or fitted, its source.
[[nodiscard]] Table software_table(Software software);

// Returns a table with a row for each nudge: the changed field, its old and new value, step, tokens/s,
// memory, and how much longer or shorter as many tokens take as the plan's step has. With `moving_only`, it
// has those that change something, the widest reach first; else all, and why an impossible one is.
[[nodiscard]] Table sensitivity_table(const Sensitivity& s, bool moving_only);

// Returns a table with a row for each run: the measured time, and how far the estimate is off before, after,
// and when fitted only to the other runs.
[[nodiscard]] Table calibrated_runs_table(const Calibrated& made);
// Returns a table with a row for each constant: before, after, its limits, and the source.
[[nodiscard]] Table calibrated_constants_table(const Calibrated& made);
// Says how far off the runs are before and after, how many got nearer, and whether they are enough; a
// sentence each.
[[nodiscard]] std::vector<std::string> calibrated_lines(const Calibrated& made);

}  // namespace pentamesh
