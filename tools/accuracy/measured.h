// Holds measured runs, and the program's estimates of them: tests/golden/measured.json.
#pragma once

#include "core/calibrate/measured_runs.h"
#include "core/evaluate.h"
#include "core/step/error_range.h"

#include <optional>
#include <vector>

namespace pentamesh {

struct RunAccuracy {
    std::optional<double> time;    // measured over ours, less 1: above 0 the program is too fast
    std::optional<double> memory;  // ours over measured, less 1: above 0 the program says too much
    std::optional<bool> verdict;   // true if it agrees on fitting
    RunTraits traits;              // set where there is a time
    double step_s = 0, measured_s = 0, memory_bytes = 0;  // ours, and the measured time; 0: none
};
[[nodiscard]] RunAccuracy accuracy_of(const MeasuredRun& run, Evaluation& scratch);

// Holds sizes of errors: the median, and the value that nine of ten do not pass.
struct ErrorSpread {
    std::size_t runs = 0;
    double median = 0, most = 0, bias = 0;  // bias: median with its sign
};
[[nodiscard]] ErrorSpread spread_of(std::vector<double> errors);

}  // namespace pentamesh
