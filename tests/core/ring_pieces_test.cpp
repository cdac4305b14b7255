// Plays the ring step by step, with every member's buffer kept, and compares the pieces that travel with
// those drawn.
#include "core/teach/loaf.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;

TEST_CASE("a ring's reduce-scatter sums every member's share of a piece at one member, as played by sets") {
    for (const std::int64_t n : {2, 3, 4, 7, 8}) {
        // whose[i][q] has the members in i's sum of piece q.
        std::vector<std::vector<std::set<std::int64_t>>> whose(n, std::vector<std::set<std::int64_t>>(n));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t q = 0; q < n; ++q) whose[i][q] = {i};
        for (std::int64_t step = 0; step < n - 1; ++step) {
            const auto before = whose;
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t q = piece_sent(RingPart::reduce, n, i, step), to = (i + 1) % n;
                CHECK_FALSE(before[i][q].empty());
                whose[to][q].insert(before[i][q].begin(), before[i][q].end());
                whose[i][q].clear();
            }
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t q = 0; q < n; ++q)
                    CHECK(piece_held(RingPart::reduce, n, i, q, step + 1)
                          == near(static_cast<double>(whose[i][q].size()) / static_cast<double>(n)));
        }
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t q = 0; q < n; ++q)
                CHECK(piece_held(RingPart::reduce, n, i, q, n - 1) == (q == (i + 1) % n ? 1 : 0));
    }
}

TEST_CASE("a ring's all-gather gives every member every piece, also where it goes on from a reduce-scatter") {
    for (const RingPart part : {RingPart::gather, RingPart::after_reduce})
        for (const std::int64_t n : {2, 3, 4, 8}) {
            std::vector<std::set<std::int64_t>> has(n);
            for (std::int64_t i = 0; i < n; ++i) has[i] = {part == RingPart::gather ? i : (i + 1) % n};
            for (std::int64_t step = 0; step < n - 1; ++step) {
                const auto before = has;
                for (std::int64_t i = 0; i < n; ++i) {
                    const std::int64_t q = piece_sent(part, n, i, step);
                    CHECK(before[i].contains(q));
                    CHECK_FALSE(before[(i + 1) % n].contains(q));
                    has[(i + 1) % n].insert(q);
                }
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t q = 0; q < n; ++q)
                        CHECK(piece_held(part, n, i, q, step + 1) == (has[i].contains(q) ? 1 : 0));
            }
            for (const auto& all : has) CHECK(all.size() == static_cast<std::size_t>(n));
        }
}

TEST_CASE("an exchange reaches every other member once") {
    constexpr std::int64_t kN = 5;
    for (std::int64_t i = 0; i < kN; ++i) {
        std::set<std::int64_t> to;
        for (std::int64_t step = 0; step < kN - 1; ++step)
            to.insert(piece_sent(RingPart::exchange, kN, i, step));
        CHECK(to.size() == kN - 1);
        CHECK_FALSE(to.contains(i));
        double all = 0;
        for (std::int64_t q = 0; q < kN; ++q) all += piece_held(RingPart::exchange, kN, i, q, kN - 1);
        CHECK(all == kN);
    }
}
