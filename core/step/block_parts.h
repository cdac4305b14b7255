// Finds the parts of a timeline's blocks other than compute, and the part of a step after the pipeline.
#pragma once

#include "core/comm/comm.h"
#include "core/step/step.h"

#include <array>
#include <vector>

namespace pentamesh {

// Holds seconds of one micro-batch on a chunk that are not first compute: parts of the same chunk's
// TimelineCosts. All of the backward's lie in the input gradient. Sends are not among them.
struct ChunkExposed {
    UnitComm comm;
    double recompute = 0;  // the forward recomputed in the backward
};
// This is indexed [device * chunks + c], as TimelineCosts.chunk. Reuses out's capacity.
void exposed_in_chunks(const Stages& stages, const StepWork& work, std::vector<ChunkExposed>& out);

// Holds the part of a step's time that is not the pipeline's: time_s less the makespan.
struct StepTail {
    EnumArray<GroupKind, double> exposed_s{};  // gradients and parameters, by axis
    double optimizer_s = 0, straggler_s = 0;
    bool of_each_microbatch = false;  // ZeRO-3 gathers for each: this is the sum, which no block has
    [[nodiscard]] double total() const {
        double sum = optimizer_s + straggler_s;
        for (const double s : exposed_s) sum += s;
        return sum;
    }
};
[[nodiscard]] StepTail step_tail(const Step& step, const Comm& comm);

// Communication goes on behind the blocks, where nothing waits for it: the rest of a call's time.
// Holds seconds by axis; those of the backward include the calls that a recomputed forward repeats.
struct HiddenComm {
    EnumArray<GroupKind, double> forward{}, backward{};
    [[nodiscard]] double all(GroupKind axis) const { return forward[axis] + backward[axis]; }
};
// Finds those of one micro-batch on each chunk, [device * chunks + c], as TimelineCosts.chunk. Sends are not
// among them: the timeline draws those between the stages. Reuses out's capacity.
void hidden_in_chunks(const Comm& comm, std::vector<HiddenComm>& out);
// Returns those of once a step, of the device that holds most: gradients behind the last backward blocks,
// parameters behind the first forward ones.
[[nodiscard]] HiddenComm hidden_in_step(const Comm& comm);

}  // namespace pentamesh
