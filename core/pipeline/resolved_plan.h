// Holds what follows from a plan and its mesh and is asked for in several places: it is found once in an
// evaluation, and handed on.
#pragma once

#include "core/mesh/degrees.h"
#include "core/model/layer_types.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/software.h"

#include <cstdint>

namespace pentamesh {

// Refers to the plan, its mesh and the summaries of its groups, which must outlive it. The summaries may be
// made later than this. The plan may be impossible.
struct ResolvedPlan {
    ResolvedPlan(const Plan& of, const Mesh& its_mesh, const GroupSummaries& its_groups);

    const Plan& plan;
    const Mesh& mesh;
    const GroupSummaries& groups;
    const SoftwareFacts& software;
    LayerTypes types;
    LayerCounts counts;             // the model's layers by type, without the prediction layers
    std::int64_t microbatches = 0;  // per step and replica; 0: the batch does not divide
    ScheduleShape shape;
    double runs = 1;  // micro-batches that each chunk of a device runs in a step
    Degrees degrees;
};

}  // namespace pentamesh
