// tests/golden/halves.json says on which sources the constants are fitted, and which judge them.
#pragma once

#include "core/evaluate.h"
#include "core/runs/calibrate.h"
#include "core/step/constants.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

class Halves {
  public:
    // Throws Error naming the file where it lacks one of the two lists of names, or a name is in both.
    Halves(std::string_view text, const std::string& path);
    // Returns false if the constants are fitted on it. Throws Error for a source that is in no half.
    [[nodiscard]] bool judged(const std::string& source) const;
    // Returns the software of its year where all runs of the source are of one that has a preset by itself.
    [[nodiscard]] std::optional<Software> dated(const std::string& source) const;

  private:
    std::set<std::string> fitted_, judged_;
    std::map<std::string, Software> dated_;
    std::string path_;
};

[[nodiscard]] Halves read_halves_file(const std::string& path);

// Reads all measured runs of tests/golden, measured.json and measured_2026.json, each with the software of
// its year. Throws as read_measured_file.
[[nodiscard]] std::vector<MeasuredRun> read_golden_runs(const std::string& folder, const Halves& halves,
                                                        const Presets& presets);

// Holds measured runs, and the program's estimates of them.

struct RunAccuracy {
    std::optional<double> time;    // measured over ours, less 1: above 0 the program is too fast
    std::optional<double> memory;  // ours over measured, less 1: above 0 the program says too much
    std::optional<bool>
        verdict;       // true if a run that ran is not refused, or one that did not is not said to fit
    RunTraits traits;  // set where there is a time
    double step_s = 0, measured_s = 0, memory_bytes = 0;  // ours, and the measured time; 0: none
};
[[nodiscard]] RunAccuracy accuracy_of(const MeasuredRun& run, Evaluation& scratch);

// Holds sizes of errors: the median, and the value that nine of ten do not pass.
struct ErrorSpread {
    std::size_t runs = 0;
    double median = 0, most = 0, bias = 0;  // bias: median with its sign
};
[[nodiscard]] ErrorSpread spread_of(std::vector<double> errors);

// Says how large each run's error would be, had the constants not been fitted to its source, and how often
// the ranges made of these errors hold on a source that is not among them.

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

// Returns a kind of the tables and of the plot: "torchtitan, dense".
[[nodiscard]] std::string kind_of(const MeasuredRun& run);

// Draws a square for each framework and kind, logarithmic: seconds of a step, below GiB of the measured peak.
// It can be read on white and on black.
[[nodiscard]] std::string accuracy_plot(const std::vector<MeasuredRun>& runs,
                                        const std::vector<RunAccuracy>& found);

}  // namespace pentamesh
