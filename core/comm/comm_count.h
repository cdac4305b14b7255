// Says for which device the calls are counted, how often it makes each, and sums them.
#pragma once

#include "core/comm/comm.h"

namespace pentamesh {

// Counts every row for this device instead: counts, bytes and `on_other_stage`. The caller sets the times of
// rows. `runs` are the micro-batches that each chunk of a device runs in a step.
void count_calls(double runs, int device, Comm& comm);
void count_calls(const Plan& plan, int device, Comm& comm);
// Returns the sums of by_axis by the slowest tier that each operation crosses.
[[nodiscard]] std::array<AxisTraffic, kMaxTiers> traffic_by_tier(const Comm& comm);

}  // namespace pentamesh
