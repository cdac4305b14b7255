// What is the most that two edits gain? All layouts that differ from the plan in at most two of its choices.
#pragma once

#include "core/decide/search.h"

#include <atomic>
#include <optional>

namespace pentamesh {

// The layout with the shortest step among those that fit and take at most two edits: of tp, cp, pp, the
// schedule with its chunks, ep, etp, dp_replicate, zero, micro_batch, recompute, order. Sharded data
// parallelism takes what a factor gives up, as in the window; that is no edit of its own. The headroom is the
// options'. nullopt: none fits, or it was cancelled.
[[nodiscard]] std::optional<SearchResult> best_within_two_edits(const Plan& plan,
                                                                const SearchOptions& options = {},
                                                                const std::atomic<bool>* cancel = nullptr);

}  // namespace pentamesh
