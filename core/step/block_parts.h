// Of what do a timeline's blocks consist besides compute, and what of a step lies behind the pipeline?
#pragma once

#include "core/step/step.h"

#include <array>
#include <vector>

namespace pentamesh {

// Seconds of one micro-batch on a chunk that are no first-hand compute: parts of the same chunk's
// TimelineCosts. All of the backward's lie in the input gradient. Sends are not among them.
struct ChunkExposed {
    UnitComm comm;
    double recompute = 0;  // the forward run again in the backward
};
// [device * chunks + c], as TimelineCosts.chunk. Reuses out's capacity.
void exposed_in_chunks(const Stages& stages, const StepWork& work, std::vector<ChunkExposed>& out);

// What of a step's time is not the pipeline's: time_s less the makespan.
struct StepTail {
    EnumArray<GroupKind, double> exposed_s{};  // gradients and parameters, by axis
    double optimizer_s = 0, straggler_s = 0;
    [[nodiscard]] double total() const {
        double sum = optimizer_s + straggler_s;
        for (const double s : exposed_s) sum += s;
        return sum;
    }
};
[[nodiscard]] StepTail step_tail(const Step& step, const Comm& comm);

}  // namespace pentamesh
