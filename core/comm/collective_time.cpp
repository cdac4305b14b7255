#include "core/comm/collective_time.h"

#include "core/mesh/mesh.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Returns the time of one direction of a hierarchical ring: all-gather from the outside in, or reduce-scatter
// from the inside out. On tier i a rank passes on (ways - 1) pieces of the buffer's share that the faster
// tiers leave it.
double ring_pass(const Route& r, double buffer) {
    double time = 0, inside = 1;
    for (int i = 0; i < r.parts; ++i) {
        const RoutePart& p = r.part[i];
        time += pass_time(p, buffer / inside);
        inside *= p.ways;
    }
    return time;
}

// If the switches add up, a rank sends its share once and gets the sum back on the other direction.
double all_reduce(const Route& r, double buffer) {
    double time = 0, inside = 1;
    for (int i = 0; i < r.parts; ++i) {
        const RoutePart& p = r.part[i];
        const double share = buffer / inside;
        const double rings = 2 * pass_time(p, share);
        const bool switched = p.in_network_reduction && p.ways > 1;
        time += switched ? std::min(rings, 2 * p.latency_s + share / p.bytes_per_s) : rings;
        inside *= p.ways;
    }
    return time;
}

// All peers talk at once: the tiers work at the same time, the slowest decides.
double all_to_all(const Route& r, const Efficiency& e, double buffer, double slow_share, bool forwarded) {
    double time = 0, latency = 0, inside = 1;
    for (int i = 0; i < r.parts; ++i) {
        const RoutePart& p = r.part[i];
        const double rate = p.link_bytes_per_s * all_to_all_share(e, i);
        const double reached = i == 0 && forwarded ? p.members : r.degree;
        const double bytes = (p.members - inside) / reached * buffer * (i == 0 ? 1 : slow_share);
        time =
            std::max(time, p.torus.count > 0 ? torus_exchange_s(p.torus, p.members / reached * buffer, rate)
                                             : bytes / rate);
        if (p.members > inside) latency = std::max(latency, p.latency_s);
        inside = p.members;
    }
    return time + latency;
}

// Returns how much more of its NIC a rank has that sends to one other, while all of its node are silent but
// the ranks that send the same.
double nic_gain(const Route& r) {
    return r.gpus_per_nic / std::min(r.gpus_per_nic, r.senders);
}

// The hop that everybody waits for is the one over the slowest tier.
double send(const Route& r, double buffer) {
    double time = 0;
    for (int i = 0; i < r.parts; ++i) {
        const RoutePart& p = r.part[i];
        const double rate = p.bytes_per_s * (i > 0 ? nic_gain(r) : 1);
        if (p.ways <= 1) continue;
        time = std::max(time, p.torus.count > 0 ? torus_send_s(p.torus, buffer, rate, p.latency_s)
                                                : p.latency_s + buffer / rate);
    }
    return time;
}

template <typename F>
Route refold(const Route& route, double degree, F&& members_of) {
    Route r = route;
    r.degree = degree;
    double inside = 1;
    for (int i = 0; i < r.parts; ++i) {
        RoutePart& p = r.part[i];
        p.members = members_of(p.members);
        p.ways = p.members / inside;
        inside = p.members;
    }
    return r;
}

// A group that has a rank in every `stride` leaves a node from as many ranks at its end, and the other way
// from as many at its beginning: these meet where the node has one NIC. Where a node does not hold whole
// strides, others send too: nothing is gained.
void note_senders(const Cluster& cluster, const GroupFactors& group, Route& r) {
    const std::int64_t node = domain_of(cluster, 0), stride = group.count > 0 ? group.factor[0].stride : node;
    if (stride <= 0 || node % stride != 0) return;
    r.gpus_per_nic = gpus_per_nic(cluster);
    const bool one_nic = r.gpus_per_nic >= static_cast<double>(node);
    r.senders = static_cast<double>(stride) * (one_nic ? 2 : 1);
}

}  // namespace

Route find_route(const Plan& plan, const Mesh& mesh, const GroupSummary& summary) {
    const Cluster& cluster = plan.cluster;
    const Efficiency& e = cluster.gpu.efficiency;
    Route r;
    r.degree = static_cast<double>(summary.degree);
    if (cluster.tiers.empty() || summary.degree <= 1) return r;
    r.parts = std::clamp(summary.slowest_tier + 1, 1,
                         static_cast<int>(std::min<std::size_t>(cluster.tiers.size(), kMaxTiers)));
    const GroupFactors group = group_factors(mesh, summary.kind);
    note_senders(cluster, group, r);
    double inside = 1;
    for (int i = 0; i < r.parts; ++i) {
        const Tier& t = cluster.tiers[i];
        RoutePart& p = r.part[i];
        p.members =
            i + 1 == r.parts
                ? r.degree
                : std::max(inside,
                           static_cast<double>(count_below(
                               group.span(),
                               std::max<std::int64_t>(domain_of(cluster, static_cast<std::size_t>(i)), 1))));
        p.ways = p.members / inside;
        p.link_bytes_per_s = t.bytes_per_s / t.oversubscription;
        p.bytes_per_s = p.link_bytes_per_s * link_share(e, i);
        p.latency_s = t.latency_s;
        p.in_network_reduction = t.in_network_reduction;
        if (i == 0) p.torus = torus_ways(t.torus, group.span());
        inside = p.members;
    }
    return r;
}

double pass_time(const RoutePart& p, double buffer) {
    if (p.torus.count > 0) return torus_gather_s(p.torus, buffer, p.bytes_per_s, p.latency_s);
    return (p.ways - 1) * p.latency_s + (p.ways - 1) / p.ways * buffer / p.bytes_per_s;
}

Route within(const Route& route, double inner) {
    Route r = refold(route, inner, [inner](double members) { return std::min(members, inner); });
    r.part[0].torus = inner_ways(r.part[0].torus, inner);
    return r;
}

Route beyond(const Route& route, double inner) {
    Route r = refold(route, route.degree / inner,
                     [inner](double members) { return std::max(members / inner, 1.0); });
    r.senders *= inner;
    r.part[0].torus = outer_ways(r.part[0].torus, inner);
    return r;
}

int slowest_tier(const Route& r) {
    int slowest = 0;
    for (int i = 0; i < r.parts; ++i)
        if (r.part[i].ways > 1) slowest = i;
    return slowest;
}

double link_share(const Efficiency& e, int tier) {
    return tier == 0 ? e.fast_link : e.slow_link;
}

double all_to_all_share(const Efficiency& e, int tier) {
    constexpr double kOverRing = 0.9;
    return tier == 0 ? kOverRing * link_share(e, tier) : e.all_to_all;
}

double collective_time(const Route& r, const Efficiency& e, Collective c, double buffer, double slow_share,
                       bool forwarded) {
    if (r.degree <= 1 || r.parts == 0) return 0;
    switch (c) {
    case Collective::all_gather:
    case Collective::reduce_scatter: return ring_pass(r, buffer);
    case Collective::all_reduce: return all_reduce(r, buffer);
    case Collective::all_to_all: return all_to_all(r, e, buffer, slow_share, forwarded);
    case Collective::send_recv: return send(r, buffer);
    }
    return 0;
}

double call_time(const Plan& plan, const Route& whole, const Operation& o) {
    const Efficiency& e = plan.cluster.gpu.efficiency;
    const double n = static_cast<double>(o.group_size);
    if (n >= whole.degree || o.group == GroupKind::pp)
        return collective_time(whole, e, o.collective, o.message_bytes, o.slow_share, o.forwarded);
    // The call is over a half of context parallelism: heads are exchanged inside, the ring closes outside.
    const Route part =
        o.collective == Collective::send_recv ? beyond(whole, whole.degree / n) : within(whole, n);
    return collective_time(part, e, o.collective, o.message_bytes, o.slow_share);
}

}  // namespace pentamesh
