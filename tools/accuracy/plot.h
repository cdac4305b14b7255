// docs/accuracy.svg: predicted against measured.
#pragma once

#include "tools/accuracy/measured.h"

#include <string>
#include <vector>

namespace pentamesh {

// "torchtitan, dense": the kinds of the tables and of the plot.
[[nodiscard]] std::string kind_of(const MeasuredRun& run);

// A square each for a framework and kind, logarithmic: seconds of a step, below GiB of the measured peak.
// Read on white and on black.
[[nodiscard]] std::string accuracy_plot(const std::vector<MeasuredRun>& runs,
                                        const std::vector<RunAccuracy>& found);

}  // namespace pentamesh
