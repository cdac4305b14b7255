#include "core/teach/token_slices.h"

#include "core/plan/edits.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

// The plan of the lesson's step: Llama 3 8B, samples of 32,768 tokens.
Plan long_samples(std::int64_t cp, CpComm comm = CpComm::ring) {
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.training.sequence_length = 32768;
    p.training.global_batch = 128;
    p.layout.cp_comm = comm;
    return with_factor(p, Axis::cp, cp, true);
}

TokenSlices slices_of(const Plan& plan, bool cut = true, std::int64_t ranks = 4) {
    return token_slices(plan, evaluate(plan), cut, ranks);
}

double counted(Range queries, Range keys, std::int64_t window) {
    double n = 0;
    for (std::int64_t q = queries.begin; q < queries.end; ++q)
        for (std::int64_t k = keys.begin; k < keys.end; ++k)
            if (k <= q && (window == 0 || k > q - window)) ++n;
    return n;
}

}  // namespace

TEST_CASE("pairs that the mask asks are those that one counts, with a window and without") {
    for (const std::int64_t window : {0, 1, 3, 8, 40})
        for (std::int64_t a = 0; a < 24; a += 6)
            for (std::int64_t b = 0; b < 24; b += 4) {
                const Range queries{a, a + 6}, keys{b, b + 4};
                CHECK(pairs_asked(queries, keys, window) == counted(queries, keys, window));
            }
}

TEST_CASE("a ring gives each rank one slice from either end, and all the same work") {
    const TokenCut cut = slices_of(long_samples(4)).cut;
    REQUIRE(cut.slices.size() == 8);
    CHECK(cut.slices_of(0) == std::vector<std::size_t>{0, 7});
    CHECK(cut.slices_of(3) == std::vector<std::size_t>{3, 4});
    CHECK(cut.slices[7].tokens == Range{28672, 32768});
    for (std::int64_t r = 0; r < 4; ++r) CHECK(cut.share_of(r) == near(0.25, 1e-4));
    // In order the last of four has 7 of 16 parts, but for the diagonal.
    CHECK(cut.last_share_in_order() == near(7.0 / 16, 1e-4));
    // The first rank asks nothing of its own side of the middle; its last slice asks all.
    CHECK(cut.asks(0, 5));
    CHECK_FALSE(cut.asks(3, 5));
    CHECK(cut.asks(3, 2));
}

TEST_CASE("the keys of each rank come to every other in a round of their own") {
    const TokenCut cut = slices_of(long_samples(8)).cut;
    CHECK(cut.rounds() == 8);
    for (std::int64_t rank = 0; rank < 8; ++rank) {
        std::vector<std::int64_t> rounds;
        for (std::int64_t sender = 0; sender < 8; ++sender) rounds.push_back(cut.round_of(rank, sender));
        std::sort(rounds.begin(), rounds.end());
        for (std::int64_t i = 0; i < 8; ++i) CHECK(rounds[static_cast<std::size_t>(i)] == i);
        // They come from the neighbour: what a rank gets in a round, that one had in the round before.
        for (std::int64_t sender = 0; sender < 8; ++sender)
            if (sender != rank) CHECK(cut.round_of((rank + 7) % 8, sender) == cut.round_of(rank, sender) - 1);
    }
    for (const CpComm comm : {CpComm::allgather, CpComm::ulysses})
        CHECK(slices_of(long_samples(8, comm)).cut.rounds() == 2);
}

TEST_CASE("Ulysses cuts in order, and each rank computes all queries for a part of the heads") {
    const TokenSlices s = slices_of(long_samples(4, CpComm::ulysses));
    REQUIRE(s.cut.slices.size() == 4);
    CHECK(s.cut.inner == 4);
    CHECK(s.heads == 32);
    for (std::int64_t r = 0; r < 4; ++r) {
        CHECK(s.cut.slices_of(r) == std::vector<std::size_t>{static_cast<std::size_t>(r)});
        CHECK(s.cut.share_of(r) == near(0.25, 1e-12));
        for (std::size_t i = 0; i < 4; ++i) CHECK(s.cut.computes(r, i));
    }
}

TEST_CASE("a hop carries the keys and values of a rank's tokens, and a gather as many bytes") {
    const TokenSlices s = slices_of(long_samples(4));
    const KeysWay* ring = s.own_way();
    REQUIRE(ring != nullptr);
    REQUIRE(ring->hop() != nullptr);
    const double bytes = 32768.0 / 4 * 2 * 8 * 128 * 2;  // keys and values, 8 heads of 128 in 16 bits
    CHECK(ring->hop()->message_bytes == near(bytes, 1e-12));
    CHECK(ring->hop()->times == 3);
    CHECK(ring->sent_bytes == near(3 * bytes, 1e-12));
    REQUIRE(s.ways.size() == 3);
    const KeysWay& gather = s.ways[1];
    CHECK(gather.comm == CpComm::allgather);
    CHECK(gather.sent_bytes == near(3 * bytes, 1e-12));
    // Nothing hides a gather; the core takes as long in all ways.
    CHECK(gather.waits_s == near(gather.wire_s, 1e-9));
    CHECK(gather.slowed_s == 0);
    CHECK(gather.attention_s == near(ring->attention_s, 1e-12));
    CHECK(s.ways[2].comm == CpComm::ulysses);
}

TEST_CASE("a model whose layers all have experts sends keys and values too") {
    // Mixtral: 8 heads of keys, 128 wide; a GPU of cp 4 has 1,024 of 4,096 tokens.
    const TokenSlices s = slices_of(presets().plan("mixtral-8x7b-ep"));
    const KeysWay* own = s.own_way();
    REQUIRE(own != nullptr);
    CHECK(own->comm == CpComm::ring);
    CHECK(own->sent_bytes == near(3 * 1024.0 * 2 * 8 * 128 * 2, 1e-12));
    REQUIRE(own->hop() != nullptr);
    CHECK(own->hop()->times == 3);
    for (const KeysWay& w : s.ways) CHECK(w.sent_bytes > 0);
}

TEST_CASE("what a ring waits follows from its hops and the attention that may hide them") {
    for (const char* id : {"llama-3-8b-fsdp", "llama-3.1-405b-131k"})
        for (const std::int64_t tokens : {8192, 131072}) {
            Plan p = presets().plan(id);
            p.training.sequence_length = tokens;
            p.layout.cp_comm = CpComm::ring;
            p = with_factor(p, Axis::cp, 8, true);
            const Evaluation e = evaluate(p);
            if (!e.valid) continue;
            const TokenSlices s = token_slices(p, e, true, 4);
            const KeysWay& ring = *s.own_way();
            const double rate = p.cluster.gpu.efficiency.overlap;
            const double need = ring.hop()->call_s * ring.hop()->times;
            const double most = ring.attention_s * 7 / 8 / rate;
            CHECK(ring.wire_s == near(need, 1e-12));
            CHECK(ring.waits_s >= std::max(need - most, 0.0) * (1 - 1e-9));
            CHECK(ring.slowed_s == near((1 - rate) * (need - ring.waits_s), 1e-9));
        }
}

TEST_CASE("a plan without cp is shown with it, or whole; with too few GPUs a small one stands for it") {
    const Plan plan = long_samples(1);
    const TokenSlices cut = slices_of(plan);
    CHECK(cut.source == TokenSource::edited);
    CHECK(cut.plan.layout.cp == 4);
    CHECK(cut.whole.total() == near(evaluate(plan).memory.stage[0].total(), 1e-12));
    CHECK(cut.held.total()
          == near(evaluate(long_samples(4, cut.plan.layout.cp_comm)).memory.stage[0].total(), 1e-12));
    const Plan mesh = presets().plan("mesh-8");
    CHECK(slices_of(mesh).whole.total() == near(evaluate(mesh).memory.stage[0].total(), 1e-12));
    // Without cp as many ranks share out the state: only the sample is whole.
    const TokenSlices own = slices_of(long_samples(4));
    CHECK(own.whole.total() == near(evaluate(plan).memory.stage[0].total(), 1e-12));
    CHECK(own.whole.optimizer == near(own.held.optimizer, 1e-12));
    CHECK(own.whole.activations == near(4 * own.held.activations, 1e-6));
    const TokenSlices whole = slices_of(plan, false);
    CHECK(whole.cut.ranks == 1);
    CHECK(whole.ways.empty());
    CHECK(whole.cut.slices.size() == 1);
    CHECK(whole.cut.share_of(0) == near(1, 1e-12));
    const TokenSlices small = slices_of(presets().plan("single-gpu"), true, 8);
    CHECK(small.source == TokenSource::small);
    CHECK(small.cut.ranks == 8);
}

TEST_CASE("the slices of every shipped plan hold each token once, and its ranks share out the work") {
    for (const Presets::Entry& entry : presets().list(PresetKind::plan)) {
        CAPTURE(entry.id);
        const Plan plan = presets().plan(entry.id);
        const TokenSlices s = slices_of(plan);
        if (!s.why_not.empty()) continue;
        std::int64_t at = 0;
        for (const TokenSlice& slice : s.cut.slices) {
            CHECK(slice.tokens.begin == at);
            at = slice.tokens.end;
        }
        CHECK(at == s.cut.tokens);
        double all = 0;
        for (std::int64_t r = 0; r < s.cut.ranks; ++r) all += s.cut.share_of(r);
        CHECK(all == near(1, 1e-9));
        const bool has_own = s.own_way() != nullptr;
        CHECK(has_own);
        for (const KeysWay& w : s.ways) {
            CHECK(w.attention_s > 0);
            CHECK(w.waits_s <= w.wire_s);
        }
        CHECK_FALSE(words_of(s).plain.empty());
        CHECK_FALSE(balance_words(s.cut).empty());
    }
}
