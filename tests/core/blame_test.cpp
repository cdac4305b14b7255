#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/explain/traffic.h"
#include "core/mesh/places.h"
#include "shipped.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace pentamesh;

namespace {

using Ranks = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("lists of ranks are read as people write them, and what is no rank is named") {
    CHECK(parse_rank_list("0-7, 12, 99", 128) == Ranks{0, 1, 2, 3, 4, 5, 6, 7, 12, 99});
    CHECK(parse_rank_list("5 3;3,4-5", 8) == Ranks{3, 4, 5});
    CHECK(ranks_text(parse_rank_list("99 0-7 12 13", 128)) == "0-7, 12, 13, 99");
    CHECK(ranks_text(parse_rank_list("0 2 4 6", 8), 2) == "0, 2, … (4 ranks)");
    for (const char* bad : {"", " , ", "8", "-3", "5-2", "a", "1-", "1-2-3", "0x1", "99999999999999999999"}) {
        CAPTURE(std::string(bad));
        CHECK_THROWS_AS(static_cast<void>(parse_rank_list(bad, 8)), Error);
    }
}

TEST_CASE("a node list of SLURM names the hosts that scontrol show hostnames does") {
    using Names = std::vector<std::string>;
    CHECK(expand_hosts("node[01-04,7]") == Names{"node01", "node02", "node03", "node04", "node7"});
    CHECK(expand_hosts("gpu[8-11],login1") == Names{"gpu8", "gpu9", "gpu10", "gpu11", "login1"});
    CHECK(expand_hosts("n[098-101]") == Names{"n098", "n099", "n100", "n101"});
    CHECK(expand_hosts("r[1-2]n[1-2].lan") == Names{"r1n1.lan", "r1n2.lan", "r2n1.lan", "r2n2.lan"});
    CHECK(expand_hosts("a\nb c\r\n") == Names{"a", "b", "c"});
    for (const char* bad : {"", "a[1-2", "a]1", "a[2-1]", "a[x]", "a[]", "a[1-99999999]", "a[[1]]"}) {
        CAPTURE(std::string(bad));
        CHECK_THROWS_AS(static_cast<void>(expand_hosts(bad)), Error);
    }
    const Hosts hosts = hosts_of("n[1-4]", 32, 8);
    CHECK(hosts.of(0) == "n1");
    CHECK(hosts.of(31) == "n4");
    CHECK(hosts_of("n[1-18]", 72, 72).gpus_each == 4);  // trays of four in one NVLink domain of 72
    CHECK_THROWS_AS(static_cast<void>(hosts_of("n[1-3]", 32, 8)), Error);
    CHECK_THROWS_AS(static_cast<void>(hosts_of("n[1-2]", 32, 8)), Error);  // 16 on a host, nodes of 8
}

TEST_CASE("blame names exactly the groups that hold all of the ranks") {
    std::mt19937 rng(11);
    for (const char* id : {"mesh-8", "hsdp-64", "zoom-1024", "deepseek-v3-2048", "mixtral-8x7b-ep"}) {
        CAPTURE(std::string(id));
        const Plan plan = test::presets().plan(id);
        const Evaluation e = assess(plan, {.timeline = false});
        REQUIRE(e.valid);
        for (int round = 0; round < 12; ++round) {
            // The ranks are from one group of a random kind, so that they have something in common.
            const auto kind = static_cast<GroupKind>(rng() % kGroupKindCount);
            if (is_expert(kind) && !e.mesh.has_experts) continue;
            Ranks some = group_members(e.mesh, kind, static_cast<std::int64_t>(rng() % e.mesh.world));
            std::shuffle(some.begin(), some.end(), rng);
            some.resize(std::min<std::size_t>(some.size(), 1 + rng() % 4));
            std::sort(some.begin(), some.end());
            const Blame b = blame(plan, e, some);
            // The expectation comes from looking at every group of every kind.
            std::map<GroupKind, Ranks> expected;
            for (int k = 0; k < kGroupKindCount; ++k) {
                const auto any = static_cast<GroupKind>(k);
                if (is_expert(any) && !e.mesh.has_experts) continue;
                const Ranks flat = all_groups(e.mesh, any);
                const auto degree = static_cast<std::size_t>(e.groups[any].degree);
                for (std::size_t g = 0; degree > 1 && g < flat.size(); g += degree) {
                    const Ranks members(flat.begin() + static_cast<std::ptrdiff_t>(g),
                                        flat.begin() + static_cast<std::ptrdiff_t>(g + degree));
                    if (std::includes(members.begin(), members.end(), some.begin(), some.end()))
                        expected[any] = members;
                }
            }
            std::map<GroupKind, Ranks> found;
            std::set<std::int64_t> others;
            for (const SharedGroup& g : b.groups) {
                found[g.kind] = g.members;
                for (const GroupKind also : g.also) found[also] = g.members;
                if (!g.operations.empty()) others.insert(g.members.begin(), g.members.end());
                for (const int i : g.operations) {
                    const GroupKind of = e.comm.operations.at(static_cast<std::size_t>(i)).group;
                    CHECK((of == g.kind || std::count(g.also.begin(), g.also.end(), of) == 1));
                }
            }
            CHECK(found == expected);
            for (const std::int64_t r : some) others.erase(r);
            CHECK(b.waiting == Ranks(others.begin(), others.end()));
        }
    }
}

TEST_CASE("blame names node, rail, stage and the link that joins the ranks") {
    const Plan plan = test::presets().plan("zoom-1024");  // nodes of 8 = tp; stages of dp 16 x tp 8
    const Evaluation e = assess(plan, {.timeline = false});
    const Blame node = blame(plan, e, parse_rank_list("8-11", e.mesh.world));
    CHECK(node.domains.at(0) == 1);
    CHECK(node.tier == 0);
    CHECK_FALSE(node.seat);
    CHECK(node.groups.at(0).kind == GroupKind::tp);
    CHECK(node.groups.at(0).members == Ranks{8, 9, 10, 11, 12, 13, 14, 15});
    CHECK(node.stage == dense_coordinates(e.mesh, 8)[Axis::pp]);
    const Blame rail = blame(plan, e, {3, 11});
    CHECK(rail.domains.at(0) == -1);
    CHECK(rail.seat == 3);
    CHECK(rail.tier == 1);
    Plan four = plan;
    four.cluster.tiers[1].nics = 4;
    const Blame nic = blame(four, e, {2, 11});
    CHECK_FALSE(nic.seat);
    CHECK(nic.nic == 1);
    CHECK(shared_place_text(four, e, nic).starts_with("NIC 1 of each node (their rail)"));
    CHECK_FALSE(blame(four, e, {2, 12}).nic);
    CHECK_FALSE(blame(plan, e, {3, 11}).nic);
    const Blame nothing = blame(plan, e, {0, 1023});
    CHECK(std::none_of(nothing.groups.begin(), nothing.groups.end(),
                       [](const SharedGroup& g) { return g.kind == GroupKind::tp; }));
    CHECK_FALSE(nothing.stage);
    CHECK(nothing.spread.size() >= 3);
}

TEST_CASE("ranks of a middle stage do not wait in what the first or the last stage does") {
    const Plan plan = test::presets().plan("llama-3.1-405b-16k");
    const Evaluation e = assess(plan, {.timeline = false});
    const std::int64_t stride = e.mesh.dense[Axis::pp].stride, stages = e.mesh.dense[Axis::pp].size;
    const auto scopes = [&](std::int64_t stage) {
        std::set<Scope> out;
        for (const SharedGroup& g : blame(plan, e, {stage * stride, stage * stride + 1}).groups)
            if (g.kind == GroupKind::tp)
                for (const int i : g.operations)
                    out.insert(e.comm.operations[static_cast<std::size_t>(i)].scope);
        return out;
    };
    CHECK(scopes(0).count(Scope::embedding) == 1);
    CHECK(scopes(0).count(Scope::head) == 0);
    CHECK(scopes(1) == std::set<Scope>{Scope::layer});
    CHECK(scopes(stages - 1).count(Scope::head) == 1);
}
