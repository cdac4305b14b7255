// Makes the list of a step's collectives: those of layers (core/layer/parts.h), of the pipeline and of
// embedding and head in comm.cpp, the state of data parallelism in comm_state.cpp.
#pragma once

#include "core/comm/comm.h"
#include "core/layer/parts.h"
#include "core/pipeline/gradient_reduction.h"

namespace pentamesh {

// Appends rows; those over a single rank or without bytes are left out.
class CommRows {
  public:
    CommRows(const ResolvedPlan& resolved, const PartsByType& parts, Comm& out);

    void list();

  private:
    [[nodiscard]] const GroupSummary& summary_of(GroupKind k) const { return resolved_.groups[k]; }

    [[nodiscard]] std::int64_t expert_factor(Axis a) const { return resolved_.mesh.expert[a].size; }

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

    // Reduces dense parameters over dp x cp, routed experts over edp.
    void gradients();

    // DualPipe has two copies of a stage, on devices d and p - 1 - d, each of which runs half of the
    // micro-batches: their gradients are summed (deepseek-ai/DualPipe, issue 22). Each keeps half of the
    // optimizer state, updates that half and hands it to the other. `numbers` are those left on a rank after
    // data parallelism.
    void two_copies(double numbers);

    // Adds `bytes` of a round, in `layers` calls of as many bytes each; with 0, in one call that is of no
    // layer.
    void put_rounds(GroupKind group, std::int64_t ranks, Phase phase, Collective c, What what, double bytes,
                    const Rounds& rounds, double layers);
    void reduce_all(GroupKind group, double numbers, What what);
    void replicate(GroupKind group, std::int64_t n, double numbers, What what);

    struct Names {
        What gather_forward, gather_backward, scatter, gather;
    };
    static constexpr Names kDense{What::parameters_for_the_forward, What::parameters_again_for_the_backward,
                                  What::gradients, What::updated_parameters};
    static constexpr Names kExperts{What::experts_parameters_for_the_forward,
                                    What::experts_parameters_again_for_the_backward, What::experts_gradients,
                                    What::experts_updated_parameters};

    // Follows Rajbhandari et al. 2020 (ZeRO). It is layer by layer where ZeRO-3 gathers: one call per layer,
    // with that layer's share. gradient_reduction.h says how often.
    void shard_over(GroupKind group, std::int64_t n, double numbers, const Names& names);

    const ResolvedPlan& resolved_;
    const Plan& plan_;
    const PartsByType& parts_;
    Comm& out_;
    StateRounds rounds_;
    const LayerTypes& types_;
    double tokens_ = 0;        // of a rank and micro-batch: b s / c
    double hidden_bytes_ = 0;  // b s/c h e2: S of the tensor-parallel collectives
    double slow_share_ = 1;    // of the experts' all-to-alls
};

// ---- comm_count.cpp ----

// Finds the busiest device by the work of its layers (the numbers that a token meets), and the numbers to
// reduce. It needs stages and held.
void find_busiest(const Plan& plan, Comm& out);
// Returns true if a layer's call is a sync point. An all-reduce is one; so is a reduce-scatter, whose
// all-gather belongs to it, and an all-to-all.
[[nodiscard]] inline bool is_sync_point(const Operation& o) {
    return o.types != 0 && o.collective != Collective::all_gather && o.collective != Collective::send_recv;
}

}  // namespace pentamesh
