// Finds the parts of a timeline's blocks other than compute, and the part of a step after the pipeline.
#pragma once

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
    [[nodiscard]] double total() const {
        double sum = optimizer_s + straggler_s;
        for (const double s : exposed_s) sum += s;
        return sum;
    }
};
[[nodiscard]] StepTail step_tail(const Step& step, const Comm& comm);

}  // namespace pentamesh
