// Tests the picture of one layer on its lanes: it waits for what the step's estimate waits for, and ends when
// that ends.
#include "core/evaluate.h"
#include "core/explain/lane_picture.h"
#include "core/step/exposure.h"
#include "tests/core/layer_plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <cmath>

using namespace pentamesh;
using test::near;

namespace {

// Finds the type that a picture shows: its layers of the stage wait as long as the picture says.
// The step has the mean of a pair and of the passes that have no second micro-batch.
bool agrees(const Plan& plan, const Evaluation& e, const LanePicture& p) {
    const auto mean = [&](double LanePicture::*figure) {
        return p.paired ? p.paired_share * p.*figure + (1 - p.paired_share) * p.alone.front().*figure
                        : p.*figure;
    };
    const ResolvedPlan r(plan, e.mesh, e.groups);
    const StateTraffic traffic(r, e.comm, e.work);
    for (int t = 0; t < r.types.size(); ++t)
        for (const bool again : {false, true}) {
            const LayerWork& own = e.work.of(t);
            const double waits = own.comm.sum(Phase::forward) + own.comm.sum(Phase::backward)
                                 + (again ? own.recomputed.sum(Phase::backward) : 0);
            const double whole =
                traffic.layer_unit(t, true, false).compute + traffic.layer_unit(t, false, again).compute;
            if (std::abs(mean(&LanePicture::waits_s) - waits) <= 1e-9 * whole
                && std::abs(mean(&LanePicture::end_s) - whole) <= 1e-9 * whole)
                return true;
        }
    return false;
}

void check(const Plan& plan, int& shown) {
    const Evaluation e = evaluate(plan);
    const auto p = layer_picture(plan, e);
    if (!p) return;
    ++shown;
    CHECK(agrees(plan, e, *p));
    double at = 0;
    for (const LanePiece& piece : p->pieces) {
        CHECK(piece.end_s >= piece.start_s);
        CHECK(piece.start_s >= -1e-12);
        CHECK(piece.end_s <= p->end_s * (1 + 1e-9));
        CHECK_FALSE(piece.unit.empty());
        if (piece.kind != LanePieceKind::compute) continue;
        CHECK(piece.start_s >= at - 1e-12);  // the GPU does one thing at a time
        at = piece.end_s;
    }
}

}  // namespace

TEST_CASE("a layer on its lanes waits and ends as the step's estimate says: shipped plans") {
    int shown = 0;
    for (const Presets::Entry& entry : test::presets().list(PresetKind::plan)) {
        CAPTURE(entry.id);
        check(test::presets().plan(entry.id), shown);
    }
    CHECK(shown >= 6);
}

TEST_CASE("a layer on its lanes waits and ends as the step's estimate says: random plans") {
    int shown = 0;
    test::LayerPlans plans(20261129);
    for (int i = 0; i < 400; ++i) {
        const Plan plan = plans.next();
        CAPTURE(i);
        check(plan, shown);
    }
    CHECK(shown >= 50);
}

TEST_CASE("calls of experts stand between their kernels, and hide only where the plan lets them") {
    Plan plan = test::presets().plan("mixtral-8x7b-ep");
    plan.training.overlap.ep = false;
    const Evaluation alone = evaluate(plan);
    const LanePicture a = *layer_picture(plan, alone);
    double ep = 0;
    for (const LanePiece& p : a.pieces)
        if (p.kind == LanePieceKind::call && p.axis == GroupKind::ep) {
            CHECK(p.hidden_s == 0);
            ep += p.end_s - p.start_s;
        }
    CHECK(ep > 0);
    CHECK(a.pieces.front().unit == "attention");
    CHECK(a.sentence.find("and all of it is waited for.") != std::string::npos);
    plan.training.overlap.ep = true;
    const Evaluation hidden = evaluate(plan);
    const LanePicture b = *layer_picture(plan, hidden);
    CHECK(b.waits_s < a.waits_s);
    CHECK(b.hidden_s > 0);
    CHECK(b.end_s < a.end_s);
    CHECK(b.waits_s + b.hidden_s == near(a.waits_s + a.hidden_s, 1e-9));
    CHECK(b.title.find("In a pair") == 0);
    // The layer without the other micro-batch is what the plan is where nothing hides.
    REQUIRE(b.alone.size() == 1);
    CHECK(b.alone.front().end_s == near(a.end_s, 1e-9));
    CHECK(b.alone.front().waits_s == near(a.waits_s, 1e-9));
    CHECK(b.alone.front().slowed_s == near(a.slowed_s, 1e-9));
    CHECK(b.alone.front().pieces.size() == a.pieces.size());
}

TEST_CASE("in a pair a call and what it hides behind belong to two micro-batches") {
    const Plan plan = test::presets().plan("deepseek-v3-2048");
    const LanePicture p = *layer_picture(plan, evaluate(plan));
    REQUIRE(p.paired);
    CHECK(p.waits_s <= 1e-6 * p.end_s);  // DeepSeek-AI 2024, section 3.2.1: both ways are fully hidden
    const auto from = [&](std::string_view unit, bool forward, LanePieceKind kind) {
        double start_s = p.end_s, end_s = 0;
        for (const LanePiece& piece : p.pieces)
            if (piece.kind == kind && piece.forward == forward && piece.unit == unit)
                start_s = std::min(start_s, piece.start_s), end_s = std::max(end_s, piece.end_s);
        return std::pair(start_s, end_s);
    };
    const auto tokens = from("dispatch", true, LanePieceKind::call),
               experts = from("experts", true, LanePieceKind::compute),
               back = from("combine", true, LanePieceKind::call),
               gradients = from("attention", false, LanePieceKind::compute);
    CHECK(tokens.second <= experts.first * (1 + 1e-9));  // a forward's experts wait for its tokens
    CHECK(experts.second <= back.first * (1 + 1e-9));
    CHECK(back.second <= p.end_s * (1 + 1e-9));
    CHECK(gradients.second > back.first);  // another's backward computes meanwhile
    // One call at a time has the lane, and it is never busier than the pair is long.
    double at = 0;
    for (const LanePiece& piece : p.pieces)
        if (piece.kind == LanePieceKind::call && piece.lane == TrafficLane::card) {
            CHECK(piece.start_s >= at - 1e-12);
            at = piece.end_s;
        }
    CHECK(p.busy_s[TrafficLane::card] <= p.end_s);
}

TEST_CASE("a forward finds a partner once the first backward is there") {
    ScheduleShape shape{.schedule = Schedule::one_f_one_b, .devices = 1, .microbatches = 8};
    CHECK(paired_share(shape) == near(7.0 / 8, 1e-12));  // all forwards but the first
    shape.microbatches = 1;
    CHECK(paired_share(shape) == 0);
    shape = {.schedule = Schedule::gpipe, .devices = 4, .microbatches = 16};
    CHECK(paired_share(shape) == 0);  // all forwards go first
    shape = {.schedule = Schedule::one_f_one_b, .devices = 4, .microbatches = 16};
    CHECK(paired_share(shape) == near(1 - 2.5 / 16, 1e-12));  // 4 and 1 are in flight at the two ends
}
