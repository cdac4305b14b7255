// How large would each run's error be, had the constants not been fitted to it? And do the ranges made of
// these errors hold what they say?
#pragma once

#include "tools/accuracy/measured.h"

#include <map>
#include <string>
#include <vector>

namespace pentamesh {

// The runs with a time. p constants fitted to n runs make the residual of a run among them smaller: on the
// mean it is 1 - p / n of what it is left out (leverages sum to p: Allen 1974, PRESS). p: the figures of
// presets/software that are fitted; of Megatron and its Bridge the constants of tools/fit too.
[[nodiscard]] std::vector<MeasuredError> held_out_errors(const std::vector<MeasuredRun>& runs,
                                                         const std::vector<RunAccuracy>& found);

// Of how many runs the error lay within the range that the others make.
struct Coverage {
    int runs = 0, half = 0, most = 0;
};
// Each run left out in its turn; by kind: "torchtitan, dense", "all", "dense", "MoE", "16-bit GPUs" ...
[[nodiscard]] std::map<std::string, Coverage> coverage_of(const std::vector<MeasuredError>& errors);

// presets/measured_errors.json.
[[nodiscard]] std::string write_measured_errors(const std::vector<MeasuredError>& errors);

}  // namespace pentamesh
