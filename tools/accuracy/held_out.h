// Says how large each run's error would be, had the constants not been fitted to its source, and how often
// the ranges made of these errors hold on a source that is not among them.
#pragma once

#include "tools/accuracy/halves.h"
#include "tools/accuracy/measured.h"

#include <map>
#include <string>
#include <vector>

namespace pentamesh {

// Returns the runs with a time. Those of the judged half have the error that the program makes; the others'
// were made smaller by the fit: they are grown, in logarithms, by the median size of the judged over that of
// the fitted.
[[nodiscard]] std::vector<MeasuredError> held_out_errors(const std::vector<MeasuredRun>& runs,
                                                         const std::vector<RunAccuracy>& found,
                                                         const Halves& halves);

// Counts the runs whose error lay within the range that the others make.
struct Coverage {
    int runs = 0, half = 0, most = 0;
};
// Leaves out each source in its turn, with all its runs; returns the coverage by kind: "torchtitan, dense",
// "all", "dense", "MoE", "16-bit GPUs" ...
[[nodiscard]] std::map<std::string, Coverage> coverage_of(const std::vector<MeasuredError>& errors);

// Returns the text of presets/measured_errors.json.
[[nodiscard]] std::string write_measured_errors(const std::vector<MeasuredError>& errors);

}  // namespace pentamesh
