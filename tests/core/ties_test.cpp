// Tests which layouts of a search are said to be tied, against all layouts of a small space, and the steps by
// which their robustness is judged, against plans that are changed by hand.
#include "core/decide/search.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

constexpr int kAll = 10000;

// Searches a space of few layouts: all of them are evaluated in a moment.
SearchReport searched(const Plan& plan, int top, Goal goal = Goal::tokens) {
    std::optional<SpaceError> error;
    SpaceRequest few;
    few.hold = {"order", "schedule", "recompute", "virtual_stages", "cp"};
    return search(plan, search_space(plan, few, error), {.goal = goal, .top = top, .threads = 1});
}

Plan of_eight() {
    return presets().plan("mesh-8");
}

}  // namespace

TEST_CASE("layouts within the range of the fastest are tied, as many as all layouts of the space say") {
    const Plan plan = of_eight();
    const SearchReport all = searched(plan, kAll);
    REQUIRE(all.results.size() < kAll);
    const double fastest = all.results.front().step_s;
    for (const double within : {0.0, 0.01, 0.05, 0.3}) {
        CAPTURE(within);
        std::int64_t expected = 0;
        for (const SearchResult& r : all.results)
            if (r.step_s <= fastest * (1 + within)) expected += 1 + r.alike;
        SearchReport r = searched(plan, kAll);
        find_ties(plan, {.within = within}, r);
        CHECK(r.ties.count == expected);
        CHECK(r.ties.all);
        CHECK_FALSE(r.ties.estimate);
        // A list that ends within the range knows only that there are at least so many.
        SearchReport few = searched(plan, 3);
        find_ties(plan, {.within = within}, few);
        CHECK(few.ties.count <= expected);
        if (few.ties.all) CHECK(few.ties.count == expected);
    }
}

TEST_CASE("without a range of one's own it is that of the estimate, and nothing is tied by memory") {
    const Plan plan = of_eight();
    SearchReport r = searched(plan, 10);
    find_ties(plan, {}, r);
    CHECK(r.ties.estimate);
    CHECK(r.ties.within == evaluate(r.results.front().plan).step->error);
    CHECK(tie_words(r).find("cannot be told apart") != std::string::npos);
    SearchReport lean = searched(plan, 10, Goal::memory);
    find_ties(plan, {}, lean);
    CHECK(lean.ties.count == 0);
    CHECK(tie_words(lean).empty());
}

TEST_CASE("the least memory within five per cent of the best time is found, also by a short list") {
    const Plan plan = of_eight();
    const SearchReport all = searched(plan, kAll);
    const double most = all.results.front().step_s * 1.05;
    double least = 1e300;
    for (const SearchResult& r : all.results)
        if (r.step_s <= most) least = std::min(least, r.memory_bytes);
    SearchReport r = searched(plan, 3);
    find_ties(plan, {.then = Second::memory, .within = 0.05}, r);
    CHECK(r.results.front().memory_bytes == least);
    CHECK(r.results.front().step_s <= most);
    for (std::size_t i = 1; i < r.results.size(); ++i)
        if (r.results[i].tied) CHECK(r.results[i].memory_bytes >= r.results[i - 1].memory_bytes);
}

TEST_CASE("tied layouts are ordered by how few fields of the plan they change") {
    const Plan plan = of_eight();
    SearchReport r = searched(plan, 40);
    find_ties(plan, {.then = Second::simple, .within = 0.5}, r);
    REQUIRE(r.results.front().tied);
    for (std::size_t i = 0; i < r.results.size(); ++i) {
        const SearchResult& x = r.results[i];
        CHECK(x.changes == static_cast<std::int64_t>(changed_choices(plan, x.choice).size()));
        if (i == 0) continue;
        if (x.tied) CHECK(x.changes >= r.results[i - 1].changes);
        CHECK((r.results[i - 1].tied || !x.tied));
    }
    // Nothing has to be changed to get to the plan itself.
    CHECK(changed_choices(plan, choice_of(plan)).empty());
    LayoutChoice other = choice_of(plan);
    other.zero = 3 - other.zero, other.micro_batch += 1;
    CHECK(changed_choices(plan, other) == std::vector<Varied>{Varied::zero, Varied::micro_batch});
}

TEST_CASE("a slower link and a slow stage cost what a plan changed by hand says") {
    const Plan plan = presets().plan("llama-3-70b-3d");
    const double step = evaluate(plan).step->time_s;
    Plan slow = plan;
    slow.cluster.tiers.back().bytes_per_s *= 0.9;
    CHECK(step_with_slow_link(plan) == evaluate(slow).step->time_s);
    CHECK(step_with_slow_link(plan) > step);
    // Eight GPUs of one node never use the slower link.
    const Plan inside = with_cluster(of_eight(), presets().cluster("h100-sxm-ib"), "h100-sxm-ib");
    REQUIRE(inside.cluster.gpus == 8);
    REQUIRE(inside.cluster.tiers.size() > 1);
    REQUIRE(domain_of(inside.cluster, 0) == 8);
    REQUIRE(evaluate(inside).step);
    CHECK(step_with_slow_link(inside) == evaluate(inside).step->time_s);
    // Without a pipeline all that the one stage does takes a quarter longer, and nothing hides it.
    Plan whole = with_factor(plan, Axis::pp, 1, true);
    whole.training.straggler_cv = 0;
    const Evaluation e = evaluate(whole);
    REQUIRE(e.step);
    REQUIRE_FALSE(e.timeline.empty());
    CHECK(step_with_slow_stage(whole) == near(e.step->time_s + 0.25 * e.timeline.makespan, 1e-6));
    // A slow stage of several costs at most as much.
    const Evaluation three = evaluate(plan);
    CHECK(step_with_slow_stage(plan) > step);
    CHECK(step_with_slow_stage(plan) <= (step + 0.25 * three.timeline.makespan) * 1.001);
}

TEST_CASE("robust layouts come first by the longer of their two slowed steps") {
    const Plan plan = presets().plan("llama-3-70b-3d");
    SearchReport r = searched(plan, 10);
    find_ties(plan, {.then = Second::robust}, r);
    REQUIRE(r.results.front().tied);
    double last = 0;
    for (const SearchResult& x : r.results) {
        if (!x.tied) continue;
        CHECK(x.slow_link_s == step_with_slow_link(x.plan));
        CHECK(x.slow_stage_s == step_with_slow_stage(x.plan));
        CHECK(std::max(x.slow_link_s, x.slow_stage_s) >= last);
        last = std::max(x.slow_link_s, x.slow_stage_s);
    }
}
