// A plan that a schedule refuses has a problem, with an edit that mends it.
#include "core/evaluate.h"
#include "core/plan/edits.h"
#include "plans.h"

#include <doctest/doctest.h>

using namespace pentamesh;

namespace {

struct Refused {
    Schedule schedule;
    int p, m, v, group;
    const char* pointer;
};

// Has one line or more for each row of "what is refused" in docs/schedules.md.
constexpr Refused kRefused[] = {
    {Schedule::gpipe, 4, 8, 2, 0, "/layout/virtual_stages"},
    {Schedule::one_f_one_b, 4, 8, 2, 0, "/layout/virtual_stages"},
    {Schedule::zb_h1, 4, 8, 2, 0, "/layout/virtual_stages"},
    {Schedule::zb_h2, 4, 8, 2, 0, "/layout/virtual_stages"},
    {Schedule::zb_h2, 4, 7, 1, 0, "/training/global_batch"},
    {Schedule::dualpipe, 4, 8, 2, 0, "/layout/virtual_stages"},
    {Schedule::dualpipe, 4, 9, 1, 0, "/training/global_batch"},
    {Schedule::dualpipe, 4, 6, 1, 0, "/training/global_batch"},
    {Schedule::dualpipev, 4, 8, 1, 0, "/layout/virtual_stages"},
    {Schedule::dualpipev, 4, 7, 2, 0, "/training/global_batch"},
    {Schedule::zb_v, 4, 8, 1, 0, "/layout/virtual_stages"},
    {Schedule::zb_v, 4, 8, 4, 0, "/layout/virtual_stages"},
    {Schedule::interleaved, 4, 8, 1, 0, "/layout/virtual_stages"},
    {Schedule::interleaved, 4, 6, 2, 0, "/training/global_batch"},
    {Schedule::interleaved, 4, 3, 2, 0, "/training/global_batch"},
    {Schedule::interleaved, 4, 8, 2, 3, "/layout/microbatch_group"},
};

Plan plan_of(const Refused& r) {
    Plan plan = test::small_plan(64);
    plan.layout.schedule = r.schedule;
    plan.layout.pp = r.p, plan.layout.virtual_stages = r.v, plan.layout.dp_shard = 64 / r.p;
    if (r.group != 0) plan.layout.microbatch_group = r.group;
    plan.training.global_batch = std::int64_t{r.m} * plan.layout.dp_shard;
    return plan;
}

const Problem* refusal(const Evaluation& e) {
    for (const Problem& p : e.problems)
        if (p.code == ProblemCode::schedule_refuses) return &p;
    return nullptr;
}

}  // namespace

TEST_CASE("every refusal of a schedule is a problem that names its field and whose fix lets it run") {
    for (const Refused& r : kRefused) {
        Plan plan = plan_of(r);
        CAPTURE(name_of(r.schedule));
        CAPTURE(r.m);
        CAPTURE(r.v);
        const Evaluation e = evaluate(plan);
        CHECK(e.timeline.empty());
        const Problem* problem = refusal(e);
        REQUIRE(problem != nullptr);
        CHECK(problem->severity == Severity::error);
        CHECK(problem->pointer == r.pointer);
        REQUIRE_FALSE(problem->fix.empty());
        REQUIRE(apply_in_core(plan, problem->fix));
        const Evaluation mended = evaluate(plan);
        CHECK(refusal(mended) == nullptr);
        CHECK(mended.timeline.complete);
        CHECK(plan.layout.schedule == r.schedule);  // mended, not given up
    }
}
