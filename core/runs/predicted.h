// Divides a predicted step into the parts that a run is measured in, and says which steps are impossible.
// Finds the one constant of the time model that would make a measured part right.
#pragma once

#include "core/base/containers.h"
#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "core/runs/run_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh::runs {

struct PartRow;
struct CollectiveRow;

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

// Says which constant of the time model would make a part right, only that one being changed.
struct Fitting {
    std::string constant;  // "efficiency.gemm"; empty: none
    double is = 0, would_be = 0;
    double step_s = 0;  // the step would then be predicted to take this long
    std::string why;    // it has no constant, or what that rests on
};

// Holds a plan and what it predicts.
struct Prediction {
    const Plan& plan;
    const Presets& presets;
    Evaluation evaluation;
};

// `rows` are the calls that were measured; `division` says what the part's time holds.
[[nodiscard]] Fitting fit_part(const Prediction& prediction, const PartRow& part, Division division,
                               const std::vector<CollectiveRow>& rows);

// Returns the shares of the wires by the transfers that are known without their wait: the call that takes
// most of the time for each constant.
[[nodiscard]] std::vector<Fitting> fit_links(const Prediction& prediction,
                                             const std::vector<CollectiveRow>& rows);

// Returns the operation of the plan that is this call; nullptr where it has no such one.
[[nodiscard]] const Operation* operation_of(const Evaluation& evaluation, const CollectiveRow& row);

}  // namespace pentamesh::runs
