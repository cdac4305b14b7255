// Holds the parts that memory is summed from: degrees, and a rank's share of each place's parameters
// (activations: activations.h). The sum, its explanation and the placements share them; docs/memory.md has
// formulas and their sources.
#pragma once

#include "core/memory/activations.h"
#include "core/memory/memory.h"
#include "core/mesh/degrees.h"
#include "core/plan/software.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pentamesh {

// Does compute_memory over degrees instead of a mesh.
void compute_memory(const Plan& plan, const Degrees& degrees, const Stages& stages,
                    const std::vector<double>& in_flight, Memory& out);

// Holds the bytes of one number of each state, for the linear weights, the router's and the rest.
struct StateBytes {
    double linear = 0, router = 0, other = 0;
    [[nodiscard]] double of(const Numbers& n) const {
        return n.linear * linear + n.router * router + n.other * other;
    }
};
[[nodiscard]] StateBytes parameter_bytes(const Plan& plan);  // of all copies of a number
[[nodiscard]] StateBytes gradient_bytes(const Training& t);
[[nodiscard]] StateBytes optimizer_bytes(const Training& t);  // the states and the master copy
[[nodiscard]] StateBytes master_bytes(const Training& t);     // only of the master copy
// Returns the bytes of the 16-bit gradients that a software keeps in addition to their sum in fp32. ZeRO-2
// and 3 free a parameter's gradient once it is reduced (DeepSpeed stage_1_and_2.py:966).
[[nodiscard]] double gradient_copy_bytes(const Plan& plan, const StageNumbers& numbers);

// Says into how many shards ZeRO cuts each state: dense, experts. It is 1 below its stage, and for gradients
// where a step sums them whole (gradient_reduction.h). Where a pipeline holds two copies of the model, both
// share one optimizer state: each keeps half.
struct StateShards {
    std::int64_t parameter[2] = {1, 1}, gradient[2] = {1, 1}, optimizer[2] = {1, 1};
    int copies = 1;       // of the model that the pipeline holds
    double in_a_run = 0;  // share of the gradients, a chunk's, that is whole in addition to the shards until
                          // reduced
};
[[nodiscard]] StateShards shards_of(const Plan& plan, const Degrees& degrees);

}  // namespace pentamesh
