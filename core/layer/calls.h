// Counts the bytes of a number on the wire, and the copies of a token on its way to experts.
#pragma once

#include "core/base/containers.h"
#include "core/layer/layer_words.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/sequence.h"
#include "core/plan/plan.h"

#include <cstdint>

namespace pentamesh {

// Returns the bytes of one activation on the wire: a compute type below 16 bits still sends 16, except where
// a kernel says otherwise (fp8 dispatch).
[[nodiscard]] double wire_bytes(Dtype compute);

// Returns the bytes of one parameter on the wire where ZeRO-3 gathers it: FSDP2 (_fsdp_param.py,
// all_gather_inputs) and Megatron-FSDP cast a shard that is wider than the compute type first.
[[nodiscard]] double gathered_bytes(const Training& training);

// Bytes of one updated parameter on the wire where ZeRO-1 and 2 gather it: those of its type, of one copy. Of
// MXFP8 bf16 goes, out of which each rank scales both ways (Megatron-LM, reuse_grad_buf_for_mxfp8_param_ag).
[[nodiscard]] double updated_bytes(const Training& training);

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

// Lists the collectives of data parallelism. The step's communication multiplies them by the numbers that a
// device holds, the layer view by those of one layer.

struct StateCall {
    What what = What::none;
    Collective collective = Collective::all_reduce;
    GroupKind group = GroupKind::dp;
    std::int64_t ranks = 1;
    double cut = 1;    // the calls before it left each rank one part of so many
    double bytes = 0;  // of a number
    Rounds rounds;
    bool by_layer = false;  // one call for each layer, with that layer's numbers
    bool again = false;     // a gather for the backward
};
using StateCallList = ShortList<StateCall, 4>;

// Returns the calls for dense weights, or for those of experts: dense gradients are reduced over dp x cp,
// experts' over edp or its two parts (Rajbhandari et al. 2020, ZeRO). Calls over one rank are among them; the
// last is the all-reduce.
[[nodiscard]] StateCallList list_state_calls(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups,
                                             bool experts);

}  // namespace pentamesh
