// Says when each stage works. It replays an order against costs: an op starts when its device is free and its
// inputs have arrived.
#pragma once

#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

// Returns the time, in seconds, at which every stage has run a forward of each of its chunks; 0 for an empty
// timeline.
[[nodiscard]] double first_round_s(const Timeline& t);

// Finds the blocks of a timeline to draw at a given zoom: ops a pixel wide or more one by one, runs of
// narrower ones merged. The time that it takes depends on the visible part, not on how many ops there are.

// Says how much a device has done by which time. It is built once for each timeline, O(ops).
struct WorkIndex {
    struct Sums {
        double forward = 0, backward = 0, weight = 0;  // B and I are backward, FB half of each
        [[nodiscard]] double all() const { return forward + backward + weight; }
    };
    // Sums the work of each kind before each op: [device + op index], one entry more per device than ops.
    std::vector<Sums> before;
    // Each device's time from 0 to the makespan is divided into `slices` equal ones; this is the first op
    // that ends after the begin of each: [device * (slices + 1) + slice].
    std::vector<std::uint32_t> ending_after;
    std::vector<Sums> done;  // of the same slices: work before the begin of each
    std::size_t slices = 1;
    double slice_s = 0;
    [[nodiscard]] double begin_of(std::size_t slice) const { return static_cast<double>(slice) * slice_s; }
};
void build_work_index(const Timeline& t, WorkIndex& out);

struct Block {
    double from = 0, to = 0;          // time
    std::size_t first = 0, last = 0;  // ops [first, last]; the same one: drawn as itself
    WorkIndex::Sums work;             // of a merged run: time spent on each kind
    [[nodiscard]] bool merged() const { return last != first; }
    // Returns the share of the block's time in which the device worked.
    [[nodiscard]] double density() const { return to > from ? work.all() / (to - from) : 1; }
};

struct BlockLimits {
    double least_px = 1.5;    // a wider op is a block by itself
    double most_px = 64;      // largest width of a merged run where nothing changes in it; 0: one column
    double tolerance = 0.04;  // largest difference of a kind's share between the quarters of such a run
    bool operator==(const BlockLimits&) const = default;
};

// Finds blocks of one device between two times, ascending, on a row `pixels` wide. Ops narrower than least_px
// that end within least_px of the first one's start join it; where the work stays the same, whole stretches
// do. A block's start lies at least least_px before that of the next but one: there are at most 2 * pixels /
// least_px + 3 of them, and a steady phase of half a million ops takes a few. It takes O(log(ops in a slice))
// a block. Reuses out's capacity.
void visible_blocks(const Timeline& t, const WorkIndex& index, int device, double from, double to,
                    double pixels, std::vector<Block>& out, const BlockLimits& limits = {});

// Keeps the blocks of every row from frame to frame while the zoom stays: along the time axis they stay as
// they are, and a frame takes those that are in sight.
class SeenBlocks {
  public:
    // Sets the visible part from now on. `version` identifies a timeline; a row is `pixels` wide. At another
    // zoom the blocks of [from, to] are made anew; beyond the known ones at the same zoom, half as much again
    // is made.
    void look(std::uint64_t version, double from, double to, double pixels, const BlockLimits& limits);
    // Returns those of one device in sight; they stay valid until the next call.
    [[nodiscard]] std::span<const Block> row(const Timeline& t, const WorkIndex& index, int device);

  private:
    struct Row {
        bool known = false;
        std::vector<Block> blocks;
    };
    std::vector<Row> rows_;
    std::uint64_t version_ = 0;
    BlockLimits limits_;
    double from_ = 0, to_ = 0;              // in sight
    double known_from_ = 0, known_to_ = 0;  // content of the rows
    double pixel_ = 0;                      // time
};

// Walks a timeline: the op that runs at a moment, the next moment at which anything changes, and the ops that
// need an op's output.

// Returns the op that a device runs at a time, -1 where it idles. An op owns its start and not its end. It
// takes O(log ops).
[[nodiscard]] std::ptrdiff_t op_at(const Timeline& t, int device, double time);
// Returns the first start or end of an op after `time`, on one device or (-1) on any; nullopt where nothing
// follows.
[[nodiscard]] std::optional<double> next_boundary(const Timeline& t, double time, int device = -1);
// Returns the last one before `time`.
[[nodiscard]] std::optional<double> previous_boundary(const Timeline& t, double time, int device = -1);

// Returns the ops that need the output of op `index` of the order, without its own weight gradient, or -1. It
// is the reverse of inputs_of. A pair has up to two.
[[nodiscard]] std::array<std::ptrdiff_t, 2> outputs_of(const Timeline& t, std::size_t index);
// Says where the output of `index` goes from its device, forward and backward; -1 where it stays.
struct SentTo {
    int forward = -1, backward = -1;  // devices
};
[[nodiscard]] SentTo sent_to(const Timeline& t, int device, const Op& op);

// Returns the row of a device's chunk in Sequence::link.
[[nodiscard]] inline std::size_t row(const Timeline& t, int device, int chunk) {
    return static_cast<std::size_t>(device * chunks_of(t.shape) + chunk);
}

// Returns the op of a micro-batch in that row of `table` (forward_op and its like); -1 where the row is
// negative.
[[nodiscard]] inline std::ptrdiff_t entry(const Timeline& t, const std::vector<std::int32_t>& table,
                                          std::int64_t chunk_row, std::int32_t microbatch) {
    const std::int64_t each = std::int64_t{t.shape.microbatches} * t.iterations;
    return chunk_row < 0 ? -1 : table[chunk_row * each + microbatch];
}

}  // namespace pentamesh
