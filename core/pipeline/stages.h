// Which layers does each device run, and how many numbers of the model does it hold for them?
#pragma once

#include "core/mesh/mesh.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/plan.h"

#include <vector>

namespace pentamesh {

// Layers of one chunk of a device. The embedding stands before the first virtual stage; the last norm, the
// head and the multi-token-prediction layers behind the last.
struct ChunkLayers {
    double dense = 0, moe = 0;  // multi-token-prediction layers are counted among them
    bool first = false, last = false;
    [[nodiscard]] double layers() const { return dense + moe; }
    bool operator==(const ChunkLayers&) const = default;
};

struct Stages {
    int devices = 1, chunks = 1;
    std::vector<ChunkLayers> chunk;         // [device * chunks + c]
    std::vector<std::int64_t> first_layer;  // of each virtual stage in model order, and the end of the last
};

// The schedule's view of a plan with m micro-batches per step.
[[nodiscard]] ScheduleShape shape_of(const Plan& plan, std::int64_t microbatches);

// Micro-batches that each chunk of a device runs: DualPipe's two copies of the model take half each.
[[nodiscard]] inline double runs_of(Schedule schedule, double microbatches) {
    return schedule == Schedule::dualpipe ? microbatches / 2 : microbatches;
}

// Layers of each of pp * virtual_stages chunks (dualpipe: pp) in model order: the layout's own, or as even as
// possible with the first and last chunk taking the fewer. Empty where there would be absurdly many. Reuses
// out's capacity.
void layers_of_chunks(const Plan& plan, std::vector<std::int64_t>& out);

// Reuses out's capacity.
void lay_stages(const Plan& plan, const ScheduleShape& shape, Stages& out);

// Whether a device runs the same as the one before it: most do, and cost the same.
[[nodiscard]] bool repeats_previous(const Stages& stages, int device);

// Numbers (not bytes) that one rank holds after tp, etp and ep; before pp and ZeRO.
struct LocalWeights {
    double every_layer = 0;  // attention and norms
    double dense_layer = 0;  // besides: its MLP
    double moe_layer = 0;    // besides: router and shared experts
    double experts = 0;      // besides: the routed experts; gradients reduce over edp
    double embedding = 0, head = 0, mtp = 0;
};
[[nodiscard]] LocalWeights local_weights(const Plan& plan);

// What one device holds: dense parameters (gradients reduce over dp and cp) and routed experts apart.
struct HeldWeights {
    double dense = 0, experts = 0;
};
[[nodiscard]] HeldWeights held_by(const Plan& plan, const LocalWeights& w, const Stages& stages, int device);

}  // namespace pentamesh
