// Lists the collectives of data parallelism. The step's communication multiplies them by the numbers that a
// device holds, the layer view by those of one layer.
#pragma once

#include "core/base/short_list.h"
#include "core/layer/what.h"
#include "core/mesh/collective.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/gradient_reduction.h"

#include <cstdint>

namespace pentamesh {

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
// experts' over edp (Rajbhandari et al. 2020, ZeRO). Calls over one rank are among them; the last is the
// all-reduce.
[[nodiscard]] StateCallList list_state_calls(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups,
                                             bool experts);

}  // namespace pentamesh
