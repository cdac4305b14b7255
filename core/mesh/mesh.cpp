#include "core/mesh/mesh.h"

#include "core/plan/edits.h"
#include "core/plan/software.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace pentamesh {

std::string_view name_of(Collective c) {
    constexpr std::array<std::string_view, 5> names{"all_reduce", "all_gather", "reduce_scatter",
                                                    "all_to_all", "send_recv"};
    return names[static_cast<std::size_t>(c)];
}
std::string_view words_of(Collective c) {
    constexpr std::array<std::string_view, 5> words{"all-reduce", "all-gather", "reduce-scatter",
                                                    "all-to-all", "send-recv"};
    return words[static_cast<std::size_t>(c)];
}

double sent_bytes(Collective c, std::int64_t n, double buffer_bytes) {
    if (n <= 1) return 0;
    const double share = static_cast<double>(n - 1) / static_cast<double>(n);
    switch (c) {
    case Collective::all_reduce: return 2 * share * buffer_bytes;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all: return share * buffer_bytes;
    case Collective::send_recv: return buffer_bytes;
    }
    return 0;
}

Degrees degrees_of(const Plan& plan, const Mesh& mesh) {
    const auto dense = [&](Axis a) { return mesh.dense[a].size; };
    const auto expert = [&](Axis a) { return mesh.expert[a].size; };
    Degrees d;
    d.tp = dense(Axis::tp);
    d.cp = dense(Axis::cp);
    d.pp = dense(Axis::pp);
    d.dense_shard = saturating_product(dense(Axis::dp_shard), d.cp);
    d.sequence_parallel = plan.layout.sequence_parallel && d.tp > 1;
    d.vocab_multiple = vocab_multiple_of(plan);
    d.replicate = dense(Axis::dp_replicate);
    // Without ZeRO, shards and replicas are two names of one group.
    const int data_parallel = plan.layout.zero == 0 ? (d.dense_shard > 1 || d.replicate > 1)
                                                    : (d.dense_shard > 1) + (d.replicate > 1);
    d.communicators = (d.tp > 1) + (d.cp > 1) + (d.pp > 1) + data_parallel;
    if (mesh.has_experts) {
        d.etp = expert(Axis::tp);
        d.ep = expert(Axis::ep);
        d.expert_shard = expert(Axis::dp_shard);
        if (d.ep > 1 || d.etp != d.tp)
            d.expert_communicators =
                (d.ep > 1) + (d.etp > 1) + (d.expert_shard > 1 || expert(Axis::dp_replicate) > 1);
        d.communicators += d.expert_communicators;
    }
    return d;
}

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
    {"edp_shard", true, bit(Axis::dp_shard)},
    {"edp_replicate", true, bit(Axis::dp_replicate)},
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

constexpr bool is_part_of_edp(const KindAxes& kind) {
    return kind.expert && (kind.axes == bit(Axis::dp_shard) || kind.axes == bit(Axis::dp_replicate));
}

// Returns the axes of a kind without weight shards: none where the mesh has no groups of it.
unsigned axes_without_shards(const Mesh& mesh, GroupKind kind) {
    return has_kind(mesh, kind) ? axes_of(kind).axes : 0;
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
bool is_part_of_edp(GroupKind kind) {
    return is_part_of_edp(axes_of(kind));
}
bool has_kind(const Mesh& mesh, GroupKind kind) {
    if (is_of_weight_shards(kind)) return mesh.weight_shards > 1;
    if (!is_expert(kind)) return true;
    return mesh.has_experts
           && (!is_part_of_edp(kind)
               || (mesh.expert[Axis::dp_shard].size > 1 && mesh.expert[Axis::dp_replicate].size > 1));
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
    const unsigned axes = axes_without_shards(mesh, kind);
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
        const unsigned axes = axes_without_shards(mesh, static_cast<GroupKind>(i));
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

// Counts from strides how many groups of a kind lie inside the domains of each tier.

namespace {

// Returns the distance from a group's first rank to its last.
std::int64_t reach(const Factors& group) {
    std::int64_t sum = 0;
    for (const Factor& f : group.span()) sum += (f.size - 1) * f.stride;
    return sum;
}

// Counts groups whose ranks all lie in one block of `domain` consecutive ranks: those with first mod domain +
// reach < domain. A first rank is low + k * extent. extent = size * stride of the group's outermost factor;
// low runs over the digits inside it. k * extent mod domain has the period domain / gcd(extent, domain). For
// each of its values all lows that fit are counted at once.
std::int64_t groups_inside(const Split& s, std::int64_t world, std::int64_t groups, std::int64_t domain) {
    if (world <= domain || s.group.count == 0) return groups;
    const Factor top = s.group.factor[s.group.count - 1];
    const std::int64_t extent = top.size * top.stride;
    if (domain % extent == 0) return groups;
    const std::int64_t room = domain - reach(s.group);
    if (room <= 0) return 0;

    std::size_t inner = 0;
    while (inner < s.rest.count && s.rest.factor[inner].stride < top.stride) ++inner;
    const std::span<const Factor> low = s.rest.span().first(inner);
    const std::int64_t outer = world / extent, period = domain / std::gcd(extent, domain);
    const std::int64_t rounds = outer / period, left = outer % period, step = extent % domain;
    std::int64_t inside = 0, offset = 0;
    for (std::int64_t k = 0, end = std::min(outer, period); k < end; ++k) {
        // Since low < stride of the outermost factor <= reach < domain, it passes a domain's end at most
        // once.
        const std::int64_t wrap = domain - offset;
        const std::int64_t lows =
            count_below(low, room - offset) + count_below(low, wrap + room) - count_below(low, wrap);
        inside += lows * (rounds + (k < left ? 1 : 0));
        offset += step;
        if (offset >= domain) offset -= domain;
    }
    return inside;
}

// Returns the smallest common multiple, or `limit` where that is reached.
std::int64_t common_multiple(std::int64_t a, std::int64_t b, std::int64_t limit) {
    const std::int64_t step = a / std::gcd(a, b);
    return step >= limit / b + 1 ? limit : std::min(limit, step * b);
}

// Counts groups inside a domain of any of the first `tiers` tiers, one by one: for domains that do not nest.
// The picture repeats after the common multiple of the domains and the groups' extent, so one period is
// enough.
std::int64_t enumerate_inside(const Split& s, std::int64_t world, const Cluster& cluster, std::size_t tiers) {
    const std::int64_t span = reach(s.group);
    const Factor top = s.group.factor[s.group.count - 1];
    const std::int64_t extent = top.size * top.stride, outer = world / extent;
    std::int64_t repeat = extent;
    for (std::size_t i = 0; i < tiers; ++i)
        repeat = common_multiple(repeat, std::max<std::int64_t>(domain_of(cluster, i), 1), world);
    const std::int64_t period = repeat < world ? repeat / extent : outer;
    const std::int64_t rounds = outer / period, left = outer % period;

    std::size_t inner = 0;
    while (inner < s.rest.count && s.rest.factor[inner].stride < top.stride) ++inner;
    const std::span<const Factor> low = s.rest.span().first(inner);
    std::int64_t inside = 0;
    for (std::int64_t k = 0, end = std::min(outer, period); k < end; ++k) {
        const std::int64_t times = rounds + (k < left ? 1 : 0);
        for_each_sum(low, [&](std::int64_t offset) {
            const std::int64_t first = k * extent + offset;
            for (std::size_t i = 0; i < tiers; ++i) {
                const std::int64_t domain = std::max<std::int64_t>(domain_of(cluster, i), 1);
                if (first % domain + span >= domain) continue;
                inside += times;
                return;
            }
        });
    }
    return inside;
}

// Returns true if every smaller tier's domains lie whole in those of `tier`.
bool nests(const Cluster& cluster, std::size_t tier) {
    const std::int64_t domain = domain_of(cluster, tier);
    for (std::size_t i = 0; i < tier; ++i)
        if (domain_of(cluster, i) < 1 || domain % domain_of(cluster, i) != 0) return false;
    return true;
}

}  // namespace

GroupSummary summarize(const Mesh& mesh, const Cluster& cluster, GroupKind kind) {
    GroupSummary out;
    out.kind = kind;
    if (mesh.world == 0 || (is_expert(kind) && !mesh.has_experts)) return out;
    const Split s = split_factors(mesh, kind);
    out.degree = s.degree;
    out.groups = mesh.world / s.degree;

    const std::size_t tiers = std::clamp<std::size_t>(cluster.tiers.size(), 1, kMaxTiers);
    std::int64_t within = 0;  // groups inside this tier or a faster one
    for (std::size_t i = 0; i < tiers && within < out.groups; ++i) {
        std::int64_t now = out.groups;
        if (i + 1 < tiers) {
            now = groups_inside(s, mesh.world, out.groups, std::max<std::int64_t>(domain_of(cluster, i), 1));
            if (within > 0 && now < out.groups && !nests(cluster, i))
                now = enumerate_inside(s, mesh.world, cluster, i + 1);
        }
        out.by_tier[i] = now - within;
        if (now > within) out.slowest_tier = static_cast<int>(i);
        within = now;
    }

    const std::int64_t fast =
        cluster.tiers.empty() ? mesh.world : std::clamp<std::int64_t>(domain_of(cluster, 0), 1, mesh.world);
    out.per_fast_domain = count_below(s.group.span(), fast);
    out.sharing_node = count_below(s.rest.span(), fast);
    return out;
}

void summarize(const Mesh& mesh, const Cluster& cluster, GroupSummaries& out) {
    const EnumArray<GroupKind, unsigned> axes = axes_in_force(mesh);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto kind = static_cast<GroupKind>(i);
        std::size_t alike = 0;
        while (alike < i
               && (axes[alike] != axes[i] || is_expert(static_cast<GroupKind>(alike)) != is_expert(kind)))
            ++alike;
        out[i] = alike < i ? out[alike] : summarize(mesh, cluster, kind);
        out[i].kind = kind;
    }
}

}  // namespace pentamesh
