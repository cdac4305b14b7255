// Counts from strides how many groups of a kind lie inside the domains of each tier.
#include "core/mesh/mesh.h"
#include "core/mesh/mesh_factors.h"

#include <algorithm>
#include <numeric>

namespace pentamesh {
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
