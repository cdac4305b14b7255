// Makes the list of a step's collectives: those of layers (core/layer/parts.h), of the pipeline and of
// embedding and head in comm.cpp, the state of data parallelism in comm_state.cpp.
#pragma once

#include "core/comm/comm.h"
#include "core/layer/parts.h"
#include "core/layer/state_calls.h"

#include <cstdint>

namespace pentamesh {

// Appends rows; those over a single rank or without bytes are left out.
class CommRows {
  public:
    CommRows(const ResolvedPlan& resolved, const PartsByType& parts, Comm& out);

    void list();

  private:
    [[nodiscard]] const GroupSummary& summary_of(GroupKind k) const { return resolved_.groups[k]; }

    Operation* put(GroupKind group, Unit unit, Phase phase, Collective c, What what, double bytes,
                   double calls = 1) {
        return put(group, summary_of(group).degree, unit, phase, c, what, bytes, calls);
    }

    Operation* put(GroupKind group, std::int64_t ranks, Unit unit, Phase phase, Collective c, What what,
                   double bytes, double calls);

    // A call that several types make is one row; one that is recomputed has another row for that. `first` is
    // the first row of its place.
    void put_call(const LayerCall& call, int type, bool recomputed, std::size_t first);
    void vocabulary_parallel();

    // Adds one activation forward and one gradient backward over every boundary between two devices. V-shaped
    // placements turn around on the last device, loops close from the last device to the first.
    void pipeline();

    // Adds the collectives of data parallelism: layer by layer where ZeRO-3 gathers.
    void gradients();
    void put_state(const StateCall& call, double numbers);

    // DualPipe has two copies of a stage, on devices d and p - 1 - d, each of which runs half of the
    // micro-batches: their gradients are summed (deepseek-ai/DualPipe, issue 22). Each keeps half of the
    // optimizer state, updates that half and hands it to the other. `numbers` are those left on a rank after
    // data parallelism.
    void two_copies(double numbers);

    const ResolvedPlan& resolved_;
    const Plan& plan_;
    const PartsByType& parts_;
    Comm& out_;
    const LayerTypes& types_;
    double tokens_ = 0;        // of a rank and micro-batch: b s / c
    double hidden_bytes_ = 0;  // b s/c h e2: S of the tensor-parallel collectives
    double slow_share_ = 1;    // of the experts' all-to-alls
};

// ---- comm_count.cpp ----

// Finds the busiest device by the work of its layers (the numbers that a token meets), and the devices whose
// numbers may take longest to reduce; `reduced` is the most of each kind. It needs stages and held.
void find_busiest(const Plan& plan, Comm& out);
// Returns true if a layer's call is a sync point. An all-reduce is one; so is a reduce-scatter, whose
// all-gather belongs to it, and an all-to-all.
[[nodiscard]] inline bool is_sync_point(const Operation& o) {
    return o.types != 0 && o.collective != Collective::all_gather && o.collective != Collective::send_recv;
}

}  // namespace pentamesh
