// What is wrong with a layout, what would help? Every rule says whose rule it is and carries the smallest
// fix.
#pragma once

#include "core/evaluate.h"

namespace pentamesh {

// Warnings and notices over a complete evaluation, each with the number that shows it. Appends.
void find_advice(const Plan& plan, const Evaluation& evaluation, std::vector<Problem>& out);

// evaluate() and then find_advice(): what a person is shown.
void assess(const Plan& plan, Evaluation& out, const EvaluateOptions& options = {});
[[nodiscard]] Evaluation assess(const Plan& plan, const EvaluateOptions& options = {});

}  // namespace pentamesh
