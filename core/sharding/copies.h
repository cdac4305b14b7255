// Finds the ranks that keep the same parameters.
#pragma once

#include "core/mesh/mesh.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <vector>

namespace pentamesh {

// Over these factors the parts at rest are equal: over all of data parallelism (cp in it, weight shards not)
// below ZeRO-3, over its replicas from there on. Experts are copied over the expert mesh's own. Where a
// pipeline holds two copies of the model, the stage across holds the same layers: stage + other = pp - 1.
struct ParameterCopies {
    GroupFactors dense, experts;  // experts: empty without an expert mesh
    bool stage_across = false;
};
[[nodiscard]] ParameterCopies parameter_copies_of(const Plan& plan, const Mesh& mesh);

// degree_of returns how many ranks the factors hold; ranks_over returns those that share all other
// coordinates with `rank`, ascending.
[[nodiscard]] std::int64_t degree_of(const GroupFactors& factors);
[[nodiscard]] std::vector<std::int64_t> ranks_over(const GroupFactors& factors, std::int64_t rank);

}  // namespace pentamesh
