// Tables say how long a step is: where its time goes, and the rates that follow.
#pragma once

#include "app/tables/table.h"
#include "core/step/step.h"

namespace pentamesh {

// Returns "tp exposed", "ideal compute".
[[nodiscard]] std::string label_of(const StepSlice& slice);

// Returns the parts of the step and the whole, each with its share and its range.
[[nodiscard]] Table step_table(const Step& step);
// Returns MFU, tokens/s ... with their ranges; and the days that `budget_tokens` take, which are written as
// `budget_words`. Where it is 0, that row is left out.
[[nodiscard]] Table rates_table(const Step& step, double budget_tokens, std::string_view budget_words);

}  // namespace pentamesh
