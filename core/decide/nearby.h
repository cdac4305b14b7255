// Finds the largest gain of two edits: over all layouts that differ from the plan in at most two of its
// choices.
#pragma once

#include "core/decide/search.h"

#include <atomic>
#include <optional>
#include <vector>

namespace pentamesh {

// Returns the layout with the shortest step among those that fit and take at most two edits: of tp, cp, pp,
// the schedule with its chunks, ep, etp, dp_replicate, zero, micro_batch, recompute, order. Sharded data
// parallelism takes the GPUs that a factor gives up, as in the window; that is no edit of its own. The
// headroom is the options'. It is nullopt where no layout fits, or it was cancelled.
[[nodiscard]] std::optional<SearchResult> best_within_two_edits(const Plan& plan,
                                                                const SearchOptions& options = {},
                                                                const std::atomic<bool>* cancel = nullptr);

// Returns for each of these choices, the others kept, the fastest layout that fits and is not the plan's own:
// fastest first. A choice of which nothing else fits gives none.
[[nodiscard]] std::vector<SearchResult> best_of_each_edit(const Plan& plan,
                                                          const SearchOptions& options = {});

// A gain of less is no reason to change a plan: a hundredth of its step.
inline constexpr double kWorthIt = 0.01;
// Holds what one edit each of a plan gives, fastest first: what fits, and what does not and would be worth
// it.
struct TriedEdits {
    std::vector<SearchResult> fit, unfit;
};
[[nodiscard]] TriedEdits try_each_edit(const Plan& plan, double step_s);

}  // namespace pentamesh
