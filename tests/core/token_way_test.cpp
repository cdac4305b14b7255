#include "core/teach/token_way.h"

#include "core/mesh/places.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <set>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

Plan mixtral() {
    return presets().plan("mixtral-8x7b-ep");
}

double sum_of_tokens(const TokenWay& way) {
    double sum = 0;
    for (const TokenDrawer& d : way.drawers) sum += d.tokens;
    return sum;
}

}  // namespace

TEST_CASE("scores are made up of the seed only, and sum to 1") {
    const std::vector<double> a = made_up_scores(8, 3), b = made_up_scores(8, 3), c = made_up_scores(8, 4);
    CHECK(a == b);
    CHECK_FALSE(a == c);
    CHECK(std::accumulate(a.begin(), a.end(), 0.0) == near(1));
    for (const double s : made_up_scores(256, 0)) CHECK(s > 0);
}

TEST_CASE("a router picks the highest scores, and under a limit of nodes those of the best nodes") {
    const std::vector<double> score{0.30, 0.02, 0.20, 0.18, 0.16, 0.14};
    const std::vector<std::int64_t> node{0, 0, 1, 1, 2, 2};
    CHECK(pick_experts(score, 2, node, 0) == std::vector<std::int64_t>{0, 2});
    CHECK(pick_experts(score, 4, node, 0) == std::vector<std::int64_t>{0, 2, 3, 4});
    // The two best of each node count: node 1 has 0.38, node 0 has 0.32, node 2 has 0.30.
    CHECK(pick_experts(score, 2, node, 1) == std::vector<std::int64_t>{2, 3});
    CHECK(pick_experts(score, 4, node, 2) == std::vector<std::int64_t>{0, 2, 3, 1});
    // Nodes with too few experts for a token are joined by the next.
    CHECK(pick_experts(score, 3, node, 1).size() == 3);
    CHECK(pick_experts(score, 6, node, 1).size() == 6);
}

TEST_CASE("Mixtral's tokens go to two of eight experts, and the figures are those of the engine") {
    const Plan plan = mixtral();
    const Evaluation e = evaluate(plan);
    const TokenWay way = token_way(plan, e, 2, {});
    REQUIRE(way.size() == 8);
    CHECK(way.own == 2);
    CHECK(way.even);
    CHECK(way.ways() == 56);
    CHECK(way.tokens == 4096);  // a sequence of 4,096, a micro-batch of one
    CHECK(way.mean_tokens == 2 * 4096);
    CHECK(sum_of_tokens(way) == near(8 * 2 * 4096));
    CHECK(way.nodes == 1);
    REQUIRE(way.picks.size() == 2);
    CHECK(way.picks[0].expert != way.picks[1].expert);
    CHECK(way.picks[0].weight >= way.picks[1].weight);
    CHECK(way.picks[0].weight + way.picks[1].weight == near(1));
    REQUIRE(way.copies.size() == 8);  // the next node keeps the same experts
    CHECK(way.copies[0] == 8);

    const TokenCosts costs = token_costs(plan, e);
    REQUIRE(costs.sends);
    CHECK(costs.collective == Collective::all_to_all);
    // Two copies of each token, in 16 bits; an eighth of them stays.
    CHECK(costs.sent_bytes == near(4096.0 * 2 * 4096 * 2 * 7 / 8));
    CHECK(costs.calls - costs.repeated == 4);  // out and back, forward and backward
    const auto waits = e.step->exposed_comm_s[GroupKind::ep];
    CHECK(costs.waits_s == near(waits));
    CHECK(costs.time_s == near(costs.waits_s, 1e-6));  // overlap.ep is off: nothing hides them
    Plan uneven = plan;
    uneven.training.router_imbalance = kUnevenLoad;
    const Evaluation other = evaluate(uneven);
    CHECK(*costs.other_step_s == near(other.step->time_s));
    CHECK(*costs.other_step_s > e.step->time_s);
    CHECK(*costs.other_peak_bytes == near(other.memory.peak()));
    CHECK(token_costs(uneven, other).other_imbalance == 1);
    CHECK(*token_costs(uneven, other).other_step_s == near(e.step->time_s));
}

TEST_CASE("a drawer is as long as the loads of its experts say") {
    Plan plan = mixtral();
    plan.layout.ep = 4;  // two experts a GPU
    const Evaluation e = evaluate(plan);
    REQUIRE(e.valid);
    const std::vector<double> loads{1, 1, 3, 1, 0.5, 0.5, 0.5, 0.5};
    const TokenWay way = token_way(plan, e, 0, loads);
    REQUIRE(way.size() == 4);
    CHECK(way.hot == 1);
    CHECK_FALSE(way.even);
    CHECK(way.drawers[1].load == near(imbalance_of(loads, 4)));
    CHECK(way.drawers[1].tokens == near(2 * way.mean_tokens));
    CHECK(sum_of_tokens(way) == near(4 * way.mean_tokens));
    CHECK(way.idle_share(1) == 0);
    CHECK(way.idle_share(0) == near(0.5));
    CHECK(way.idle_share(3) == near(0.75));
    // The engine counts the fullest drawer for the busiest rank.
    Plan uneven = plan;
    uneven.training.router_imbalance = 2;
    const Evaluation busy = evaluate(uneven);
    const auto copies = [](const Evaluation& of) {
        double bytes = 0;
        for (const Operation& o : of.comm.operations)
            if (o.what == What::dispatch_of_tokens_to_experts && !o.recomputed) bytes = o.message_bytes;
        return bytes;
    };
    CHECK(copies(busy) == near(way.drawers[1].tokens * 4096 * 2));
}

TEST_CASE("the tokens of a drawer are those that the engine's expert products work on") {
    Plan plan = mixtral();
    plan.layout.tp = 2;
    plan.layout.dp_shard = 32;
    plan.layout.ep = 4;
    for (const std::int64_t etp : {1, 2}) {
        CAPTURE(etp);
        plan.layout.etp = etp;
        const Evaluation e = evaluate(plan);
        REQUIRE(e.valid);
        const TokenWay way = token_way(plan, e, 0, {});
        CHECK(way.etp == etp);
        CHECK(way.tokens == near(4096.0 / 2));  // tensor-parallel ranks share the tokens out
        double worked_on = 0;
        for (const LayerParts& type : e.parts.type)
            for (const LayerKernel& k : type.kernels)
                if (k.what == What::down_of_the_experts) worked_on = k.m * k.groups;
        CHECK(way.mean_tokens == near(worked_on));
    }
}

TEST_CASE("with ep 1 all drawers are at home and nothing is sent") {
    Plan plan = mixtral();
    plan.layout.ep = 1;
    plan.layout.zero = 3;
    const Evaluation e = evaluate(plan);
    REQUIRE(e.valid);
    const TokenWay way = token_way(plan, e, 5, {});
    REQUIRE(way.size() == 1);
    CHECK(way.drawers[0].rank == 5);
    CHECK(way.drawers[0].experts == Range{0, 8});
    CHECK(way.ways() == 0);
    for (const TokenPick& p : way.picks) CHECK(p.drawer == 0);
    CHECK_FALSE(token_costs(plan, e).sends);
}

TEST_CASE("a dense model has no way to show") {
    const Plan plan = presets().plan("mesh-8");
    const Evaluation e = evaluate(plan);
    CHECK(token_way(plan, e, 0, {}).experts == 0);
    CHECK_FALSE(token_costs(plan, e).sends);
}

TEST_CASE("DeepSeek-V3's token picks eight experts on at most four nodes, whoever's it is") {
    const Plan plan = presets().plan("deepseek-v3-2048");
    const Evaluation e = evaluate(plan);
    REQUIRE(e.valid);
    const Moe& moe = *plan.model.moe;
    REQUIRE(moe.max_nodes_per_token == 4);
    std::set<std::vector<std::int64_t>> seen;
    for (const std::int64_t rank : {0, 1, 17, 500, 2047}) {
        CAPTURE(rank);
        const TokenWay way = token_way(plan, e, rank, {});
        CHECK(static_cast<std::int64_t>(way.size()) == plan.layout.ep);
        CHECK(way.drawers[way.own].rank == rank);
        REQUIRE(static_cast<std::int64_t>(way.picks.size()) == moe.top_k);
        std::set<std::int64_t> experts;
        std::vector<std::int64_t> picked;
        double weights = 0;
        for (const TokenPick& p : way.picks) {
            experts.insert(p.expert);
            picked.push_back(p.expert);
            weights += p.weight;
            const Range held = way.drawers[p.drawer].experts;
            CHECK(p.expert >= held.begin);
            CHECK(p.expert < held.end);
        }
        CHECK(experts.size() == way.picks.size());
        CHECK(weights == near(1));
        CHECK(way.nodes > 4);
        CHECK(way.nodes_reached() <= 4);
        seen.insert(picked);
        // The token's own drawer and those that it reaches are drawn of a large group.
        const std::vector<std::size_t> drawn = drawers_to_draw(way, 15);
        CHECK(drawn.size() <= 15);
        CHECK(std::ranges::is_sorted(drawn));
        CHECK(std::ranges::count(drawn, way.own) == 1);
        for (const TokenPick& p : way.picks) CHECK(std::ranges::count(drawn, p.drawer) == 1);
    }
    CHECK(seen.size() == 5);
}
