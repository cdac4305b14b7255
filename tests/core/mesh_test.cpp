#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "sha256.h"
#include "tests/sanitized.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace pentamesh;
using nlohmann::json;

namespace {

std::array<Axis, kAxisCount> parse_order(const std::string& text) {
    std::array<Axis, kAxisCount> order{};
    std::size_t n = 0, begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find('-', begin), text.size());
        const std::string name = text.substr(begin, end - begin);
        if (name == "dp") {
            order.at(n++) = Axis::dp_shard;
            order.at(n++) = Axis::dp_replicate;
        } else {
            order.at(n++) = parse_name<Axis>(name).value();
        }
        begin = end + 1;
    }
    return order;
}

GroupKind parse_kind(const std::string& name) {
    for (int i = 0; i < kGroupKindCount; ++i)
        if (name_of(static_cast<GroupKind>(i)) == name) return static_cast<GroupKind>(i);
    FAIL("no group kind " << name);
    return GroupKind::tp;
}

Cluster cluster_of(std::int64_t gpus, const std::vector<std::int64_t>& domains) {
    Cluster c;
    c.gpus = gpus;
    for (const std::int64_t d : domains) {
        Tier tier;
        tier.domain = d;
        c.tiers.push_back(tier);
    }
    return c;
}

json as_lists(const std::vector<std::int64_t>& flat, std::int64_t degree) {
    json lists = json::array();
    for (std::size_t i = 0; i < flat.size(); i += static_cast<std::size_t>(degree))
        lists.push_back(std::vector<std::int64_t>(flat.begin() + i, flat.begin() + i + degree));
    return lists;
}

Plan golden_plan(const json& c) {
    Plan p;
    p.model.moe = Moe{};
    Layout& l = p.layout;
    l.order = parse_order(c["order"]);
    l.tp = c["tp"], l.cp = c["cp"], l.pp = c["pp"], l.ep = c["ep"], l.etp = c["etp"].get<std::int64_t>();
    p.cluster.gpus = c["world_size"];
    l.dp_shard = std::max<std::int64_t>(1, p.cluster.gpus / (l.tp * l.cp * l.pp));
    l.dp_replicate = 1;
    l.weight_shards = c.value("gtp_remat", std::int64_t{1});
    return p;
}

// Returns a mesh with random small factors, most of them foldable for experts.
Plan random_mesh_plan(std::mt19937& rng) {
    const auto pick = [&](std::initializer_list<std::int64_t> from) {
        return from.begin()[rng() % from.size()];
    };
    Plan p;
    p.model.moe = Moe{};
    Layout& l = p.layout;
    l.tp = pick({1, 2, 3, 4, 8}), l.cp = pick({1, 1, 2, 3}), l.pp = pick({1, 2, 3, 4});
    l.dp_shard = pick({1, 2, 3, 4, 5, 8}), l.dp_replicate = pick({1, 2, 3});
    l.ep = pick({1, 2, 3, 4, 8}), l.etp = pick({1, 2, l.tp});
    l.weight_shards = pick({1, 1, 2, 3, 4, 6, 8});
    std::shuffle(l.order.begin(), l.order.end(), rng);
    if (rng() % 2)
        std::stable_partition(l.order.begin(), l.order.end(), [](Axis a) { return a != Axis::pp; });
    return p;
}

// Returns the summary of a group kind by looking at every rank.
GroupSummary enumerate(const Mesh& mesh, const Cluster& cluster, GroupKind kind) {
    GroupSummary s = summarize(mesh, cluster, kind);
    const std::vector<std::int64_t> flat = all_groups(mesh, kind);
    s.by_tier.fill(0);
    s.slowest_tier = 0;
    s.per_fast_domain = s.sharing_node = 0;
    for (std::size_t g = 0; g < flat.size(); g += static_cast<std::size_t>(s.degree)) {
        std::map<std::int64_t, std::int64_t> in_domain;
        for (std::size_t i = g; i < g + static_cast<std::size_t>(s.degree); ++i)
            ++in_domain[flat[i] / cluster.tiers[0].domain];
        int tier = 0;
        for (; tier + 1 < static_cast<int>(cluster.tiers.size()); ++tier) {
            const std::int64_t d = cluster.tiers[tier].domain;
            if (flat[g] / d == flat[g + s.degree - 1] / d) break;
        }
        ++s.by_tier[tier];
        s.slowest_tier = std::max(s.slowest_tier, tier);
        for (const auto& [domain, n] : in_domain) s.per_fast_domain = std::max(s.per_fast_domain, n);
        s.sharing_node += in_domain.count(0);
    }
    return s;
}

constexpr GroupKind kind_at(int i) {
    return static_cast<GroupKind>(i);
}

// Calls `check(mesh, kind, ranks group by group, ranks of a group)` for every kind of random meshes.
template <typename Check>
void for_random_groups(unsigned seed, int rounds, Check check) {
    std::mt19937 rng(seed);
    for (int round = 0; round < rounds; ++round) {
        const Mesh mesh = build_mesh(random_mesh_plan(rng));
        for (int k = 0; k < kGroupKindCount; ++k) {
            const GroupKind kind = kind_at(k);
            if (is_expert(kind) && !mesh.has_experts) continue;
            check(mesh, kind, all_groups(mesh, kind),
                  summarize(mesh, cluster_of(mesh.world, {}), kind).degree);
        }
    }
}

}  // namespace

TEST_CASE("rank groups and the tiers they cross equal Megatron's, to the rank") {
    std::ifstream file(GOLDEN_DIR "/mesh_megatron.json");
    const json golden = json::parse(file);
    REQUIRE(golden["cases"].size() == 37);
    for (const json& c : golden["cases"]) {
        CAPTURE(c["order"]);
        CAPTURE(c["world_size"]);
        const Plan plan = golden_plan(c);
        const Mesh mesh = build_mesh(plan);
        if (c.contains("expect")) {
            CHECK((mesh.world != plan.cluster.gpus || !mesh.has_experts));
            continue;
        }
        REQUIRE(mesh.world == plan.cluster.gpus);
        REQUIRE(mesh.has_experts);
        for (const auto& [name, expected] : c["groups"].items()) {
            const std::string& axis = name;  // clang before 16 captures no structured binding
            CAPTURE(axis);
            const GroupKind kind = parse_kind(name);
            for (const int node : {4, 8, 72}) {
                const GroupSummary s = summarize(mesh, cluster_of(mesh.world, {node, mesh.world}), kind);
                const json& tiers = expected["node" + std::to_string(node)];
                CHECK(s.groups == expected["count"]);
                CHECK(s.degree == expected["size"]);
                CHECK(s.by_tier[0] == tiers["intra"]);
                CHECK(s.by_tier[1] == tiers["inter"]);
            }
            const json ranks = as_lists(all_groups(mesh, kind), expected["size"]);
            if (expected.contains("ranks"))
                CHECK(ranks == expected["ranks"]);
            else
                CHECK(testing::sha256(ranks.dump()) == expected["sha256"].get<std::string>());
        }
    }
}

TEST_CASE("the digest used for golden data is SHA-256") {
    CHECK(testing::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("the groups of every kind partition the ranks, in canonical order") {
    for_random_groups(1, 200, [](const Mesh& mesh, GroupKind, const auto& flat, std::int64_t degree) {
        REQUIRE(static_cast<std::int64_t>(flat.size()) == mesh.world);
        std::vector<std::int64_t> sorted = flat;
        std::sort(sorted.begin(), sorted.end());
        for (std::int64_t i = 0; i < mesh.world; ++i) REQUIRE(sorted[i] == i);
        for (std::int64_t i = 1; i < mesh.world; ++i)
            if (i % degree)
                REQUIRE(flat[i - 1] < flat[i]);
            else
                REQUIRE(flat[i - degree] < flat[i]);
    });
}

TEST_CASE("closed forms for one rank agree with the enumerated groups") {
    for_random_groups(2, 100, [](const Mesh& mesh, GroupKind kind, const auto& flat, std::int64_t degree) {
        for (std::int64_t i = 0; i < mesh.world; ++i) {
            const std::int64_t begin = i / degree * degree;
            REQUIRE(group_index(mesh, kind, flat[i]) == i / degree);
            REQUIRE(first_rank_of_group(mesh, kind, flat[i]) == flat[begin]);
            const std::vector<std::int64_t> members(flat.begin() + begin, flat.begin() + begin + degree);
            REQUIRE(group_members(mesh, kind, flat[i]) == members);
        }
    });
}

TEST_CASE("groups of two axes of one mesh meet in at most one rank") {
    const std::vector<std::vector<GroupKind>> meshes{
        {GroupKind::tp, GroupKind::cp, GroupKind::dp_shard, GroupKind::dp_replicate, GroupKind::pp},
        {GroupKind::tp, GroupKind::gtp_remat, GroupKind::cp, GroupKind::dp_without_gtp_remat, GroupKind::pp},
        {GroupKind::etp, GroupKind::ep, GroupKind::edp, GroupKind::pp}};
    std::mt19937 rng(3);
    for (int round = 0; round < 100; ++round) {
        const Mesh mesh = build_mesh(random_mesh_plan(rng));
        for (const auto& axes : meshes) {
            if (is_expert(axes[0]) && !mesh.has_experts) continue;
            for (const GroupKind a : axes) {
                for (const GroupKind b : axes) {
                    if (a == b) continue;
                    std::set<std::pair<std::int64_t, std::int64_t>> seen;
                    for (std::int64_t r = 0; r < mesh.world; ++r)
                        REQUIRE(seen.emplace(group_index(mesh, a, r), group_index(mesh, b, r)).second);
                }
            }
        }
    }
}

TEST_CASE("coordinates and strides give the rank back") {
    std::mt19937 rng(4);
    for (int round = 0; round < 100; ++round) {
        const Mesh mesh = build_mesh(random_mesh_plan(rng));
        for (std::int64_t r = 0; r < mesh.world; ++r) {
            std::int64_t dense = 0, expert = 0;
            const Coordinates d = dense_coordinates(mesh, r), e = expert_coordinates(mesh, r);
            for (int a = 0; a < kAxisCount; ++a) {
                dense += d[a] * mesh.dense[a].stride;
                expert += e[a] * mesh.expert[a].stride;
            }
            REQUIRE(dense == r);
            if (mesh.has_experts) REQUIRE(expert == r);
        }
    }
}

TEST_CASE("tier counts agree with enumeration, whatever the domains divide") {
    std::mt19937 rng(5);
    for (int round = 0; round < test::rounds(3000); ++round) {
        const Mesh mesh = build_mesh(random_mesh_plan(rng));
        std::vector<std::int64_t> domains;
        const int tiers = 2 + static_cast<int>(rng() % 3);
        for (int t = 0; t + 1 < tiers; ++t) domains.push_back(1 + static_cast<std::int64_t>(rng() % 40));
        if (rng() % 2)  // nested, as hardware is
            for (std::size_t t = 1; t < domains.size(); ++t)
                domains[t] = domains[t - 1] * (1 + domains[t] % 7);
        std::sort(domains.begin(), domains.end());
        domains.push_back(mesh.world);
        const Cluster cluster = cluster_of(mesh.world, domains);
        GroupSummaries all;
        summarize(mesh, cluster, all);
        for (int k = 0; k < kGroupKindCount; ++k) {
            const GroupKind kind = kind_at(k);
            REQUIRE(all[kind] == summarize(mesh, cluster, kind));
            if (is_expert(kind) && !mesh.has_experts) continue;
            const GroupSummary got = summarize(mesh, cluster, kind), want = enumerate(mesh, cluster, kind);
            CAPTURE(name_of(kind));
            CAPTURE(domains[0]);
            REQUIRE(got.by_tier == want.by_tier);
            REQUIRE(got.slowest_tier == want.slowest_tier);
            REQUIRE(got.per_fast_domain == want.per_fast_domain);
            REQUIRE(got.sharing_node == want.sharing_node);
            REQUIRE(std::accumulate(got.by_tier.begin(), got.by_tier.end(), std::int64_t{0}) == got.groups);
        }
    }
}

TEST_CASE("domains that do not nest are counted by their period, in a large world as in a small one") {
    Plan p;
    p.layout.tp = 8, p.layout.cp = 2, p.layout.dp_shard = 1024, p.layout.dp_replicate = 1, p.layout.pp = 2;
    const Mesh mesh = build_mesh(p);
    const Cluster cluster = cluster_of(mesh.world, {72, 3000, mesh.world});
    for (const GroupKind kind : {GroupKind::cp, GroupKind::tp_cp, GroupKind::fsdp, GroupKind::tp})
        CHECK(summarize(mesh, cluster, kind).by_tier == enumerate(mesh, cluster, kind).by_tier);
}

TEST_CASE("weight shards cut data parallelism in two, and no plan without them has their groups") {
    std::mt19937 rng(6);
    for (int round = 0; round < 300; ++round) {
        Plan p = random_mesh_plan(rng);
        const Mesh mesh = build_mesh(p);
        const auto degree = [&](const Mesh& m, GroupKind k) { return summarize(m, p.cluster, k).degree; };
        CHECK(degree(mesh, GroupKind::gtp_remat) == mesh.weight_shards);
        if (mesh.weight_shards > 1) {
            CHECK(mesh.weight_shards * degree(mesh, GroupKind::dp_without_gtp_remat)
                  == degree(mesh, GroupKind::dp));
            CHECK(mesh.weight_shards * degree(mesh, GroupKind::dp_cp_without_gtp_remat)
                  == degree(mesh, GroupKind::dp_cp));
        }
        p.layout.weight_shards.reset();
        const Mesh plain = build_mesh(p);
        for (const GroupKind k : all_of<GroupKind>())
            if (is_of_weight_shards(k)) CHECK(degree(plain, k) == 1);
    }
}

TEST_CASE("two ranks meet in the fastest tier whose domain holds both") {
    const Cluster c = cluster_of(1024, {8, 64, 1024});
    CHECK(tier_between(c, 0, 7) == 0);
    CHECK(tier_between(c, 7, 8) == 1);
    CHECK(tier_between(c, 63, 64) == 2);
    CHECK(tier_between(c, 5, 5) == 0);
}

TEST_CASE("edp keeps its replicas where dp_replicate stands, as torchtitan's efsdp does") {
    Plan p;
    p.model.moe = Moe{};
    p.layout.tp = 2, p.layout.cp = 2, p.layout.dp_shard = 8, p.layout.dp_replicate = 3, p.layout.pp = 2;
    p.layout.ep = 4, p.layout.etp = 1;
    const Mesh mesh = build_mesh(p);
    REQUIRE(mesh.has_experts);
    CHECK(mesh.expert[static_cast<int>(Axis::dp_replicate)].size == 3);
    CHECK(mesh.expert[static_cast<int>(Axis::dp_shard)].size == 8 * 2 * 2 / 4);  // dp_shard * cp * tp / ep
}

// By definition: two ranks are of one edp_shard group where they differ in nothing of the experts' mesh but
// the place among the shards, and of one edp_replicate group where they differ in the replica. The
// coordinates are counted here by walking over all ranks in the order of the axes.
TEST_CASE("edp_shard and edp_replicate are edp's two parts, and are there only where it has both") {
    std::mt19937 rng(18);
    int split = 0;
    for (int round = 0; round < 400; ++round) {
        const Plan p = random_mesh_plan(rng);
        const Mesh mesh = build_mesh(p);
        const auto degree = [&](GroupKind k) { return summarize(mesh, p.cluster, k).degree; };
        if (!mesh.has_experts) {
            CHECK(!has_kind(mesh, GroupKind::edp_shard));
            continue;
        }
        const Layout& l = p.layout;
        const std::int64_t edp = mesh.world / (l.pp * l.ep * l.etp.value());
        const std::int64_t copies = std::gcd(*l.dp_replicate, edp), shards = edp / copies;
        const bool both = copies > 1 && shards > 1;
        CHECK(has_kind(mesh, GroupKind::edp_shard) == both);
        CHECK(has_kind(mesh, GroupKind::edp_replicate) == both);
        CHECK(degree(GroupKind::edp_shard) == (both ? shards : 1));
        CHECK(degree(GroupKind::edp_replicate) == (both ? copies : 1));
        CHECK(degree(GroupKind::edp) == edp);
        if (!both) continue;
        ++split;
        const std::map<Axis, std::int64_t> size{
            {Axis::tp, l.etp.value()},    {Axis::cp, 1},   {Axis::ep, l.ep}, {Axis::dp_shard, shards},
            {Axis::dp_replicate, copies}, {Axis::pp, l.pp}};
        std::map<Axis, std::int64_t> at;
        std::map<std::map<Axis, std::int64_t>, std::vector<std::int64_t>> by_shard, by_copy;
        for (std::int64_t rank = 0; rank < mesh.world; ++rank) {
            std::int64_t left = rank;
            for (const Axis a : mesh.order) at[a] = left % size.at(a), left /= size.at(a);
            auto others = at;
            others[Axis::dp_shard] = 0;
            by_shard[others].push_back(rank);
            others = at;
            others[Axis::dp_replicate] = 0;
            by_copy[others].push_back(rank);
        }
        for (const auto& entry : by_shard)
            REQUIRE(group_members(mesh, GroupKind::edp_shard, entry.second.front()) == entry.second);
        for (const auto& entry : by_copy)
            REQUIRE(group_members(mesh, GroupKind::edp_replicate, entry.second.back()) == entry.second);
    }
    CHECK(split > 30);
}

TEST_CASE("a rank's place and a tier's name are those of the cluster") {
    Cluster c;
    c.tiers = {{"NVLink", LinkKind::nvlink, 8, 450e9, 1e-6, 1},
               {"InfiniBand", LinkKind::ib, 64, 50e9, 5e-6, 1}};
    CHECK(place_of(c, 0) == "node 0, GPU 0");
    CHECK(place_of(c, 15) == "node 1, GPU 7");
    c.tiers.push_back({"spine", LinkKind::ib, 256, 50e9, 5e-6, 7});
    CHECK(place_of(c, 64 + 8 + 3) == "pod 1, node 9, GPU 3");
    CHECK(tier_name(c, 1) == "InfiniBand");
    CHECK(tier_name(c, 3) == "the network");
    CHECK(tier_label(c, 2) == "spine 1:7");
    c.tiers[0].domain = 72;
    CHECK(place_of(c, 73) == "pod 1, rack 1, GPU 1");
}

TEST_CASE("leftover GPUs become replicas") {
    Plan p;
    p.cluster.gpus = 64;
    p.layout.tp = 8, p.layout.dp_shard = 2;
    CHECK(replicas_in_force(p) == 4);
    CHECK(build_mesh(p).world == 64);
    p.layout.dp_replicate = 2;
    CHECK(build_mesh(p).world == 32);
}

TEST_CASE("absurd factors give no mesh instead of an overflow") {
    Plan p;
    p.layout.pp = std::int64_t{1} << 62, p.layout.tp = std::int64_t{1} << 62;
    const Mesh mesh = build_mesh(p);
    CHECK(mesh.world == 0);
    for (int k = 0; k < kGroupKindCount; ++k) {
        CHECK(summarize(mesh, cluster_of(8, {8}), kind_at(k)).groups == 0);
        CHECK(all_groups(mesh, kind_at(k)).empty());
    }
    p.layout.pp = 0, p.layout.tp = -8;
    CHECK(build_mesh(p).world == 1);
}
