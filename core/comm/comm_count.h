// For which device are the calls counted, how often does it make each, and what do they come to?
#pragma once

#include "core/comm/comm.h"

namespace pentamesh {

// Counts every row for this device instead: counts, bytes and `on_other_stage`. The times of rows are the
// caller's.
void count_calls(const Plan& plan, int device, Comm& comm);
// by_axis again, by the slowest tier that each operation crosses.
[[nodiscard]] std::array<AxisTraffic, kMaxTiers> traffic_by_tier(const Comm& comm);

}  // namespace pentamesh
