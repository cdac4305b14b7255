// What a design review wants besides the windows' tables: the figures that a decision is made on, who talks
// over which axis and link in sum, the assumptions and what they rest on.
#pragma once

#include "app/tables/table.h"
#include "core/evaluate.h"
#include "core/explain/published.h"

#include <string>
#include <vector>

namespace pentamesh {

// Step, tokens/s, MFU, HFU, FLOP/s, fullest GPU, and what the training takes where the plan gives enough for
// it: name, figure and range, as words.
[[nodiscard]] Table key_figures_table(const Plan& plan, const Evaluation& e);
// By stage: bytes free with the least, the common and the most that buffers take; negative: too much.
[[nodiscard]] Table headroom_table(const Memory& memory);
// A row an axis that talks: calls, bytes, time, exposed time of the busiest stage's GPU in one step.
[[nodiscard]] Table axes_traffic_table(const Evaluation& e);
// The same by the slowest tier that a call crosses.
[[nodiscard]] Table links_traffic_table(const Plan& plan, const Evaluation& e);
// Formula, this plan's numbers, result and source of the fullest stage's memory, each operation and each part
// of the step.
// `nothing`: those that come to 0, too.
[[nodiscard]] Table explanations_table(const Plan& plan, const Evaluation& e, bool nothing = true);
// The nearest measured runs, the nearest first: what was measured, what is estimated with the constants that
// ship.
[[nodiscard]] Table near_runs_table(NearestRuns& runs, const Plan& plan, std::size_t most);
// Says what its distances are made of, and how near the nearest of all measured runs is.
[[nodiscard]] std::string near_runs_words(const Step& step);

// What the estimates leave out, a sentence each: of every plan, then what holds for this one.
[[nodiscard]] std::vector<std::string> left_out_of_estimates(const Plan& plan, const Evaluation& e);

}  // namespace pentamesh
