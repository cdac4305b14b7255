#include "core/pipeline/resolved_plan.h"

#include "core/pipeline/stages.h"
#include "core/plan/factors.h"

#include <algorithm>

namespace pentamesh {

ResolvedPlan::ResolvedPlan(const Plan& of, const Mesh& its_mesh, const GroupSummaries& its_groups)
    : plan(of), mesh(its_mesh), groups(its_groups), software(facts_of(of.training.software)),
      types(layer_types(of.model)), counts(count_layers(of.model, types, 0, of.model.layers)),
      microbatches(microbatches_of(of)), shape(shape_of(of, microbatches)),
      runs(runs_of(shape.schedule, static_cast<double>(std::max<std::int64_t>(microbatches, 1)))),
      degrees(degrees_of(of, its_mesh)) {}

}  // namespace pentamesh
