// Holds the step model's errors against limits and against a table that a person has checked.
#pragma once

#include "core/plan/software.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct RunError {
    std::string label;  // of the run; unlike every other
    double error = 0;   // of throughput: measured time over ours, less 1
    bool moe = false;   // of a model with experts; no table of errors says it
};

// Returns |error| of the runs, sorted.
[[nodiscard]] std::vector<double> sizes_of(const std::vector<RunError>& runs);
[[nodiscard]] std::vector<RunError> moe_of(std::vector<RunError> runs);
// Returns the value at p * (n - 1), rounded down, of sorted values; p is from 0 to 1.
[[nodiscard]] double percentile(const std::vector<double>& sorted, double p);

// Writes one line a run: the error in per cent with two digits, two blanks, the label. Reading throws
// exceptions of type Error.
[[nodiscard]] std::string write_errors(const std::vector<RunError>& runs);
[[nodiscard]] std::vector<RunError> read_errors(const std::string& text, const std::string& file);

// Prints each run that moved since `golden`, came or went, and each limit that is passed. Returns false if it
// prints any.
[[nodiscard]] bool errors_hold(const std::vector<RunError>& runs, const std::vector<RunError>& golden);

// Fits a framework's own rates (presets/software) to its measured runs after the GPU's efficiencies.

// This is a figure whose source in the preset says that it is fitted.
struct SoftwareParameter {
    std::string_view key;
    double SoftwareFacts::*member = nullptr;
    double expected = 1, spread = 0.5;  // prior: median, deviation of the logarithm
    double least = 0, most = 1;
    double value = 0;
};
[[nodiscard]] std::vector<SoftwareParameter> fitted_of(const SoftwareFacts& facts);

// Returns the facts with the parameters' values.
[[nodiscard]] SoftwareFacts with_values(SoftwareFacts facts,
                                        const std::vector<SoftwareParameter>& parameters);

// Writes the values to four digits into presets/software/ID.json below `root`.
void write_software(const std::string& root, std::string_view id,
                    const std::vector<SoftwareParameter>& parameters);

}  // namespace pentamesh
