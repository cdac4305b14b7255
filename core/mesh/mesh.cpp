#include "core/mesh/mesh.h"

#include "core/mesh/mesh_factors.h"
#include "core/plan/factors.h"

#include <algorithm>
#include <numeric>

namespace pentamesh {
namespace {

constexpr unsigned bit(Axis a) {
    return 1U << static_cast<unsigned>(a);
}
// Says which axes of which mesh make up a group kind.
struct KindAxes {
    std::string_view name;
    bool expert;
    unsigned axes;
};
constexpr unsigned kBothDp = bit(Axis::dp_shard) | bit(Axis::dp_replicate);
constexpr std::array<KindAxes, kGroupKindCount> kKinds{{
    {"tp", false, bit(Axis::tp)},
    {"cp", false, bit(Axis::cp)},
    {"dp_shard", false, bit(Axis::dp_shard)},
    {"dp_replicate", false, bit(Axis::dp_replicate)},
    {"pp", false, bit(Axis::pp)},
    {"dp", false, kBothDp},
    {"dp_cp", false, kBothDp | bit(Axis::cp)},
    {"fsdp", false, bit(Axis::dp_shard) | bit(Axis::cp)},
    {"tp_cp", false, bit(Axis::tp) | bit(Axis::cp)},
    {"mp", false, bit(Axis::tp) | bit(Axis::pp)},
    {"etp", true, bit(Axis::tp)},
    {"ep", true, bit(Axis::ep)},
    {"edp", true, kBothDp},
    {"etp_ep", true, bit(Axis::tp) | bit(Axis::ep)},
}};
const KindAxes& axes_of(GroupKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

const EnumArray<Axis, Factor>& factors_of(const Mesh& mesh, GroupKind kind) {
    return axes_of(kind).expert ? mesh.expert : mesh.dense;
}

// Gives each factor the product of those inside it. Returns the product of all, 0 beyond kMaxWorld.
std::int64_t lay_strides(const std::array<Axis, kAxisCount>& order, EnumArray<Axis, Factor>& factors) {
    std::int64_t product = 1;
    for (const Axis a : order) {
        Factor& f = factors[a];
        f.stride = product;
        if (f.size > kMaxWorld / product) return 0;
        product *= f.size;
    }
    return product;
}

std::int64_t at_least_one(std::int64_t n) {
    return std::max<std::int64_t>(n, 1);
}

// Re-folds the ranks for the experts. Returns false where the world does not divide or the pipelines differ.
bool fold_experts(const Layout& layout, Mesh& mesh) {
    const std::int64_t tp = mesh.dense[Axis::tp].size;
    const std::int64_t etp = at_least_one(layout.etp.value_or(tp)), ep = at_least_one(layout.ep);
    const Factor pp = mesh.dense[Axis::pp];
    const std::int64_t per_stage = mesh.world / pp.size;
    if (etp > per_stage || ep > per_stage / etp || per_stage % (etp * ep) != 0) return false;

    const std::int64_t edp = per_stage / (etp * ep);
    const std::int64_t replicate = std::gcd(mesh.dense[Axis::dp_replicate].size, edp);
    mesh.expert[Axis::tp].size = etp;
    mesh.expert[Axis::ep].size = ep;
    mesh.expert[Axis::dp_shard].size = edp / replicate;
    mesh.expert[Axis::dp_replicate].size = replicate;
    mesh.expert[Axis::pp].size = pp.size;
    lay_strides(mesh.order, mesh.expert);
    return pp.size == 1 || mesh.expert[Axis::pp].stride == pp.stride;
}

Coordinates coordinates(const EnumArray<Axis, Factor>& factors, std::int64_t rank) {
    Coordinates c{};
    for (std::size_t i = 0; i < factors.size(); ++i) c[i] = rank / factors[i].stride % factors[i].size;
    return c;
}

}  // namespace

std::string_view name_of(GroupKind kind) {
    return axes_of(kind).name;
}
bool is_expert(GroupKind kind) {
    return axes_of(kind).expert;
}
bool is_data_parallel(GroupKind kind) {
    return (axes_of(kind).axes & kBothDp) != 0;
}
GroupKind group_of(Axis axis) {
    switch (axis) {
    case Axis::tp: break;
    case Axis::cp: return GroupKind::cp;
    case Axis::ep: return GroupKind::ep;
    case Axis::dp_shard: return GroupKind::dp_shard;
    case Axis::dp_replicate: return GroupKind::dp_replicate;
    case Axis::pp: return GroupKind::pp;
    }
    return GroupKind::tp;
}

Mesh build_mesh(const Plan& plan) {
    const Layout& l = plan.layout;
    Mesh mesh;
    mesh.order = l.order;
    mesh.dense[Axis::tp].size = at_least_one(l.tp);
    mesh.dense[Axis::cp].size = at_least_one(l.cp);
    mesh.dense[Axis::dp_shard].size = at_least_one(l.dp_shard);
    mesh.dense[Axis::dp_replicate].size = at_least_one(replicas_in_force(plan));
    mesh.dense[Axis::pp].size = at_least_one(l.pp);
    mesh.world = lay_strides(l.order, mesh.dense);
    if (mesh.world == 0) {
        mesh.dense.fill({});
        return mesh;
    }
    mesh.has_experts = plan.model.moe && fold_experts(l, mesh);
    if (!mesh.has_experts) mesh.expert.fill({});
    return mesh;
}

Split split_factors(const Mesh& mesh, GroupKind kind) {
    const auto& factors = factors_of(mesh, kind);
    const unsigned axes = axes_of(kind).axes;
    Split s;
    for (const Axis a : mesh.order) {
        const Factor& f = factors[a];
        if (f.size <= 1) continue;
        if (axes & bit(a)) {
            s.group.push(f);
            s.degree *= f.size;
        } else {
            s.rest.push(f);
        }
    }
    return s;
}

EnumArray<GroupKind, unsigned> axes_in_force(const Mesh& mesh) {
    unsigned dense = 0, expert = 0;
    for (const Axis a : mesh.order) {
        if (mesh.dense[a].size > 1) dense |= bit(a);
        if (mesh.expert[a].size > 1) expert |= bit(a);
    }
    EnumArray<GroupKind, unsigned> out;
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = kKinds[i].axes & (kKinds[i].expert ? expert : dense);
    return out;
}

GroupFactors group_factors(const Mesh& mesh, GroupKind kind) {
    const Split s = split_factors(mesh, kind);
    GroupFactors out;
    std::copy_n(s.group.factor.begin(), s.group.count, out.factor.begin());
    out.count = static_cast<int>(s.group.count);
    return out;
}

Coordinates dense_coordinates(const Mesh& mesh, std::int64_t rank) {
    return coordinates(mesh.dense, rank);
}
Coordinates expert_coordinates(const Mesh& mesh, std::int64_t rank) {
    return coordinates(mesh.expert, rank);
}

std::int64_t first_rank_of_group(const Mesh& mesh, GroupKind kind, std::int64_t rank) {
    const Split s = split_factors(mesh, kind);
    std::int64_t first = rank;
    for (const Factor& f : s.group.span()) first -= rank / f.stride % f.size * f.stride;
    return first;
}

std::int64_t group_index(const Mesh& mesh, GroupKind kind, std::int64_t rank) {
    const Split s = split_factors(mesh, kind);
    std::int64_t index = 0, below = 1;
    for (const Factor& f : s.rest.span()) {
        index += rank / f.stride % f.size * below;
        below *= f.size;
    }
    return index;
}

std::vector<std::int64_t> group_members(const Mesh& mesh, GroupKind kind, std::int64_t rank) {
    const Split s = split_factors(mesh, kind);
    const std::int64_t first = first_rank_of_group(mesh, kind, rank);
    std::vector<std::int64_t> members;
    members.reserve(static_cast<std::size_t>(s.degree));
    for_each_sum(s.group.span(), [&](std::int64_t offset) { members.push_back(first + offset); });
    return members;
}

std::vector<std::int64_t> all_groups(const Mesh& mesh, GroupKind kind) {
    std::vector<std::int64_t> ranks;
    if (mesh.world == 0 || (is_expert(kind) && !mesh.has_experts)) return ranks;
    const Split s = split_factors(mesh, kind);
    ranks.reserve(static_cast<std::size_t>(mesh.world));
    for_each_sum(s.rest.span(), [&](std::int64_t first) {
        for_each_sum(s.group.span(), [&](std::int64_t offset) { ranks.push_back(first + offset); });
    });
    return ranks;
}

int tier_between(const Cluster& cluster, std::int64_t a, std::int64_t b) {
    const int last = std::clamp(static_cast<int>(cluster.tiers.size()), 1, kMaxTiers) - 1;
    for (int i = 0; i < last; ++i) {
        const std::int64_t domain = at_least_one(domain_of(cluster, static_cast<std::size_t>(i)));
        if (a / domain == b / domain) return i;
    }
    return last;
}

}  // namespace pentamesh
