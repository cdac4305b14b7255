// How many copies of a token go to the experts, in how many bytes? One answer for the list of a layer's steps
// and for the calls of a training step.
#pragma once

#include "core/mesh/mesh.h"
#include "core/plan/plan.h"

namespace pentamesh {

// Copies of a token that a rank sends: one for each expert; a kernel that knows the ranks sends one to each
// rank that holds one of its experts. The load of the busiest rank counts.
[[nodiscard]] double sent_copies(const Plan& plan);

// Bytes of a number on its way to the experts. DeepSeek-AI 2024 (DeepSeek-V3), section 3.3: dispatch in fp8
// with an fp32 scale per 128 numbers.
[[nodiscard]] double dispatch_bytes(Dtype compute);

// Of the copies that ranks are sent, the share that crosses to another node: one for each node that is hit,
// spread there over the first tier (DeepEP, internode kernels). At most the model's limit of nodes. `ep`: how
// the groups of ep lie.
[[nodiscard]] double slow_share(const Plan& plan, const GroupSummary& ep);

}  // namespace pentamesh
