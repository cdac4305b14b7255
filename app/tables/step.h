// How long a step is: where its time goes, and the rates that follow.
#pragma once

#include "app/tables/table.h"
#include "core/step/step.h"

namespace pentamesh {

// "tp exposed", "ideal compute".
[[nodiscard]] std::string label_of(const StepSlice& slice);

// Parts of the step and the whole, each with its share and its range.
[[nodiscard]] Table step_table(const Step& step);
// MFU, tokens/s ... with their ranges; the days that `budget_tokens` take, which stand as
// `budget_words`; 0: without.
[[nodiscard]] Table rates_table(const Step& step, double budget_tokens, std::string_view budget_words);

}  // namespace pentamesh
