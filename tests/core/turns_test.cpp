// The value at which a decision turns, against a scan of all values between.
#include "core/decide/turns.h"

#include "core/decide/compare.h"
#include "core/decide/search.h"
#include "core/evaluate.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

using namespace pentamesh;
using test::near;

namespace {

std::vector<Plan> at_value(const Candidates& of, const std::string& id, double value) {
    std::vector<Plan> out;
    for (const Plan& p : of.plans) out.push_back(with_constant(p, test::presets(), id, value));
    return out;
}

// Returns the first of many values from the present one to the end that turns the decision.
std::optional<double> scanned(const Candidates& of, const Turns& t, double end) {
    constexpr int kSteps = 40;
    for (int i = 1; i <= kSteps; ++i) {
        const double value =
            t.constant.value * std::pow(end / t.constant.value, static_cast<double>(i) / kSteps);
        if (broken_by(of, at_value(of, t.constant.id, value))) return value;
    }
    return std::nullopt;
}

// The plan, and what one change each gives; the fastest that fits is taken where it is worth it.
Candidates tried_of(const char* name) {
    Candidates out;
    out.plans.push_back(test::presets().plan(name));
    const Evaluation e = evaluate(out.plans[0]);
    REQUIRE(e.step);
    out.taken = 0;
    const std::vector<SearchResult> tried = best_of_each_edit(out.plans[0], {.headroom = 0});
    for (std::size_t i = 0; i < std::min<std::size_t>(3, tried.size()); ++i)
        out.plans.push_back(tried[i].plan);
    const bool own = fits(fit_of(e.memory).value_or(MemoryFit::no));
    if (!tried.empty() && (!own || 1 - tried[0].step_s / e.step->time_s >= kWorthIt)) out.taken = 1;
    return out;
}

}  // namespace

TEST_CASE("a turning value is where a scan finds it, and nothing turns where the scan finds nothing") {
    int turned = 0, held = 0;
    for (const char* name : {"mesh-8", "llama-3-70b-3d"}) {
        CAPTURE(name);
        const Candidates of = tried_of(name);
        REQUIRE_FALSE(broken_by(of, of.plans));
        for (const Turns& t : turns_of(of, test::presets(), 1)) {
            CAPTURE(t.constant.id);
            for (const bool above : {false, true}) {
                const std::optional<TurnPoint>& found = above ? t.above : t.below;
                const std::optional<double> there = scanned(of, t, above ? t.most : t.least);
                if (found) {
                    ++turned;
                    // A step of the scan is 1.75 %.
                    REQUIRE(there);
                    CHECK(found->at == near(*there, 0.019));
                    // It holds a little before, and breaks there.
                    const double before = found->at + 0.003 * (t.constant.value - found->at);
                    CHECK(broken_by(of, at_value(of, t.constant.id, found->at)));
                    if (std::abs(before / found->at - 1) > 0.0015)
                        CHECK_FALSE(broken_by(of, at_value(of, t.constant.id, before)));
                } else {
                    ++held;
                    CHECK_FALSE(there);
                }
            }
        }
    }
    CHECK(turned > 0);
    CHECK(held > 0);
}

TEST_CASE("a decision for the slower of two plans does not hold, and nothing is asked of it") {
    Candidates of;
    of.plans.push_back(test::presets().plan("llama-3-70b-3d"));
    of.plans.push_back(of.plans[0]);
    of.plans[1].cluster.tiers[0].bytes_per_s *= 1.5;  // the same with a faster first link: it is taken
    of.taken = 1;
    REQUIRE_FALSE(broken_by(of, of.plans));
    std::swap(of.plans[0], of.plans[1]);
    REQUIRE(broken_by(of, of.plans));  // now the slower one is said to be taken
    CHECK(broken_by(of, of.plans)->kind == TurnKind::is_slower);
    CHECK(broken_by(of, of.plans)->by == 0);
    CHECK(turns_of(of, test::presets(), 1).empty());  // it does not hold as it is
}

TEST_CASE("of plans that do not fit none is taken, and one that fits turns that") {
    Candidates of;
    of.plans.push_back(test::presets().plan("llama-3-70b-3d"));
    of.plans[0].cluster.gpu.hbm_bytes /= 8;
    CHECK_FALSE(broken_by(of, of.plans));
    std::vector<Plan> larger = of.plans;
    larger[0].cluster.gpu.hbm_bytes *= 8;
    const std::optional<TurnPoint> turned = broken_by(of, larger);
    REQUIRE(turned);
    CHECK(turned->kind == TurnKind::fits_after_all);
    of.taken = 0;
    REQUIRE(broken_by(of, of.plans));
    CHECK(broken_by(of, of.plans)->kind == TurnKind::fits_no_more);
}
