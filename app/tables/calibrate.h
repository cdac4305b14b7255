// Tables say what one's own runs show: runs before and after, constants before and after.
#pragma once

#include "app/tables/table.h"
#include "core/calibrate/calibrate.h"

namespace pentamesh {

// Returns a table with a row for each run: the measured time, and how far the estimate is off before, after,
// and when fitted only to the other runs.
[[nodiscard]] Table calibrated_runs_table(const Calibrated& made);
// Returns a table with a row for each constant: before, after, its limits, and the source.
[[nodiscard]] Table calibrated_constants_table(const Calibrated& made);
// Says how far off the runs are before and after, how many got nearer, and whether they are enough; a
// sentence each.
[[nodiscard]] std::vector<std::string> calibrated_lines(const Calibrated& made);

}  // namespace pentamesh
