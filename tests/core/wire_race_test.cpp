#include "core/teach/wire_race.h"

#include "core/base/text.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

WireRace race_of(const Plan& plan) {
    return wire_race(plan, evaluate(plan));
}

}  // namespace

TEST_CASE("a GB takes what the data sheets say: HBM3, NVLink one way, RoCE, a spine shared by seven") {
    const WireRace race = race_of(presets().plan("llama-3.1-405b-16k"));
    REQUIRE(race.lanes.size() == 4);
    CHECK(race.lanes[0].takes_s() == near(1 / 3350.0, 0.01));  // H100 SXM: 3.35 TB/s
    CHECK(race.lanes[1].takes_s() == near(1 / 450.0, 1e-6));   // 900 GB/s both ways
    CHECK(race.lanes[2].takes_s() == near(8 / 400.0, 1e-6));   // 400 Gb/s (Llama 3, section 3.3.1)
    CHECK(race.lanes[3].takes_s() == near(7 * 8 / 400.0, 1e-6));
    CHECK(race.lanes[1].reach == "8 GPUs");
    CHECK(race.lanes[3].reach == "all 16,384 GPUs");
    // It stops where two are done and two are not.
    CHECK(race.telling_s == near(0.005, 1e-9));
    CHECK(race.end_s() == race.lanes[3].takes_s());
}

TEST_CASE("moments go from 0 over 1, 2, 5 and the end of each lane to the slowest, and back the same way") {
    const WireRace race = race_of(presets().plan("mesh-8"));
    std::vector<double> there{0}, back;
    while (there.back() < race.end_s()) {
        REQUIRE(there.size() < 60);
        there.push_back(race.moment_after(there.back()));
        CHECK(there.back() > there[there.size() - 2]);
    }
    for (const RaceLane& l : race.lanes)
        CHECK(std::any_of(there.begin(), there.end(),
                          [&](double s) { return std::abs(s - l.takes_s()) < 1e-9 * l.takes_s(); }));
    for (double at = race.end_s(); at > 0; at = race.moment_before(at)) {
        REQUIRE(back.size() < 60);
        back.push_back(at);
    }
    // Below the end of the fastest lane there is only the start.
    REQUIRE(back.size() < there.size());
    for (std::size_t i = 0; i < back.size(); ++i) CHECK(back[i] == near(there[there.size() - 1 - i], 1e-9));
    CHECK(race.moment_after(race.end_s()) == race.end_s());
    CHECK(race.moment_before(0) == 0);
}

TEST_CASE("who talks how often is what the calls of a step say") {
    for (const char* id : {"llama-3.1-405b-16k", "deepseek-v3-2048", "mixtral-8x7b-ep", "hsdp-64"}) {
        CAPTURE(id);
        const Evaluation e = evaluate(presets().plan(id));
        const WireRace race = wire_race(presets().plan(id), e);
        REQUIRE_FALSE(race.talk.empty());
        for (std::size_t i = 0; i < race.talk.size(); ++i) {
            const WireTalk& t = race.talk[i];
            CHECK(t.calls == e.comm.by_axis[t.kind].count);
            CHECK(t.sent_bytes == e.comm.by_axis[t.kind].sent_bytes_per_rank);
            if (i > 0) CHECK(t.calls <= race.talk[i - 1].calls);
        }
    }
}

TEST_CASE("tp on another wire is the plan with that order, each tier once, the plan's own among them") {
    const Plan plan = presets().plan("llama-3.1-405b-16k");
    const WireRace race = race_of(plan);
    REQUIRE(race.moved == Axis::tp);
    REQUIRE(race.orders.size() == 3);
    CHECK(race.orders[0].own);
    CHECK(race.orders[1].where == "tp behind pp");
    CHECK(race.orders[2].where == "tp outermost");
    for (std::size_t i = 0; i < race.orders.size(); ++i) {
        const OtherOrder& o = race.orders[i];
        CAPTURE(o.where);
        CHECK(o.tier == static_cast<int>(i));
        const Evaluation e = evaluate(o.plan);
        REQUIRE(e.step);
        CHECK(e.groups[GroupKind::tp].slowest_tier == o.tier);
        CHECK(o.step_s == e.step->time_s);
        CHECK(o.waits_s == e.step->exposed_comm_s[GroupKind::tp]);
        Plan same = o.plan;
        same.layout.order = plan.layout.order;
        CHECK(same.layout == plan.layout);
    }
    CHECK(race.orders[1].step_s > race.orders[0].step_s * 2);
    CHECK(race.orders[2].step_s > race.orders[1].step_s * 2);
    CHECK(sentence_of(race, plan.cluster).starts_with("The chattiest sits on the fastest wire"));
}

TEST_CASE("a plan with tp over the spine is told what the fast wire would give, to the digit") {
    const Plan plan = presets().plan("llama-3.1-405b-16k");
    const WireRace good = race_of(plan), bad = race_of(good.orders[2].plan);
    REQUIRE(bad.orders.size() == 3);
    CHECK(bad.orders[2].own);
    CHECK(bad.orders[0].step_s == near(good.orders[0].step_s, 1e-9));
    const double less = 1 - bad.orders[0].step_s / bad.orders[2].step_s;
    CHECK(sentence_of(bad, plan.cluster)
          == "With tp on NVLink the step is " + percent_text(less) + " shorter.");
}

TEST_CASE("one GPU has no talk and no other order; copies that talk to all others have none to move either") {
    const WireRace one = race_of(presets().plan("single-gpu"));
    CHECK(one.talk.empty());
    CHECK_FALSE(one.moved);
    CHECK(one.orders.empty());
    CHECK(one.telling_s == near(0.005));
    CHECK(sentence_of(one, presets().plan("single-gpu").cluster).empty());
    Plan plain = presets().plan("mesh-8");
    plain.layout.tp = plain.layout.dp_shard = 1;
    plain.layout.zero = 0;
    plain.layout.dp_replicate = 8;
    CHECK(race_of(plain).talk.size() == 1);
    CHECK_FALSE(race_of(plain).moved);
}
