// Follows what one GPU holds through a micro-batch, unit by unit: states stay, activations rise and fall.
#pragma once

#include "core/memory/memory.h"
#include "core/step/step.h"

#include <vector>

namespace pentamesh {

struct Mesh;

struct MemoryCurve {
    // From `at` on, a share of its pass's time, the GPU holds these bytes until the next moment.
    struct Moment {
        double at = 0;
        double activations = 0, made_again = 0;
        [[nodiscard]] double all() const { return activations + made_again; }
    };
    double states = 0;   // parameters, gradients and optimizer
    double buffers = 0;  // all of StageMemory::buffers but what is made again; held through the whole step
    std::vector<Moment> forward, backward;  // empty: there is no such curve
    [[nodiscard]] bool empty() const { return forward.empty(); }
    [[nodiscard]] double flat() const { return states + buffers; }
};

// Returns the curve of a pipeline of one stage, whose highest moment is Memory's figure to the byte: the end
// of a forward, or the first layer that is made again behind it. A forward adds what each unit keeps
// (embedding, layers type by type, head with the loss), a backward lets it go; before that a recomputed layer
// is made again. Units take their part of a pass by their compute and calls. Empty for a plan of several
// stages or without a step.
[[nodiscard]] MemoryCurve memory_curve(const Plan& plan, const Mesh& mesh, const Memory& memory,
                                       const StepWork& work);

}  // namespace pentamesh
