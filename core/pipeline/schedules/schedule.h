// In which order? A pipeline schedule maps (p, m, v) to an op order per device. Rules and their sources:
// docs/schedules.md.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace pentamesh {

enum class OpKind : std::uint8_t { F, B, I, W, FB };  // B = I + W; FB an overlapped pair

struct Op {
    OpKind kind = OpKind::F;
    std::uint8_t chunk = 0;
    std::uint8_t backward_chunk = 0;  // FB only
    std::int32_t microbatch = 0;
    std::int32_t backward_microbatch = 0;  // FB only
    bool operator==(const Op&) const = default;
};

struct ScheduleShape {
    Schedule schedule = Schedule::one_f_one_b;
    int devices = 1;       // p
    int microbatches = 1;  // m
    int chunks = 1;        // v: model chunks a device (1 or 2 copies for dualpipe: see chunks_of)
    int group = 0;         // interleaved: micro-batch group; 0: p
};

// Why a schedule cannot run this shape, with the smallest change that it would accept: all values below that
// are not 0, set together. Empty message: it can.
struct Refusal {
    std::string message;
    std::string pointer;            // "/layout/virtual_stages", "/training/global_batch" ...
    std::int64_t microbatches = 0;  // nearest larger m that works; 0: m is not the matter
    std::int64_t chunks = 0;        // the v that works; 0: v is not the matter
    std::int64_t devices = 0;       // nearest p that works; 0: p is not the matter
    std::int64_t group = 0;         // a group that works; 0: group is not the matter
    [[nodiscard]] bool refused() const { return !message.empty(); }
};
[[nodiscard]] Refusal refuse(const ScheduleShape& shape);
// The same without building a message, for search.
[[nodiscard]] bool accepts(const ScheduleShape& shape);

// One list of ops, device after device: device d is [begin[d], begin[d + 1]).
struct Order {
    std::vector<Op> ops;
    std::vector<std::size_t> begin;
};
// Precondition: accepts(shape). Reuses out's capacity.
void build_order(const ScheduleShape& shape, Order& out);

// Ops that build_order makes, or a little more where pairs are overlapped. For deciding beforehand whether a
// timeline is worth its memory (about 40 bytes an op); build_order wants less than 2^31.
[[nodiscard]] std::int64_t op_count(const ScheduleShape& shape);

// Chunks that a device really holds: dualpipe and dualpipev 2, others v.
[[nodiscard]] int chunks_of(const ScheduleShape& shape);
// The virtual stage (0 .. p * chunks - 1) that chunk c of device d runs: interleaved and looped-bfs c * p +
// d, V placements (zb-v, dualpipev) d and 2p - 1 - d, dualpipe d and p - 1 - d (two copies of p stages).
[[nodiscard]] int stage_of(const ScheduleShape& shape, int device, int chunk);
// The other way round: the device that runs a stage as its chunk c. Outside 0 .. p - 1: no device does.
[[nodiscard]] int device_of(const ScheduleShape& shape, int stage, int chunk);
// 1 for all but dualpipe, which holds two copies of the parameters.
[[nodiscard]] int parameter_copies(const ScheduleShape& shape);
// A chunk costs 1 / this of a device-stage: v, but 1 for dualpipe (each of its chunks is a whole stage).
[[nodiscard]] int cost_divisor(const ScheduleShape& shape);

// Activations held at once at the peak, in micro-batches of a whole stage. Closed forms, equal to the
// timeline's replay (tested). For search and for evaluation without a timeline.
[[nodiscard]] double peak_in_flight(const ScheduleShape& shape, int device);

// The published closed form of the bubble and when it is exact, for the sentence beside the timeline.
struct ClosedForm {
    const char* formula = "";     // "(p-1)(F+B)/v"
    const char* exact_when = "";  // "no send cost, m a multiple of p"
    double bubble = 0;            // seconds (units of the costs given)
    bool span_measure = false;    // true: idle within a device's own span, the zero-bubble papers' measure
    bool exact = false;           // the condition holds for these numbers
};
[[nodiscard]] ClosedForm closed_form(const ScheduleShape& shape, double f, double i, double w, double comm);

// makespan - m(F + I + W) of equal stages without a replay: O(1), no allocation. Costs are those of one
// micro-batch on a whole stage, comm that of a send; any one unit. Exact or near it: docs/schedules.md has
// the table, the tests hold each schedule to it.
[[nodiscard]] double bubble_estimate(const ScheduleShape& shape, double f, double i, double w, double comm);

}  // namespace pentamesh
