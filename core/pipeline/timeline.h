// Says when each stage works. It replays an order against costs: an op starts when its device is free and its
// inputs have arrived.
#pragma once

#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace pentamesh {

// Costs are those of one micro-batch on a chunk, in seconds (or any one unit).
struct ChunkCost {
    double forward = 0, input_grad = 0, weight_grad = 0;  // F, I, W; B = I + W
    [[nodiscard]] double total() const { return forward + input_grad + weight_grad; }
    bool operator==(const ChunkCost&) const = default;
};

struct TimelineCosts {
    std::vector<ChunkCost> chunk;  // [device * chunks + c]
    double send = 0;               // delay between two different devices, which goes on working
    double pair_factor = 1;    // FB takes this x (F + I + W) of its two chunks; 1: no gain from overlapping
    std::vector<double> slow;  // factor per device; empty: all 1
    void clear();
    bool operator==(const TimelineCosts&) const = default;
};
[[nodiscard]] inline double slow_factor(const TimelineCosts& costs, std::size_t device) {
    return costs.slow.empty() ? 1 : costs.slow[device];
}
// Returns how long a device of that many chunks is busy with one micro-batch.
[[nodiscard]] double device_busy(const TimelineCosts& costs, int device, int chunks);
// Returns uniform costs of a whole stage; a chunk costs 1 / cost_divisor. `pair` is the cost of an FB; 0
// stands for F + I + W.
[[nodiscard]] TimelineCosts uniform_costs(const ScheduleShape& shape, double f, double i, double w,
                                          double send, double pair = 0);

struct DeviceTime {
    double busy = 0, first_start = 0, last_end = 0;
    double peak_in_flight = 0;  // micro-batches of a whole stage
    [[nodiscard]] double idle_within_span() const { return last_end - first_start - busy; }
    bool operator==(const DeviceTime&) const = default;
};

struct Timeline {
    ScheduleShape shape;
    int iterations = 1;  // steps back to back; micro-batch k of step s is s * shape.microbatches + k
    Order order;
    std::vector<double> start, end;  // parallel to order.ops
    std::vector<DeviceTime> device;
    double makespan = 0;
    bool complete = false;  // false: the order dead-locks (never for accepted shapes; tested)

    Sequence sequence;                                    // its forward_op, backward_op and link find each op
    struct LaneTime {                                     // of a lane of the sequence, seconds
        double takes = 0, arrives = 0, back_arrives = 0;  // an op; its inputs on their way
        std::int32_t shift = 0;                           // from an op to its slot
    };
    // The replay uses these; they are kept for their capacity.
    std::vector<LaneTime> lane_time;
    std::vector<double> slot_end;  // the times at which ops end, by slot, seconds

    [[nodiscard]] bool empty() const { return device.empty(); }
    void clear();                              // keeps capacity
    bool operator==(const Timeline& t) const;  // of what it says; the sequence follows from that
    // Returns the mean over devices of (makespan - busy) / makespan.
    [[nodiscard]] double bubble_fraction() const;
};
// Precondition: accepts(shape), costs.chunk has devices * chunks entries. It takes O(ops); it allocates
// nothing once out is warm. Where out is of the same shape its order and sequence stay, and only times are
// new.
void run_timeline(const ScheduleShape& shape, const TimelineCosts& costs, Timeline& out);
// Runs several steps back to back without a barrier between them: the next one slides into the slanted end of
// the one before, as with the zero-bubble papers' post-validated optimizer step.
void run_iterations(const ScheduleShape& shape, const TimelineCosts& costs, int iterations, Timeline& out);
// Returns when step k of a timeline ends (its last op on any device).
[[nodiscard]] double iteration_end(const Timeline& t, int iteration);

// Returns the makespan without a replay, O(devices * chunks), no allocation: the slowest device's work and
// bubble_estimate() of the mean of the others. For equal stages it is as exact as that; docs/schedules.md has
// the tolerances.
[[nodiscard]] double makespan_estimate(const ScheduleShape& shape, const TimelineCosts& costs);

// Returns the device that runs op `index`.
[[nodiscard]] int device_of_op(const Timeline& t, std::size_t index);
// Returns the ops whose output `index` needs, on its own or another device, or -1. An FB has two. A weight
// gradient needs its input gradient.
[[nodiscard]] std::array<std::ptrdiff_t, 2> inputs_of(const Timeline& t, std::size_t index);
// Returns the op that `index` had to wait for last (the predecessor on its device, or across devices), or -1.
// Where both came at the same time, it is the predecessor on its device.
[[nodiscard]] std::ptrdiff_t waited_for(const Timeline& t, const TimelineCosts& costs, std::size_t index);
// Returns the chain of ops that the makespan depends on, first to last.
[[nodiscard]] std::vector<std::size_t> critical_path(const Timeline& t, const TimelineCosts& costs);

// Holds activations over time on one device: (time, micro-batches of a whole stage after it), ascending time,
// one step a time. They count from the start of F to the end of B, or of W where the backward is split.
struct InFlightStep {
    double time = 0, held = 0;
};
[[nodiscard]] std::vector<InFlightStep> in_flight(const Timeline& t, int device);

// The steady part of a timeline is the stretch in which every stage does the same again and again.
struct SteadyPart {
    double from_s = 0;    // every stage asked is steady from here on
    double period_s = 0;  // after which the ops of a stage begin anew
    int periods = 0;      // whole ones, at least 3
    [[nodiscard]] double to_s() const { return from_s + period_s * periods; }
};
// The ops of the first, the middle and the last stage repeat in kind and chunk, and their starts by one
// period to 2 %. It is nullopt where fewer than three periods do. It takes O(ops of a stage x ops of a
// period).
[[nodiscard]] std::optional<SteadyPart> steady_part(const Timeline& t);

// Returns the median duration of the ops of the middle stage, in seconds; 0 for an empty timeline.
[[nodiscard]] double median_op_s(const Timeline& t);

}  // namespace pentamesh
