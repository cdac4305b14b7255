// Draws docs/accuracy.svg: predicted against measured.
#pragma once

#include "tools/accuracy/measured.h"

#include <string>
#include <vector>

namespace pentamesh {

// Returns a kind of the tables and of the plot: "torchtitan, dense".
[[nodiscard]] std::string kind_of(const MeasuredRun& run);

// Draws a square for each framework and kind, logarithmic: seconds of a step, below GiB of the measured peak.
// It can be read on white and on black.
[[nodiscard]] std::string accuracy_plot(const std::vector<MeasuredRun>& runs,
                                        const std::vector<RunAccuracy>& found);

}  // namespace pentamesh
