// These are the parts of a report: each answers one of the program's questions.
#pragma once

#include "app/cli/document.h"
#include "core/evaluate.h"

#include <span>

namespace pentamesh::cli {

[[nodiscard]] Section problems_section(const Evaluation& e);
[[nodiscard]] Section parameters_section(const ParameterCounts& counts);
[[nodiscard]] Section groups_section(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds);
[[nodiscard]] Section memory_section(const Plan& plan, const Evaluation& e);
[[nodiscard]] Section comm_section(const Plan& plan, const Evaluation& e);
[[nodiscard]] Section timeline_section(const Evaluation& e);
// Gives formula, numbers and source of the fullest stage's memory, each operation and each part of the step.
[[nodiscard]] Section explanations_section(const Plan& plan, const Evaluation& e);
[[nodiscard]] Section step_section(const Evaluation& e);
// Says what the whole training takes; it has no lines where the plan gives no part of it.
[[nodiscard]] Section cost_section(const Plan& plan, const Evaluation& e);

}  // namespace pentamesh::cli
