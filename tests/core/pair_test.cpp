// Tests what of the experts' way hides in a pair of micro-batches, in cases that are worked out by hand and
// in random ones.
#include "core/step/pair.h"
#include "tests/near.h"

#include <algorithm>
#include <random>

using namespace pentamesh;
using test::near;

namespace {

// 4 s of attention and 2 s of experts, the backward twice as long, half of it for the weights.
LayerPair usual_pair() {
    LayerPair p;
    p.experts = {2, 2, 2};
    p.rest = {4, 8, 0};
    p.rate = 1;
    return p;
}

double sum(const EnumArray<PairCall, double>& of) {
    double s = 0;
    for (const double x : of) s += x;
    return s;
}

}  // namespace

TEST_CASE("in a pair each call has the window that the other micro-batch opens for it") {
    LayerPair p = usual_pair();
    p.call = {4, 4, 2, 8};  // as long as their windows
    PairTimes t = time_pair(p);
    for (const PairCall c : all_of<PairCall>()) CHECK(t.hidden[c] == near(p.call[c], 1e-12));
    CHECK(t.slowed() == 0);
    p.call = {5, 5, 3, 9};  // a second more each, which nothing hides
    t = time_pair(p);
    CHECK(sum(t.hidden) == near(sum(p.call) - 4, 1e-12));
    // With weight gradients apart the gradients leave earlier, if the wire is free.
    p.call = {0, 1, 5, 0};
    CHECK(time_pair(p).hidden[PairCall::gradients_from_experts] == near(2, 1e-12));
    p.splits_backward = true;
    CHECK(time_pair(p).hidden[PairCall::gradients_from_experts] == near(4, 1e-12));
    p.call = {0, 3, 5, 0};  // the tokens have the wire for a second longer
    CHECK(time_pair(p).hidden[PairCall::gradients_from_experts] == near(3, 1e-12));
}

TEST_CASE("a call next to compute slows it, and is slowed as much") {
    LayerPair p = usual_pair();
    p.rate = 0.8;
    p.call = {3, 0, 0, 0};
    PairTimes t = time_pair(p);
    CHECK(t.slowed_forward == near(0.2 * 3, 1e-12));
    CHECK(t.slowed_backward == 0);
    p.call = {40, 40, 40, 40};
    t = time_pair(p);
    CHECK(t.hidden[PairCall::gradients_to_experts] == near(4, 1e-12));
    CHECK(t.hidden[PairCall::tokens_from_experts] == near(8, 1e-12));
}

TEST_CASE("pairs at random: no call hides more than it takes, and hiding it never costs") {
    std::mt19937 rng(20261129);
    std::uniform_real_distribution<double> seconds(0, 1), rate(0.3, 1);
    for (int i = 0; i < 20000; ++i) {
        LayerPair p;
        p.experts = {seconds(rng), seconds(rng), seconds(rng)};
        p.rest = {seconds(rng), seconds(rng), seconds(rng)};
        for (double& c : p.call) c = 2 * seconds(rng);
        p.splits_backward = rng() % 2 == 0;
        p.rate = rate(rng);
        const PairTimes t = time_pair(p);
        for (const PairCall c : all_of<PairCall>()) {
            CHECK(t.hidden[c] >= 0);
            CHECK(t.hidden[c] <= p.call[c] * (1 + 1e-12));
        }
        CHECK(t.slowed_forward >= -1e-12);
        CHECK(t.slowed_backward >= -1e-12);
        CHECK(t.slowed() == near((1 - p.rate) * sum(t.hidden), 1e-9));
        CHECK(t.slowed() <= sum(t.hidden) * (1 + 1e-12));
        // Longer calls wait longer, and more compute hides at least as much.
        LayerPair longer = p;
        const auto changed = static_cast<PairCall>(rng() % kEnumCount<PairCall>);
        longer.call[changed] += seconds(rng);
        const PairTimes more = time_pair(longer);
        CHECK(sum(longer.call) - sum(more.hidden) >= (sum(p.call) - sum(t.hidden)) * (1 - 1e-9));
        LayerPair slower = p;
        slower.experts.forward += seconds(rng), slower.rest.input_grad += seconds(rng);
        CHECK(sum(time_pair(slower).hidden) >= sum(t.hidden) * (1 - 1e-9));
    }
}
