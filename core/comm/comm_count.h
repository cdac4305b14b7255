// For which device are the calls counted, how often does it make each, and what do they come to?
#pragma once

#include "core/comm/comm.h"

namespace pentamesh {

// Counts every row for this device instead: counts, bytes and `on_other_stage`. The times of rows are the
// caller's.
void count_calls(const Plan& plan, int device, Comm& comm);
// by_axis again, by the slowest tier that each operation crosses.
[[nodiscard]] std::array<AxisTraffic, kMaxTiers> traffic_by_tier(const Comm& comm);

// ---- while rows are listed (comm.cpp) ----

// Micro-batches per step and replica, one where the batch does not divide; and those that each chunk of a
// device runs.
[[nodiscard]] double microbatches_or_one(const Plan& plan);
[[nodiscard]] double runs_per_step(const Plan& plan);
// Finds the busiest device by the work of its layers (the numbers that a token meets), and what is reduced.
// Needs stages and held.
void find_busiest(const Plan& plan, Comm& out);
// How often the device that `comm` counts for makes this call, in a step of so many runs of each of its
// chunks.
void count_row(const Comm& comm, double runs, Operation& o);
// An all-reduce is one point; so is a reduce-scatter, whose all-gather belongs to it, and an all-to-all.
[[nodiscard]] double sync_points(const Plan& plan, const Comm& comm);
// Whether a layer's call is such a point.
[[nodiscard]] inline bool is_sync_point(const Operation& o) {
    return o.types != 0 && o.collective != Collective::all_gather && o.collective != Collective::send_recv;
}

}  // namespace pentamesh
