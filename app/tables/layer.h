// What happens inside one layer, step by step?
#pragma once

#include "app/tables/table.h"
#include "core/comm/comm.h"
#include "core/layer/layer.h"

namespace pentamesh {

// "8,192 × 1 × 8,192 of 16,384" is said by shapes of both; here "s b h 1,024 1 8,192".
[[nodiscard]] std::string shape_text(const LayerTensor& tensor);
// A row for each step. `dp`: replicas exist.
[[nodiscard]] Table layer_table(const LayerList& list, Notation notation, bool dp);
// Calls and bytes of one layer and micro-batch by axis and collective, beside those of the plan's own list.
[[nodiscard]] Table layer_calls_table(const LayerList& list, const Comm& comm);
// What the plan says: calls and bytes that leave a rank in one layer of this type and micro-batch; of weights
// and gradients once in a training step where the list says so. Negative where the plan counts layers
// together.
struct PlanCalls {
    double calls = -1, sent_bytes = -1;
};
[[nodiscard]] PlanCalls plan_calls(const Comm& comm, int type, GroupKind axis, Collective collective);

}  // namespace pentamesh
