// Says for which device the calls are counted, how often it makes each, and sums them.
#pragma once

#include "core/comm/comm.h"

namespace pentamesh {

// Counts every row for this device instead: counts, bytes and `on_other_stage`. The caller sets the times of
// rows. `runs` are the micro-batches that each chunk of a device runs in a step.
void count_calls(double runs, int device, Comm& comm);
void count_calls(const Plan& plan, int device, Comm& comm);
// The traffic of an axis whose slowest link is this tier.
struct TrafficFlow {
    GroupKind group = GroupKind::tp;
    int tier = 0;
    AxisTraffic traffic;
};
// Returns the sums of by_axis, apart by the slowest tier that each operation crosses: axes in their order,
// each axis' tiers upwards. Flows of no call are left out.
[[nodiscard]] std::vector<TrafficFlow> traffic_flows(const Comm& comm);

}  // namespace pentamesh
