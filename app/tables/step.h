// Tables say how long a step is, what the training costs, and what each stage does when.
#pragma once

#include "app/tables/table.h"
#include "core/pipeline/timeline.h"
#include "core/step/cost.h"
#include "core/step/step.h"

namespace pentamesh {

// Returns "tp exposed", "ideal compute".
[[nodiscard]] std::string label_of(const StepSlice& slice);

// Returns the parts of the step and the whole, each with its share and its range.
[[nodiscard]] Table step_table(const Step& step);
// Returns MFU, tokens/s ... with their ranges; and the days that `budget_tokens` take, which are written as
// `budget_words`. Where it is 0, that row is left out.
[[nodiscard]] Table rates_table(const Step& step, double budget_tokens, std::string_view budget_words);

// Returns a table with a row for each figure that the plan gives enough for; without any, the table is empty.
// `step` is null where the plan has no step.
[[nodiscard]] Table cost_table(const Plan& plan, const Step* step);

[[nodiscard]] Table devices_table(const Timeline& timeline);
// Returns at most `most` rows, device by device in the order in which they run.
[[nodiscard]] Table operations_table(const Timeline& timeline, std::size_t most);

}  // namespace pentamesh
