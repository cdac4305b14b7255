// What is wrong with a layout, what would help? Every rule says whose rule it is and carries the smallest
// fix.
#pragma once

#include "core/evaluate.h"

namespace pentamesh {

// Errors: rules of arithmetic, schedules and frameworks that make the plan impossible. Called before the rest
// of the evaluation; needs only the mesh. Replaces out's contents. `messages` false: codes and severity
// alone, and nothing is allocated for a valid plan.
void find_errors(const Plan& plan, const Mesh& mesh, bool messages, std::vector<Problem>& out);
// Warnings and notices over a complete evaluation, each with the number that shows it. Appends.
void find_advice(const Plan& plan, const Evaluation& evaluation, std::vector<Problem>& out);

}  // namespace pentamesh
