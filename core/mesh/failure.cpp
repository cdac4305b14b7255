#include "core/mesh/failure.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Counts distinct groups of a kind with a rank in [begin, end).
std::int64_t groups_touched(const Mesh& mesh, GroupKind kind, std::int64_t begin, std::int64_t end,
                            std::vector<std::int64_t>& scratch) {
    scratch.clear();
    for (std::int64_t r = begin; r < end; ++r) scratch.push_back(group_index(mesh, kind, r));
    std::sort(scratch.begin(), scratch.end());
    return std::unique(scratch.begin(), scratch.end()) - scratch.begin();
}

// Returns true if each lost rank has a survivor that holds the same shards.
bool copies_survive(const Plan& plan, const Mesh& mesh, std::int64_t begin, std::int64_t end) {
    const GroupKind copies = plan.layout.zero == 0 ? GroupKind::dp : GroupKind::dp_replicate;
    const GroupFactors f = group_factors(mesh, copies);
    for (std::int64_t r = begin; r < end; ++r) {
        // The first or the last member of its group is outside unless all members are inside: they ascend.
        const std::int64_t first = first_rank_of_group(mesh, copies, r);
        std::int64_t last = first;
        for (const Factor& x : f.span()) last += (x.size - 1) * x.stride;
        if (first >= begin && last < end) return false;
    }
    return true;
}

}  // namespace

std::int64_t node_size(const Mesh& mesh, const Cluster& cluster) {
    const std::int64_t domain = cluster.tiers.empty() ? 1 : domain_of(cluster, 0);
    return std::clamp<std::int64_t>(domain, 1, std::max<std::int64_t>(mesh.world, 1));
}

Failure lose_node(const Plan& plan, const Mesh& mesh, std::int64_t node) {
    Failure f;
    const std::int64_t size = node_size(mesh, plan.cluster);
    if (node < 0 || node >= (mesh.world + size - 1) / size) return f;
    const std::int64_t begin = node * size, end = std::min(mesh.world, begin + size);
    f.first_rank = begin;
    f.lost = end - begin;
    std::vector<std::int64_t> scratch;
    for (const GroupKind kind : all_of<GroupKind>()) {
        if (is_expert(kind) && !mesh.has_experts) continue;
        std::int64_t degree = 1;
        const GroupFactors factors = group_factors(mesh, kind);
        for (const Factor& x : factors.span()) degree *= x.size;
        if (degree == 1) continue;
        const std::int64_t hit = groups_touched(mesh, kind, begin, end, scratch);
        f.axes.push_back({kind, hit, mesh.world / degree, hit * degree - f.lost});
    }
    f.waiting = mesh.world - f.lost;
    // A replica is a data-parallel coordinate: its ranks share everything but tp, cp and pp.
    std::int64_t dp = 1;
    const GroupFactors replicas = group_factors(mesh, GroupKind::dp);
    for (const Factor& x : replicas.span()) dp *= x.size;
    f.replicas = dp;
    scratch.clear();
    for (std::int64_t r = begin; r < end; ++r) {
        const Coordinates c = dense_coordinates(mesh, r);
        scratch.push_back(c[Axis::dp_replicate] * mesh.dense[Axis::dp_shard].size + c[Axis::dp_shard]);
    }
    std::sort(scratch.begin(), scratch.end());
    f.replicas_hit = std::unique(scratch.begin(), scratch.end()) - scratch.begin();
    f.state_survives = copies_survive(plan, mesh, begin, end);
    return f;
}

}  // namespace pentamesh
