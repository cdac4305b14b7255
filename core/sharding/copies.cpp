#include "core/sharding/copies.h"

#include "core/mesh/mesh_factors.h"
#include "core/pipeline/schedules/schedule.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Returns the replicas among the experts' own data parallelism.
GroupFactors expert_replicas(const Mesh& mesh) {
    const Factor f = mesh.expert[Axis::dp_replicate];
    return f.size > 1 ? GroupFactors{{f}, 1} : GroupFactors{};
}

}  // namespace

ParameterCopies parameter_copies_of(const Plan& plan, const Mesh& mesh) {
    const bool sharded = plan.layout.zero >= 3;
    ParameterCopies c;
    c.dense = group_factors(mesh, sharded                  ? GroupKind::dp_replicate
                                  : mesh.weight_shards > 1 ? GroupKind::dp_cp_without_gtp_remat
                                                           : GroupKind::dp_cp);
    if (mesh.has_experts) c.experts = sharded ? expert_replicas(mesh) : group_factors(mesh, GroupKind::edp);
    c.stage_across = parameter_copies(plan.layout.schedule) > 1 && mesh.dense[Axis::pp].size > 1;
    return c;
}

std::int64_t degree_of(const GroupFactors& factors) {
    std::int64_t degree = 1;
    for (const Factor& f : factors.span()) degree *= f.size;
    return degree;
}

std::vector<std::int64_t> ranks_over(const GroupFactors& factors, std::int64_t rank) {
    std::int64_t first = rank;
    for (const Factor& f : factors.span()) first -= rank / f.stride % f.size * f.stride;
    std::vector<std::int64_t> ranks;
    ranks.reserve(static_cast<std::size_t>(degree_of(factors)));
    for_each_sum(factors.span(), [&](std::int64_t offset) { ranks.push_back(first + offset); });
    return ranks;
}

}  // namespace pentamesh
