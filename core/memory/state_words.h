// Says in a sentence what a parameter takes between two steps.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <string_view>

namespace pentamesh {

// Returns the bytes of one parameter of a matrix, its gradient, its optimizer states and its master copy,
// before any of them is cut: 18 for bf16 with gradients and a copy in fp32.
[[nodiscard]] double bytes_per_parameter(const Plan& plan);
// Returns "8 bytes a parameter: weights, gradients and two moments in bf16; no master copy". `optimizer` is
// how a text calls it: "; torch.optim.AdamW keeps no master copy".
[[nodiscard]] std::string state_words(const Plan& plan, std::string_view optimizer = {});

}  // namespace pentamesh
