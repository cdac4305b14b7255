// Edits a plan inside the engine: the changes of a fix, as data. (Edits that come from outside go through
// plan_json.h, which checks them against the whole format.)
#pragma once

#include "core/plan/plan.h"
#include "core/plan/problem.h"

#include <string_view>
#include <vector>

namespace pentamesh {

// Returns the edits that turn `from` into `to`, in the order of the plan file: the cluster's GPUs, the layout
// and the training. An optional field that only `from` states cannot be taken away by an edit and is left
// out.
[[nodiscard]] std::vector<Edit> edits_between(const Plan& from, const Plan& to);
// Returns them without dp_replicate where the others leave as many replicas of the cluster by themselves: a
// fix names only what changes.
[[nodiscard]] std::vector<Edit> needed_edits(const Plan& from, const Plan& to);
// Returns false where a path is not one of those fields or the value is of another type; the plan is then
// partly edited.
[[nodiscard]] bool apply_in_core(Plan& plan, const std::vector<Edit>& edits);

// Records that the plan itself states a part of a cluster that comes from a preset: "/cluster/gpus". Any
// other path has no effect.
void state_over_preset(Source& source, std::string_view path);

// Returns needed_edits(plan, a copy that `change` has worked on).
template <typename Change>
[[nodiscard]] std::vector<Edit> fix_by(const Plan& plan, Change&& change) {
    Plan copy = plan;
    change(copy);
    return needed_edits(plan, copy);
}

}  // namespace pentamesh
