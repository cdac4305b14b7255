// Sums up a model in a line, as it is and as it is being typed.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <optional>
#include <string>
#include <string_view>

namespace pentamesh::ui {

// Returns parameters in all and active, FLOPs a token of forward and backward, bytes of its weights.
[[nodiscard]] std::string model_line(const Plan& plan);
// Returns the plan with that text in the field `pointer`; nullopt where it is no value of the field.
[[nodiscard]] std::optional<Plan> plan_as_typed(const Plan& plan, std::string_view pointer,
                                                std::string_view text, const Presets& presets);

}  // namespace pentamesh::ui
