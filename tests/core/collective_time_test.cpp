#include "core/comm/collective_time.h"

#include "plans.h"
#include "routes.h"
#include "tests/near.h"

#include <random>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

constexpr std::array kAll{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                          Collective::all_to_all, Collective::send_recv};

Plan over(std::int64_t gpus, const char* cluster = "h100-sxm-ib") {
    Plan p = small_plan(gpus);
    p.cluster = shipped_cluster(cluster, gpus);
    p.cluster.gpu.efficiency.fast_link = p.cluster.gpu.efficiency.slow_link = 1;
    p.cluster.gpu.efficiency.all_to_all = 1;
    return p;
}

double time_of(const Plan& plan, GroupKind kind, Collective c, double bytes) {
    return collective_time(route_of(plan, kind), plan.cluster.gpu.efficiency, c, bytes);
}

double gather_s(const Route& route, double bytes) {
    return collective_time(route, {}, Collective::all_gather, bytes);
}

Route without_nics(Route route) {
    route.gpus_per_nic = 1;
    return route;
}

Route without_latency(Route route) {
    for (RoutePart& p : route.part) p.latency_s = 0;
    return route;
}

}  // namespace

TEST_CASE("inside a fast domain a ring takes its steps' latency and its bytes over the link") {
    const Plan p = over(8);
    const double s = 1e9, alpha = p.cluster.tiers[0].latency_s, beta = p.cluster.tiers[0].bytes_per_s;
    const double half = 7 * alpha + 7.0 / 8 * s / beta;
    CHECK(time_of(p, GroupKind::dp_shard, Collective::all_gather, s) == near(half));
    CHECK(time_of(p, GroupKind::dp_shard, Collective::reduce_scatter, s) == near(half));
    CHECK(time_of(p, GroupKind::dp_shard, Collective::all_reduce, s) == near(2 * half));
    CHECK(time_of(p, GroupKind::dp_shard, Collective::send_recv, s) == near(alpha + s / beta));
}

TEST_CASE("a group over nodes goes hierarchically: all NICs of a node carry its share") {
    const Plan p = over(64);
    const double s = 1e9;
    const Tier &in = p.cluster.tiers[0], &out = p.cluster.tiers[1];
    const double want = 7 * in.latency_s + 7.0 / 8 * s / in.bytes_per_s + 7 * out.latency_s
                        + 7.0 / 8 * (s / 8) / out.bytes_per_s;
    CHECK(time_of(p, GroupKind::dp_shard, Collective::all_gather, s) == near(want));
}

TEST_CASE("a group with one rank per node has its own NIC alone") {
    Plan p = over(64);
    p.layout.tp = 8, p.layout.dp_shard = 8;
    const double s = 1e9;
    const Tier& out = p.cluster.tiers[1];
    CHECK(time_of(p, GroupKind::dp_shard, Collective::all_gather, s)
          == near(7 * out.latency_s + 7.0 / 8 * s / out.bytes_per_s));
}

TEST_CASE("a rank that sends while the GPUs of its NIC are silent has more of it") {
    Plan p = over(64);
    p.layout.pp = 16, p.layout.dp_shard = 4;
    p.cluster.tiers[1].bytes_per_s = 4 * 50e9 / 8;  // four NICs of 50 GB/s for eight GPUs
    const double s = 1e9, alpha = p.cluster.tiers[1].latency_s;
    const auto send = [&](std::initializer_list<Axis> order, std::int64_t nics) {
        p.cluster.tiers[1].nics = nics;
        std::copy(order.begin(), order.end(), p.layout.order.begin());
        return time_of(p, GroupKind::pp, Collective::send_recv, s);
    };
    const auto inner = {Axis::pp, Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate};
    const auto outer = {Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp};
    // The innermost pipeline sends from the last GPU of a node only. The outermost has a rank in every 4
    // GPUs: both GPUs of a NIC send.
    CHECK(send(inner, 0) == near(alpha + s / 25e9));
    CHECK(send(inner, 8) == near(alpha + s / 25e9));
    CHECK(send(inner, 4) == near(alpha + s / 50e9));
    CHECK(send(inner, 2) == near(alpha + s / 100e9));
    CHECK(send(outer, 4) == near(alpha + s / 25e9));
    CHECK(send(outer, 1) == near(alpha + s / 25e9));  // both ends of the node send by it
    CHECK(send(inner, 1) == near(alpha + s / 100e9));
    // Ulysses inside a node, a ring of nodes outside it: all eight ranks of a node send.
    p.layout.cp = 16, p.layout.cp_inner = 8, p.layout.pp = 1, p.layout.dp_shard = 4;
    p.cluster.tiers[1].nics = 4;
    const Route ring_of_nodes = beyond(route_of(p, GroupKind::cp), 8);
    CHECK(collective_time(ring_of_nodes, {}, Collective::send_recv, s)
          == near(collective_time(without_nics(ring_of_nodes), {}, Collective::send_recv, s)));
    p.layout.cp = 1, p.layout.cp_inner.reset();
    // In a ring of all ranks of a node every GPU sends its part.
    p.layout.pp = 1, p.layout.dp_shard = 64;
    const double ring = time_of(p, GroupKind::dp_shard, Collective::all_gather, s);
    p.cluster.tiers[1].nics = 0;
    CHECK(time_of(p, GroupKind::dp_shard, Collective::all_gather, s) == ring);
}

TEST_CASE("above the pod the oversubscription divides the bandwidth") {
    Plan p = over(2 * 3072, "llama3-roce");
    const double s = 1e9;
    const auto spine = [&] { return route_of(p, GroupKind::dp_shard).part[2].bytes_per_s; };
    CHECK(spine() == near(50e9 / 7));
    const double slow = time_of(p, GroupKind::dp_shard, Collective::all_gather, s);
    p.cluster.tiers[2].oversubscription = 1;
    CHECK(spine() == near(50e9));
    CHECK(time_of(p, GroupKind::dp_shard, Collective::all_gather, s) < slow);
}

TEST_CASE("an all-to-all sends to every tier at once and waits for the slowest") {
    const Plan p = over(64);
    const double s = 1e9;
    const Tier& out = p.cluster.tiers[1];
    CHECK(time_of(p, GroupKind::dp_shard, Collective::all_to_all, s)
          == near(56.0 / 64 * s / out.bytes_per_s + out.latency_s));
}

TEST_CASE("a node-aware kernel's share cuts the slow tier's bytes alone") {
    const Plan p = over(64);
    const Route r = route_of(p, GroupKind::dp_shard);
    const Efficiency& e = p.cluster.gpu.efficiency;
    const double whole = collective_time(r, e, Collective::all_to_all, 1e9, 1);
    const double half = collective_time(r, e, Collective::all_to_all, 1e9, 0.5);
    CHECK(half - r.part[1].latency_s == near((whole - r.part[1].latency_s) / 2));
}

TEST_CASE("switches that add up shorten an all-reduce and nothing else") {
    Plan p = over(64);
    std::array<double, 5> before{};
    for (std::size_t i = 0; i < kAll.size(); ++i) before[i] = time_of(p, GroupKind::dp_shard, kAll[i], 1e9);
    for (Tier& t : p.cluster.tiers) t.in_network_reduction = true;
    CHECK(time_of(p, GroupKind::dp_shard, kAll[0], 1e9) < before[0]);
    for (std::size_t i = 1; i < kAll.size(); ++i)
        CHECK(time_of(p, GroupKind::dp_shard, kAll[i], 1e9) == before[i]);
}

TEST_CASE("the ranks inside and the lots beyond make up the whole route") {
    const Plan p = over(64);
    const Route whole = route_of(p, GroupKind::dp_shard);
    for (const double inner : {2.0, 8.0, 16.0, 32.0}) {
        const Route in = within(whole, inner), out = beyond(whole, inner);
        CHECK(in.degree * out.degree == whole.degree);
        double ways = 1;
        for (int i = 0; i < whole.parts; ++i) ways *= in.part[i].ways * out.part[i].ways;
        CHECK(ways == near(whole.degree));
        // Gathering inside first and then beyond moves what gathering at once moves.
        const double parts = gather_s(without_latency(in), 1e9) + gather_s(without_latency(out), 1e9 / inner);
        CHECK(parts == near(gather_s(without_latency(whole), 1e9)));
        // A ring waits once for each rank but one: 8 in a node (a domain of NVLink), 8 nodes.
        const double alpha = whole.part[0].latency_s, beta = whole.part[1].latency_s;
        const double in_node = std::min(inner, 8.0), nodes = inner / in_node;
        CHECK(gather_s(in, 0) == near((in_node - 1) * alpha + (nodes - 1) * beta));
        CHECK(gather_s(out, 0) == near((8 / in_node - 1) * alpha + (8 / nodes - 1) * beta));
    }
}

TEST_CASE("more bandwidth never takes longer, more bytes never less time, one rank none at all") {
    std::mt19937 rng(3);
    for (int i = 0; i < 300; ++i) {
        Plan p = over(64 << rng() % 4, rng() % 2 ? "h100-sxm-ib" : "gb200-nvl72");
        p.layout.tp = 1 << rng() % 4;
        p.layout.dp_shard = p.cluster.gpus / p.layout.tp;
        const Collective c = kAll[rng() % kAll.size()];
        const GroupKind kind = rng() % 2 ? GroupKind::tp : GroupKind::dp_shard;
        const double bytes = 1e3 * static_cast<double>(1 + rng() % 1000000);
        const double t = time_of(p, kind, c, bytes);
        CHECK(time_of(p, kind, c, 2 * bytes) >= t);
        if (p.layout.tp == 1 && kind == GroupKind::tp) CHECK(t == 0);
        Plan faster = p;
        faster.cluster.tiers[rng() % 2].bytes_per_s *= 1.5;
        CHECK(time_of(faster, kind, c, bytes) <= t);
    }
}

TEST_CASE(
    "groups with one rank or more in a node keep its NICs as busy: together they have what the node has") {
    const Plan all = over(64);
    const double s = 1e9, nics = 8 * all.cluster.tiers[1].bytes_per_s;
    for (const std::int64_t tp : {1, 2, 4, 8}) {
        CAPTURE(tp);
        Plan p = all;
        p.layout.tp = tp, p.layout.dp_shard = 64 / tp;
        const Route route = without_latency(route_of(p, GroupKind::dp_shard));
        const double inside = 8.0 / static_cast<double>(tp);  // ranks of a group in a node
        const double fast = (inside - 1) / inside * s / p.cluster.tiers[0].bytes_per_s;
        // tp groups of a node, each of which sends 7/8 of its buffer out of it.
        const double out = static_cast<double>(tp) * 7.0 / 8 * s / nics;
        CHECK(gather_s(route, s) == near(fast + out));
    }
}
