// Tables of the traffic between GPUs: they list every collective of a step, who sends to whom, and one call
// step by step.
#pragma once

#include "app/tables/table.h"
#include "core/explain/traffic.h"

namespace pentamesh {

[[nodiscard]] Table comm_table(const Plan& plan, const Evaluation& e);
// Returns a table with a row for each pair of blocks that talk: bytes per step from one block of ranks to
// another.
[[nodiscard]] Table traffic_table(const TrafficMatrix& matrix);
// Lists the phases of one call, in order; `operation` is its place in comm.operations.
[[nodiscard]] Table phases_table(const Plan& plan, const Evaluation& e, int operation);

}  // namespace pentamesh
