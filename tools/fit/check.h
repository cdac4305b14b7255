// Holds the step model's errors against limits and against a table that a person has checked.
#pragma once

#include <string>
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

}  // namespace pentamesh
