// A table says what happens inside one layer, step by step.
#pragma once

#include "app/tables/table.h"
#include "core/comm/comm.h"
#include "core/layer/layer.h"

namespace pentamesh {

// Returns "s b h 1,024 1 8,192"; the functions for other shapes write "8,192 × 1 × 8,192 of 16,384".
[[nodiscard]] std::string shape_text(const LayerTensor& tensor);
// Returns a table with a row for each step. `dp` says that there are replicas.
[[nodiscard]] Table layer_table(const LayerList& list, Notation notation, bool dp);
// Returns calls and bytes of one layer and micro-batch by axis and collective, and next to them those of the
// plan's own list.
[[nodiscard]] Table layer_calls_table(const LayerList& list, const Comm& comm);
// Holds the plan's own numbers: calls and bytes that leave a rank in one layer of this type and micro-batch;
// for weights and gradients once in a training step where the list says so. They are negative where the plan
// counts layers together.
struct PlanCalls {
    double calls = -1, sent_bytes = -1;
};
[[nodiscard]] PlanCalls plan_calls(const Comm& comm, int type, GroupKind axis, Collective collective);

}  // namespace pentamesh
