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
bool agrees(const Plan& plan, const Evaluation& e, const LanePicture& p) {
    const ResolvedPlan r(plan, e.mesh, e.groups);
    const StateTraffic traffic(r, e.comm, e.work);
    for (int t = 0; t < r.types.size(); ++t)
        for (const bool again : {false, true}) {
            const LayerWork& own = e.work.of(t);
            const double waits = own.comm.sum(Phase::forward) + own.comm.sum(Phase::backward)
                                 + (again ? own.recomputed.sum(Phase::backward) : 0);
            const double whole =
                traffic.layer_unit(t, true, false).compute + traffic.layer_unit(t, false, again).compute;
            const bool same =
                std::abs(p.waits_s - waits) <= 1e-9 * whole && std::abs(p.end_s - whole) <= 1e-9 * whole;
            if (same) return true;
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
    CHECK(b.assumed.find("another micro-batch") != std::string::npos);
}
