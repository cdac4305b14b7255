#include "core/sharding/copies.h"

#include "core/mesh/mesh_factors.h"
#include "core/pipeline/schedules/schedule.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Returns those with more than one rank, in ascending stride.
GroupFactors factors_among(const Mesh& mesh, const EnumArray<Axis, Factor>& all, std::span<const Axis> axes) {
    GroupFactors out;
    for (const Axis a : mesh.order)
        if (std::find(axes.begin(), axes.end(), a) != axes.end() && all[a].size > 1)
            out.factor[static_cast<std::size_t>(out.count++)] = all[a];
    return out;
}

}  // namespace

ParameterCopies parameter_copies_of(const Plan& plan, const Mesh& mesh) {
    static constexpr std::array<Axis, 3> kData{Axis::cp, Axis::dp_shard, Axis::dp_replicate};
    static constexpr std::array<Axis, 1> kReplicas{Axis::dp_replicate};
    const std::span<const Axis> axes = plan.layout.zero >= 3 ? std::span<const Axis>(kReplicas) : kData;
    ParameterCopies c;
    c.dense = factors_among(mesh, mesh.dense, axes);
    if (mesh.has_experts) c.experts = factors_among(mesh, mesh.expert, axes);
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
