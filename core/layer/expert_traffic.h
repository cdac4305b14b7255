// Counts the copies of a token that go to the experts, and their bytes. The list of a layer's steps and the
// calls of a training step use the same answer.
#pragma once

#include "core/mesh/mesh.h"
#include "core/plan/plan.h"

namespace pentamesh {

// Returns the copies of a token that a rank sends: one for each expert; a kernel that knows the ranks sends
// one to each rank that holds one of its experts. The load of the busiest rank counts.
[[nodiscard]] double sent_copies(const Plan& plan);

// Returns the bytes of a number on its way to the experts. DeepSeek-AI 2024 (DeepSeek-V3), section 3.3:
// dispatch is in fp8 with an fp32 scale per 128 numbers.
[[nodiscard]] double dispatch_bytes(Dtype compute);

// Returns the share of the copies sent to ranks that crosses to another node: one for each node that is hit,
// spread there over the first tier (DeepEP, internode kernels). It is at most the model's limit of nodes.
// `ep` says how the groups of ep lie.
[[nodiscard]] double slow_share(const Plan& plan, const GroupSummary& ep);

}  // namespace pentamesh
