#include "core/base/files.h"
#include "core/comm/collective_time.h"
#include "core/interop/fabric_text.h"
#include "core/io/plan_json.h"
#include "nccl_table.h"
#include "shipped.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::interop;

namespace {

// Returns a row as nccl-tests prints it: algbw = size / time, busbw = algbw * factor.
std::string perf_row(std::int64_t size, double time_s, double factor, const char* redop) {
    char line[200];
    const double algbw = static_cast<double>(size) / time_s / 1e9;
    std::snprintf(line, sizeof line, "%12lld %12lld float %s -1 %.4f %.4f %.4f 0 %.4f %.4f %.4f N/A\n",
                  static_cast<long long>(size), static_cast<long long>(size / 4), redop, time_s * 1e6, algbw,
                  algbw * factor, time_s * 1e6, algbw, algbw * factor);
    return line;
}

// Returns the calls of a plan's own fabric, as if measured: reading them back must give the tiers that made
// them.
std::string made_table(const Plan& plan, Collective c, int hosts, int each, const char* redop) {
    const double n = hosts * each;
    const double factor = (c == Collective::all_reduce ? 2 : 1) * (n - 1) / n;
    Plan p = plan;
    p.cluster.gpus = hosts * each;
    p.layout.tp = hosts * each;
    p.layout.cp = p.layout.pp = p.layout.dp_shard = 1;
    p.layout.dp_replicate = 1;
    const Mesh mesh = build_mesh(p);
    const Route route = find_route(p, mesh, summarize(mesh, p.cluster, GroupKind::tp));
    std::string s = test::nccl_head(hosts, each);
    for (std::int64_t size = 8; size <= (std::int64_t{8} << 30); size *= 2)
        s += perf_row(size, collective_time(route, p.cluster.gpu.efficiency, c, static_cast<double>(size)),
                      factor, redop);
    return s;
}

// Two nodes of eight H100 with 400 Gb/s each, as a log on GitHub has it in shape (nebius/soperator, 428).
const char* const kColumns = "#       size         count      type   redop     time   algbw   busbw  error   "
                             "  time   algbw   busbw  error\n";

}  // namespace

TEST_CASE("a table of nccl-tests gives back the tier whose times it has") {
    const Plan plan = test::presets().plan("llama-3-70b-3d");
    struct Test {
        Collective c;
        const char *redop, *name;
    };
    for (const Test& test : {Test{Collective::all_reduce, "sum", "all_reduce_perf"},
                             {Collective::reduce_scatter, "sum", "reduce_scatter_perf"},
                             {Collective::all_gather, "none", "all_gather_perf"},
                             {Collective::all_to_all, "none", "alltoall_perf"}}) {
        const std::string name = test.name;
        CAPTURE(name);
        const std::string text =
            "$ " + name + " -b 8 -e 8G -f 2\n" + made_table(plan, test.c, 1, 8, test.redop);
        REQUIRE(is_nccl_tests(text));
        const LinkMeasurement m = read_nccl_tests(text, "log", plan.cluster);
        CHECK(m.collective == test.c);
        CHECK(m.ranks == 8);
        CHECK(m.tier == 0);
        REQUIRE(m.bytes_per_s);
        REQUIRE(m.latency_s);
        CHECK(*m.bytes_per_s == near(plan.cluster.tiers[0].bytes_per_s, 0.01));
        CHECK(*m.latency_s == near(plan.cluster.tiers[0].latency_s, 0.02));
        const Plan edited = apply_edits(plan, m.edits, test::presets());
        CHECK(edited.cluster.tiers[0].bytes_per_s == *m.bytes_per_s);
        CHECK(edited.cluster.tiers[0].latency_s == *m.latency_s);
        CHECK(m.settings.size() == 31 + 1 + 1 + 1 + 8 + 2);  // rows, command, heads, ranks, columns
    }
}

TEST_CASE("an all-to-all over nodes is as fast as its NICs: N / (N - 1) of one GPU's, says NCCL's author") {
    // github.com/NVIDIA/nccl-tests/issues/130: busbw of N nodes is N / (N - 1) x the bandwidth per GPU.
    const Cluster cluster = test::presets().plan("llama-3-70b-3d").cluster;
    for (const int nodes : {2, 4, 16}) {
        CAPTURE(nodes);
        const double nic = 40e9, n = 8.0 * nodes;
        const double busbw = nic * nodes / (nodes - 1.0) * (n - 1) / n / ((n - 1) / n);
        const double size = 1 << 30, algbw = busbw / ((n - 1) / n);
        const std::string text = "alltoall_perf\n" + test::nccl_head(nodes, 8)
                                 + perf_row(1 << 30, size / algbw, (n - 1) / n, "none");
        const LinkMeasurement m = read_nccl_tests(text, "log", cluster);
        CHECK(m.tier == 1);
        CHECK(m.hosts == nodes);
        // The formula counts a rank's own part as sent, which is 1 / n of it.
        CHECK(m.carried_bytes_per_s == near(nic, 1.5 / n));
        CHECK_FALSE(m.latency_s);
    }
}

TEST_CASE("rings over nodes: a GPU's NIC carries the bus bandwidth over the GPUs of a node") {
    const Cluster cluster = test::presets().plan("llama-3-70b-3d").cluster;
    // The full rate of eight 400 Gb/s NICs is a bus bandwidth of 400 GB/s, for any number of nodes.
    const double t = 2 * 15.0 / 16 * (std::int64_t{1} << 33) / 388e9;
    const std::string text = test::nccl_head(2, 8) + perf_row(std::int64_t{1} << 33, t, 2 * 15.0 / 16, "sum");
    const LinkMeasurement m = read_nccl_tests(text, "log", cluster);
    CHECK(m.collective == Collective::all_reduce);  // by redop and busbw / algbw
    CHECK(m.carried_bytes_per_s == near(388e9 / 8, 1e-3));
    CHECK(m.edits.at(0).path == "/cluster/tiers/1/bytes_per_s");
    CHECK(m.summary.find("InfiniBand carries 48.5 GB/s") != std::string::npos);
}

TEST_CASE("rows of older versions are read, and the number of ranks from busbw / algbw") {
    // Rows of github.com/NVIDIA/nccl-tests/issues/78: 8 nodes of 8 V100; no column root, no redop for
    // alltoall.
    const Cluster cluster = test::presets().plan("llama-3-70b-3d").cluster;
    const std::string sums =
        std::string(kColumns)
        + "   268435456      67108864     float     sum   122131    2.20    4.33  2e-06   122165"
          "    2.20    4.33  2e-06\n"
          "   536870912     134217728     float     sum   244833    2.19    4.32  2e-06   244844"
          "    2.19    4.32  2e-06\n";
    CHECK_THROWS_AS(static_cast<void>(read_nccl_tests(sums, "log", cluster)), Error);  // 1.97: 64 or so
    const LinkMeasurement m = read_nccl_tests(test::nccl_head(8, 8) + sums, "log", cluster);
    CHECK(m.carried_bytes_per_s == near(4.325e9 / 8));
    const LinkMeasurement all =
        read_nccl_tests("alltoall_perf\n" + test::nccl_head(8, 8) + kColumns
                            + "   536870912       2097152     float           1041974    0.52    0.51  0e+00 "
                              " 1041299    0.52    0.51"
                              "  1e+00\n",
                        "log", cluster);
    CHECK(all.carried_bytes_per_s == near(0.52e9 * 56 / 64));
    const LinkMeasurement eight =
        read_nccl_tests(perf_row(std::int64_t{1} << 30, 0.004, 2 * 7.0 / 8, "sum"), "log", cluster);
    CHECK(eight.ranks == 8);
}

TEST_CASE("a table that does not say what it measures is refused with what is missing") {
    const Cluster cluster = test::presets().plan("llama-3-70b-3d").cluster;
    CHECK_THROWS_WITH_AS(
        static_cast<void>(read_nccl_tests(perf_row(1 << 30, 0.004, 7.0 / 8, "none"), "log", cluster)),
        doctest::Contains("which test"), Error);
    CHECK_THROWS_AS(static_cast<void>(read_nccl_tests("# algbw busbw\n", "log", cluster)), Error);
    const LinkMeasurement small = read_nccl_tests(
        "all_reduce_perf\n" + test::nccl_head(1, 8) + perf_row(1024, 2e-5, 1.75, "sum"), "log", cluster);
    CHECK_FALSE(small.bytes_per_s);
    CHECK(*small.latency_s == near(2e-5 / 14));
    CHECK(small.problems.at(0).code == "sizes-too-small");
}

TEST_CASE("a test on some GPUs of each node is warned: in a step the others use the same NICs") {
    const Plan plan = test::presets().plan("llama-3-70b-3d");
    const auto warned = [&](int each) {
        const LinkMeasurement m =
            read_nccl_tests(made_table(plan, Collective::all_gather, 4, each, "none") + "# all_gather_perf",
                            "t", plan.cluster);
        return std::any_of(m.problems.begin(), m.problems.end(),
                           [](const ImportProblem& p) { return p.code == "part-of-a-node"; });
    };
    CHECK(warned(1));
    CHECK(warned(4));
    CHECK_FALSE(warned(8));
}
