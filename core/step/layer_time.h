// Finds how long each step of a layer takes: the same rates and routes as the time of a whole layer
// (compute.h), step by step. Waiting for the host's launches belongs to no step (recompute_work.h).
#pragma once

#include "core/layer/layer.h"
#include "core/step/compute.h"

#include <cstdint>

namespace pentamesh {

// Fills bytes_moved and time_s of every step, and the totals. The plan must be that of the list.
void time_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, LayerList& list);

// Does list_layer with times.
[[nodiscard]] LayerList timed_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups,
                                    int type, std::int64_t rank = 0, std::int64_t most_members = 0);

}  // namespace pentamesh
