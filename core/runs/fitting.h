// Finds the one constant of the time model that would make a measured part right.
#pragma once

#include "core/evaluate.h"
#include "core/runs/measured.h"
#include "core/runs/predicted.h"

#include <vector>

namespace pentamesh::runs {

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
