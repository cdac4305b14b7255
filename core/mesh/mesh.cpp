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
// Says on which side the ranks of one weight's shards (Mesh::weight_shards) are: on that of data parallelism,
// in the group, or out of it.
enum class WeightShards : std::uint8_t { follow, in, out };
// Says which axes of which mesh make up a group kind.
struct KindAxes {
    std::string_view name;
    bool expert;
    unsigned axes;
    WeightShards shards = WeightShards::follow;
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
    {"gtp_remat", false, 0, WeightShards::in},
    {"dp_without_gtp_remat", false, kBothDp, WeightShards::out},
    {"dp_cp_without_gtp_remat", false, kBothDp | bit(Axis::cp), WeightShards::out},
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

// Megatron lays the shards of a weight between tp and cp (parallel_state.py, _inject_gtp_remat_axis). Where
// they take all of data parallelism, cp goes outside it; where they take a part, the order stays.
void lay_weight_shards(const Plan& plan, Mesh& mesh) {
    const std::int64_t shards = plan.layout.weight_shards.value_or(1);
    if (shards <= 1) return;
    const std::int64_t dp = data_parallel(plan);
    if (dp < 1 || dp % shards != 0) return;
    mesh.weight_shards = shards;
    if (shards != dp) return;
    auto cp = std::find(mesh.order.begin(), mesh.order.end(), Axis::cp), end = cp + 1;
    for (auto a = end; a != mesh.order.end() && (mesh.dense[*a].size == 1 || (bit(*a) & kBothDp)); ++a)
        if (bit(*a) & kBothDp) end = a + 1;
    std::rotate(cp, cp + 1, end);
}

// Calls f(axis, factor, whether it is of weight shards) from the innermost out, with `shards` of data
// parallelism apart.
template <typename F>
void for_each_factor(const Mesh& mesh, const EnumArray<Axis, Factor>& factors, std::int64_t shards, F&& f) {
    for (const Axis a : mesh.order) {
        Factor x = factors[a];
        if (shards > 1 && (bit(a) & kBothDp)) {
            const std::int64_t n = std::gcd(shards, x.size);
            if (n > 1) f(a, Factor{n, x.stride}, true);
            x = {x.size / n, x.stride * n};
            shards /= n;
        }
        if (x.size > 1) f(a, x, false);
    }
}

// Returns the axes of a kind without weight shards: none where it is of these, and the mesh has none.
unsigned axes_without_shards(const Mesh& mesh, const KindAxes& kind) {
    return kind.shards == WeightShards::out && mesh.weight_shards == 1 ? 0 : kind.axes;
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
bool is_of_weight_shards(GroupKind kind) {
    return axes_of(kind).shards != WeightShards::follow;
}
bool is_data_parallel(GroupKind kind) {
    return (axes_of(kind).axes & kBothDp) != 0 || is_of_weight_shards(kind);
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
    lay_weight_shards(plan, mesh);
    mesh.world = lay_strides(mesh.order, mesh.dense);
    if (mesh.world == 0) {
        mesh.dense.fill({});
        mesh.weight_shards = 1;
        return mesh;
    }
    mesh.has_experts = plan.model.moe && fold_experts(l, mesh);
    if (!mesh.has_experts) mesh.expert.fill({});
    return mesh;
}

Split split_factors(const Mesh& mesh, GroupKind kind) {
    const KindAxes& k = axes_of(kind);
    const unsigned axes = axes_without_shards(mesh, k);
    const std::int64_t apart = k.shards == WeightShards::follow ? 1 : mesh.weight_shards;
    Split s;
    for_each_factor(mesh, factors_of(mesh, kind), apart, [&](Axis a, const Factor& f, bool shards) {
        if (shards ? k.shards == WeightShards::in : (axes & bit(a)) != 0) {
            s.group.push(f);
            s.degree *= f.size;
        } else {
            s.rest.push(f);
        }
    });
    return s;
}

EnumArray<GroupKind, unsigned> axes_in_force(const Mesh& mesh) {
    unsigned dense = 0, expert = 0;
    for_each_factor(mesh, mesh.dense, mesh.weight_shards, [&](Axis a, const Factor&, bool shards) {
        dense |= bit(a) << (shards ? kAxisCount : 0);
    });
    for (const Axis a : mesh.order)
        if (mesh.expert[a].size > 1) expert |= bit(a);
    EnumArray<GroupKind, unsigned> out;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const KindAxes& k = kKinds[i];
        const unsigned axes = axes_without_shards(mesh, k);
        const unsigned shards = k.shards == WeightShards::follow ? axes & kBothDp
                                : k.shards == WeightShards::in   ? kBothDp
                                                                 : 0;
        out[i] = (axes | shards << kAxisCount) & (k.expert ? expert : dense);
    }
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
