// What did one's own runs say? Runs before and after, constants before and after.
#pragma once

#include "app/tables/table.h"
#include "core/calibrate/calibrate.h"

namespace pentamesh {

// A row for each run: measured, and how far the estimate is off before, after, and fitted to the others
// alone.
[[nodiscard]] Table calibrated_runs_table(const Calibrated& made);
// A row for each constant: before, after, where it must lie, and from what it is.
[[nodiscard]] Table calibrated_constants_table(const Calibrated& made);
// How far off the runs are before and after, how many got nearer, and whether they say enough; a sentence
// each.
[[nodiscard]] std::vector<std::string> calibrated_lines(const Calibrated& made);

}  // namespace pentamesh
