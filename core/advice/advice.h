// Says what is wrong with a layout, and what would help. Every rule says whose rule it is and carries the
// smallest fix.
#pragma once

#include "core/evaluate.h"

namespace pentamesh {

// Appends warnings and notices over a complete evaluation, each with the number that shows it.
void find_advice(const Plan& plan, const Evaluation& evaluation, std::vector<Problem>& out);

// Does evaluate() and then find_advice(): a person is shown this.
void assess(const Plan& plan, Evaluation& out, const EvaluateOptions& options = {});
[[nodiscard]] Evaluation assess(const Plan& plan, const EvaluateOptions& options = {});

}  // namespace pentamesh
