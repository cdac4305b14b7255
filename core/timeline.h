// When does each stage work? Replays an order against costs: an op starts when its device is free and what it
// needs has arrived.
#pragma once

#include "core/schedules/schedule.h"

#include <vector>

namespace pentamesh {

// Costs of one micro-batch on a chunk, seconds (or any one unit).
struct ChunkCost {
    double forward = 0, input_grad = 0, weight_grad = 0;  // F, I, W; B = I + W
};

struct TimelineCosts {
    std::vector<ChunkCost> chunk;  // [device * chunks + c]
    double send = 0;               // delay between two different devices, occupies nobody
    double pair_factor = 1;    // FB takes this x (F + I + W) of its two chunks; 1: no gain from overlapping
    std::vector<double> slow;  // factor per device; empty: all 1
};
// Uniform costs of a whole stage; a chunk costs 1 / cost_divisor. `pair`: cost of an FB, 0: F + I + W.
[[nodiscard]] TimelineCosts uniform_costs(const ScheduleShape& shape, double f, double i, double w,
                                          double send, double pair = 0);

struct DeviceTime {
    double busy = 0, first_start = 0, last_end = 0;
    double peak_in_flight = 0;  // micro-batches of a whole stage
    [[nodiscard]] double idle_within_span() const { return last_end - first_start - busy; }
};

struct Timeline {
    ScheduleShape shape;
    Order order;
    std::vector<double> start, end;  // parallel to order.ops
    std::vector<DeviceTime> device;
    double makespan = 0;
    bool complete = false;  // false: the order dead-locks (never for accepted shapes; tested)
    [[nodiscard]] bool empty() const { return device.empty(); }
    // Mean over devices of (makespan - busy) / makespan.
    [[nodiscard]] double bubble_fraction() const;
};
void run_timeline(const ScheduleShape& shape, const TimelineCosts& costs, Timeline& out);

// The op that `index` had to wait for last (the predecessor on its device, or across devices), -1: none.
[[nodiscard]] std::ptrdiff_t waited_for(const Timeline& t, const TimelineCosts& costs, std::size_t index);
// The chain of ops that the makespan hangs on, first to last.
[[nodiscard]] std::vector<std::size_t> critical_path(const Timeline& t, const TimelineCosts& costs);

// Activations held over time on one device: (time, micro-batches of a whole stage after it), ascending time.
struct InFlightStep {
    double time = 0, held = 0;
};
[[nodiscard]] std::vector<InFlightStep> in_flight(const Timeline& t, int device);

}  // namespace pentamesh
