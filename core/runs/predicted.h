// Divides a predicted step into the parts that a run is measured in, and says which steps are impossible.
#pragma once

#include "core/evaluate.h"
#include "core/runs/run_file.h"

#include <cstdint>
#include <string>

namespace pentamesh::runs {

// Names the parts into which a file divides the step.
enum class Division : std::uint8_t { trace, timers };

// Returns the compute of the stage that works longest, recomputation included.
[[nodiscard]] inline double longest_compute(const Step& s) {
    return s.compute_s + s.recompute_s + s.uneven_s;
}

// Returns the seconds of the parts, which sum to the predicted step. What a part that was not measured would
// hold stands in the one that contains it: compute in the pipeline, communication in `unnamed` or `rest`.
// `stage` is the pipeline stage of the rank that was traced; -1: the one that works longest.
[[nodiscard]] EnumArray<RunPart, double> predict_parts(const Evaluation& evaluation, Division division,
                                                       int stage, const EnumArray<RunPart, bool>& measured);

// Says why no run of this plan can take so little time: the model's FLOPs at the peak take longer. Empty
// where it can.
[[nodiscard]] std::string impossible_words(const Plan& plan, const Step& step, double measured_s);

}  // namespace pentamesh::runs
