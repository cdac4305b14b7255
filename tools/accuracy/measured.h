// Runs that were measured, beside what the program says of them: tests/golden/measured.json.
#pragma once

#include "core/evaluate.h"
#include "core/io/presets.h"

#include <optional>
#include <string>
#include <vector>

namespace pentamesh {

enum class MemoryMeasured { allocated, reserved };  // which of StageMemory's figures was measured

struct MeasuredRun {
    std::string id, framework;
    Plan plan;
    // One of these three, or none: seconds of a step, or model FLOP/s of a GPU in units of 1e12.
    double step_s = 0, tflops = 0;
    // Bytes; 0: not measured. Of the first stage, the last, or the largest.
    double memory = 0;
    MemoryMeasured memory_kind = MemoryMeasured::allocated;
    enum class Rank { first, last, largest } rank = Rank::largest;
    std::optional<bool> fits;
};
// Errors of type Error, with the file.
[[nodiscard]] std::vector<MeasuredRun> read_measured(const std::string& file, const Presets& presets);

struct RunAccuracy {
    std::optional<double> time;    // measured over ours, less 1: above 0 the program is too fast
    std::optional<double> memory;  // ours over measured, less 1: above 0 the program says too much
    std::optional<bool> verdict;   // whether it agrees on fitting
};
[[nodiscard]] RunAccuracy accuracy_of(const MeasuredRun& run, Evaluation& scratch);

// Sizes of errors: median, and the value that nine of ten do not pass.
struct ErrorSpread {
    std::size_t runs = 0;
    double median = 0, most = 0, bias = 0;  // bias: median with its sign
};
[[nodiscard]] ErrorSpread spread_of(std::vector<double> errors);

}  // namespace pentamesh
