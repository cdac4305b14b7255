#include "core/explain/traffic.h"

#include "plans.h"
#include "tests/near.h"

#include <numeric>
#include <random>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

Plan plan_on(std::int64_t gpus, std::int64_t tp, std::int64_t pp, std::int64_t cp = 1, std::int64_t ep = 1) {
    Plan p = small_plan(gpus);
    if (ep > 1) p.model = golden_model("mixtral-8x7b"), p.layout.ep = ep, p.layout.etp = 1;
    p.layout.tp = tp, p.layout.pp = pp, p.layout.cp = cp;
    p.layout.dp_shard = gpus / (tp * pp * cp);
    p.training.global_batch = 8 * p.layout.dp_shard;
    return p;
}

double row_sum(const TrafficMatrix& m, int row) {
    double sum = 0;
    for (int j = 0; j < m.blocks; ++j) sum += m.at(row, j);
    return sum;
}

// Returns the same matrix at a coarser grain.
std::vector<double> merged(const TrafficMatrix& fine, int blocks) {
    std::vector<double> out(static_cast<std::size_t>(blocks) * static_cast<std::size_t>(blocks), 0);
    const int each = fine.blocks / blocks;
    for (int i = 0; i < fine.blocks; ++i)
        for (int j = 0; j < fine.blocks; ++j)
            out[static_cast<std::size_t>((i / each) * blocks + j / each)] += fine.at(i, j);
    return out;
}

}  // namespace

TEST_CASE("a row of the traffic matrix sums to the bytes that leave its ranks") {
    for (const Plan& p : {plan_on(64, 8, 2), plan_on(64, 4, 1, 2), plan_on(64, 2, 2, 1, 8)}) {
        const Evaluation e = evaluate(p);
        for (int k = 0; k < kGroupKindCount; ++k) {
            const auto kind = static_cast<GroupKind>(k);
            const double sent = e.comm.by_axis[static_cast<std::size_t>(k)].sent_bytes_per_rank;
            if (kind == GroupKind::pp) continue;
            const TrafficMatrix m = traffic_matrix(p, e, kind, 64);
            CAPTURE(name_of(kind));
            if (sent <= 0) {
                CHECK(m.blocks == 0);
                continue;
            }
            REQUIRE(m.block == 1);
            for (int i = 0; i < m.blocks; ++i) {
                CHECK(row_sum(m, i) == near(sent, 1e-9));
                CHECK(m.at(i, i) == 0);
            }
        }
    }
}

TEST_CASE("coarse blocks hold the sums of the fine ones, whatever the axis") {
    for (const Plan& p : {plan_on(128, 8, 2), plan_on(128, 2, 4, 2), plan_on(128, 2, 2, 1, 8)}) {
        const Evaluation e = evaluate(p);
        for (int k = 0; k < kGroupKindCount; ++k) {
            const auto kind = static_cast<GroupKind>(k);
            const TrafficMatrix fine = traffic_matrix(p, e, kind, 128);
            for (const int most : {2, 8, 32}) {
                const TrafficMatrix coarse = traffic_matrix(p, e, kind, most);
                REQUIRE((fine.blocks == 0) == (coarse.blocks == 0));
                if (fine.blocks == 0) continue;
                CHECK(coarse.blocks <= most);
                CHECK(coarse.block * coarse.blocks == 128);
                const std::vector<double> want = merged(fine, coarse.blocks);
                for (std::size_t i = 0; i < want.size(); ++i) CHECK(coarse.bytes[i] == near(want[i], 1e-9));
            }
        }
    }
}

TEST_CASE("only members of one group send to each other, and stages only to their neighbours") {
    const Plan p = plan_on(64, 4, 4);
    const Evaluation e = evaluate(p);
    for (const GroupKind kind : {GroupKind::tp, GroupKind::pp, GroupKind::dp_shard}) {
        const TrafficMatrix m = traffic_matrix(p, e, kind, 64);
        REQUIRE(m.blocks == 64);
        for (int i = 0; i < 64; ++i)
            for (int j = 0; j < 64; ++j)
                if (m.at(i, j) > 0)
                    CHECK(first_rank_of_group(e.mesh, kind, i) == first_rank_of_group(e.mesh, kind, j));
    }
    const TrafficMatrix pp = traffic_matrix(p, e, GroupKind::pp, 64);
    // 8 micro-batches of 8,192 tokens, 4,096 numbers of 2 bytes each, cut over 4 tp ranks.
    CHECK(pp.at(0, 16) == near(8.0 * 8192 * 4096 * 2 / 4));
    CHECK(pp.at(16, 0) == near(8.0 * 8192 * 4096 * 2 / 4));
    CHECK(pp.at(0, 32) == 0);
    CHECK(pp.at(0, 48) == 0);
    CHECK(pp.at(0, 17) == 0);
}

TEST_CASE("the traffic of 131,072 GPUs is a small matrix with all the bytes in it") {
    const Plan p = plan_on(131072, 8, 16);
    const Evaluation e = evaluate(p, {.timeline = false, .messages = false});
    const TrafficMatrix m = traffic_matrix(p, e, GroupKind::dp_shard, 128);
    CHECK(m.blocks == 128);
    const double all = std::accumulate(m.bytes.begin(), m.bytes.end(), 0.0);
    const double sent =
        e.comm.by_axis[static_cast<std::size_t>(GroupKind::dp_shard)].sent_bytes_per_rank * 131072;
    CHECK(all == near(sent, 1e-9));
}

TEST_CASE("in an all-to-all every member gets the same of its own domain, and its share of the rest") {
    Plan p = plan_on(64, 1, 1, 1, 32);
    p.model.moe->experts = 32;
    p.layout.ep_comm = EpComm::deepep;
    const Evaluation e = evaluate(p);
    REQUIRE(e.valid);
    const Operation* call = nullptr;
    for (const Operation& o : e.comm.operations)
        if (o.collective == Collective::all_to_all) call = &o;
    REQUIRE(call != nullptr);
    REQUIRE(call->slow_share < 1);
    const TrafficMatrix m = traffic_matrix(p, e, GroupKind::ep, 64);
    REQUIRE(m.block == 1);
    const double nearby = m.at(0, 1), far = m.at(0, 31);
    CHECK(far / nearby == near(call->slow_share));
    for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 64; ++j) {
            const bool group = i / 32 == j / 32, domain = i / 8 == j / 8;
            CHECK(m.at(i, j) == near(i == j || !group ? 0 : domain ? nearby : far));
        }
    // Blocks of 16 ranks: 16 members by 15 or by 16 others, of which 7 or 8 lie in the sender's domain.
    const TrafficMatrix coarse = traffic_matrix(p, e, GroupKind::ep, 4);
    REQUIRE(coarse.block == 16);
    CHECK(coarse.at(0, 0) == near(16 * (7 * nearby + 8 * far)));
    CHECK(coarse.at(0, 1) == near(16 * 16 * far));
    CHECK(coarse.at(0, 2) == 0);
}

TEST_CASE("an all-to-all among 16,384 experts' ranks costs its members, not their pairs") {
    Plan p = plan_on(16384, 1, 1, 1, 16384);
    p.model.moe->experts = 16384;
    const Evaluation e = evaluate(p, {.timeline = false, .messages = false});
    REQUIRE(e.valid);
    TrafficMatrix m;
    for (int again = 0; again < 20; ++again) m = traffic_matrix(p, e, GroupKind::ep, 128);
    REQUIRE(m.blocks == 128);
    const double sent = e.comm.by_axis[GroupKind::ep].sent_bytes_per_rank;
    for (int i = 0; i < m.blocks; ++i) CHECK(row_sum(m, i) == near(sent * 128, 1e-9));
}

TEST_CASE("the steps of a call take as long as the call, and move what leaves a rank") {
    std::mt19937 rng(4);
    for (int i = 0; i < 60; ++i) {
        Plan p = plan_on(64, 1 << rng() % 5, 1 << rng() % 2, 1 << rng() % 2, rng() % 2 ? 8 : 1);
        p.layout.sequence_parallel = rng() % 2;
        p.layout.zero = static_cast<int>(rng() % 4);
        p.cluster.tiers[rng() % 2].in_network_reduction = rng() % 2;
        const Evaluation e = evaluate(p, {.timeline = false, .messages = false});
        for (const Operation& o : e.comm.operations) {
            double time = 0, bytes = 0;
            bool switched = false;
            for (const CollectivePhase& phase : collective_phases(p, e, o)) {
                time += static_cast<double>(phase.steps) * phase.step_s;
                bytes += static_cast<double>(phase.steps) * phase.chunk_bytes;
                switched = switched || phase.shape == CollectivePhase::Shape::switch_up;
            }
            CAPTURE(words_of(o.what));
            CHECK(time == near(o.call_s, 1e-9));
            if (!switched && o.unit != Unit::step)
                CHECK(bytes == near(sent_bytes(o.collective, o.group_size, o.message_bytes)));
        }
    }
}

TEST_CASE("the first and the last stage send each other the gradients of a word embedding that both hold") {
    Plan p = plan_on(64, 4, 4);
    const Evaluation apart = evaluate(p);
    CHECK(traffic_matrix(p, apart, GroupKind::pp, 64).at(0, 48) == 0);
    p.model.tied_embeddings = true;
    const Evaluation e = evaluate(p);
    const TrafficMatrix pp = traffic_matrix(p, e, GroupKind::pp, 64);
    // Two ranks sum 128,000 words of 4,096 numbers in fp32, cut over 4 tp ranks: each sends half of it twice.
    const double bytes = 128000.0 * 4096 / 4 * 4;
    CHECK(pp.at(0, 48) == near(bytes));
    CHECK(pp.at(48, 0) == near(bytes));
    CHECK(pp.at(16, 48) == 0);
    CHECK(pp.at(0, 49) == 0);
}
