#include "core/mesh/places.h"

#include "core/comm/collective_time.h"
#include "core/io/plan_json.h"
#include "plans.h"
#include "routes.h"
#include "shipped.h"
#include "tests/near.h"

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

// Returns a pod without latency, whose collectives reach the wire.
Plan pod(std::int64_t gpus, std::int64_t tp, const char* cluster = "tpu-v6e-pod") {
    Plan p = small_plan(gpus);
    p.cluster = presets().cluster(cluster);
    p.cluster.gpus = gpus;
    Efficiency& e = p.cluster.gpu.efficiency;
    e.fast_link = e.slow_link = e.all_to_all = 1;
    p.cluster.tiers[0].latency_s = p.cluster.tiers[1].latency_s = 0;
    p.layout.tp = tp, p.layout.dp_shard = gpus / tp;
    return p;
}

double seconds(const Plan& plan, GroupKind kind, Collective c, double bytes) {
    return collective_time(route_of(plan, kind), plan.cluster.gpu.efficiency, c, bytes);
}

constexpr double kLink = 100e9, kBytes = 1e9;
constexpr double kSwitched = 0.9;  // share that an all-to-all reaches in the first tier (all_to_all_share)

}  // namespace

TEST_CASE("the sizes of a torus are read, anything else is not") {
    REQUIRE(torus_sizes("4x8x16"));
    CHECK(torus_sizes("4x8x16")->size == std::array<std::int64_t, 3>{4, 8, 16});
    CHECK(torus_sizes("16x16")->count == 2);
    for (const char* text : {"", "x", "16x", "16 x 16", "0x4", "2x2x2x2", "-4x4", "4X4"})
        CHECK_FALSE(torus_sizes(text));
}

// "How to Scale Your Model", Sharded Matrices: an all-gather takes V / (W N), where W is what the two
// directions of one dimension carry and N counts the dimensions; an all-reduce twice that; an all-to-all of V
// bytes in all over one ring V / (4 W). V / N comes with (n - 1) / n here, as a rank has its own piece.
TEST_CASE("a group that goes around a torus uses both directions of each dimension") {
    const Plan ring = pod(256, 16), both = pod(256, 1);
    const double w = 2 * kLink;
    CHECK(seconds(ring, GroupKind::tp, Collective::all_gather, kBytes) == near(15.0 / 16 * kBytes / w));
    CHECK(seconds(ring, GroupKind::dp_shard, Collective::all_gather, kBytes) == near(15.0 / 16 * kBytes / w));
    CHECK(seconds(both, GroupKind::dp_shard, Collective::reduce_scatter, kBytes)
          == near(255.0 / 256 * kBytes / (2 * w)));
    CHECK(seconds(both, GroupKind::dp_shard, Collective::all_reduce, kBytes)
          == near(2 * 255.0 / 256 * kBytes / (2 * w)));
    CHECK(seconds(pod(64, 1, "tpu7x-pod"), GroupKind::dp_shard, Collective::send_recv, kBytes)
          == near(kBytes / kLink));
    // Each of the 16 ranks has kBytes of the array.
    CHECK(seconds(ring, GroupKind::tp, Collective::all_to_all, kBytes) * kSwitched
          == near(16 * kBytes / (4 * w)));
}

// Google Cloud, TPU v6e: 3.2 TB/s over the middle of a pod, to which half of its chips send half of their
// bytes; 102.4 TB/s of all-reduce, which is 400 GB/s of a chip in and out.
TEST_CASE("a pod's bisection and all-reduce are those that its maker states") {
    const Plan p = pod(256, 1);
    CHECK(seconds(p, GroupKind::dp_shard, Collective::all_to_all, kBytes) * kSwitched
          == near(128 * kBytes / 2 / 3.2e12));
    CHECK(256 * kBytes / (seconds(p, GroupKind::dp_shard, Collective::all_reduce, kBytes) / 2)
          == near(102.4e12 * 256 / 255));
}

TEST_CASE("a group that does not close a ring sends one way, and shares the links that it jumps over") {
    CHECK(seconds(pod(256, 4), GroupKind::tp, Collective::all_gather, kBytes)
          == near(3.0 / 4 * kBytes / kLink));
    // Every fourth chip of a row and all rows: the row's ring is shared by four groups.
    const Route r = route_of(pod(256, 4), GroupKind::dp_shard);
    CHECK(r.part[0].torus.way[0].ways == 4);
    CHECK(r.part[0].torus.way[0].hops == 4);
    CHECK(r.part[0].torus.way[0].rate(kLink) == near(2 * kLink / 4));
    CHECK(r.part[0].torus.way[1].rate(kLink) == near(2 * kLink));
    // Gathered at once it is at most as slow as one dimension after the other.
    CHECK(pass_time(r.part[0], kBytes)
          <= near(15.0 / 16 * kBytes / (2 * kLink) + 3.0 / 4 * kBytes / 16 / (kLink / 2)));
    CHECK(pass_time(r.part[0], kBytes) >= 63.0 / 64 * kBytes / (2.5 * kLink));
}

TEST_CASE("a part of a group lies on a part of its torus") {
    const Route whole = route_of(pod(256, 1), GroupKind::dp_shard);
    const Route inner = within(whole, 32), outer = beyond(whole, 32);
    CHECK(inner.part[0].torus.way[0].ways == 16);
    CHECK(inner.part[0].torus.way[1].ways == 2);
    CHECK(outer.part[0].torus.way[0].ways == 1);
    CHECK(outer.part[0].torus.way[1].ways == 8);
    CHECK(outer.part[0].torus.way[1].hops == 2);
}

TEST_CASE("beyond the pod the ranks of a torus go over the network, each with its share") {
    const Plan p = pod(512, 1);
    CHECK(seconds(p, GroupKind::dp_shard, Collective::all_gather, kBytes)
          == near(255.0 / 256 * kBytes / (4 * kLink) + 1.0 / 2 * kBytes / 256 / 12.5e9));
}

TEST_CASE("a torus that does not join its tier's GPUs is refused by its place") {
    const auto refused = [](const std::string& torus) {
        const std::string text =
            R"({"format": "pentamesh.plan/1", "model": "llama-3.1-8b", "cluster": {"gpus": 16,
            "gpu": "tpu-v6e", "tiers": [{"kind": "ici", "bytes_per_s": 4e11, "torus": ")"
            + torus + R"("}]}, "layout": {}, "training": {"sequence_length": 4096}})";
        try {
            static_cast<void>(parse_plan(text, "pod.json", presets()));
            return std::string();
        } catch (const std::exception& e) {
            return std::string(e.what());
        }
    };
    CHECK(refused("4x4").empty());
    CHECK(refused("4x8").find("/cluster/tiers/0/torus") != std::string::npos);
    CHECK(refused("4x8").find("joins 32 GPUs, but the tier spans 16") != std::string::npos);
    CHECK(refused("big").find("sizes of the first tier's torus") != std::string::npos);
}

TEST_CASE("a torus that is typed spans its GPUs") {
    const Plan p = with_sets(pod(256, 16), {"/cluster/tiers/0/torus=4x8"}, presets());
    CHECK(p.cluster.tiers[0].domain == 32);
    CHECK(p.cluster.tiers[0].torus == "4x8");
    CHECK_THROWS(static_cast<void>(with_sets(p, {"cluster.fast_domain=64"}, presets())));
}
