// "A plan fits" has one meaning, and the same words wherever it is said.
#include "core/advice/advice.h"
#include "core/decide/compare.h"
#include "core/decide/scale.h"
#include "core/decide/search.h"
#include "shipped.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

using namespace pentamesh;

namespace {

constexpr std::string_view kMayFit = "It may fit if buffers stay small";

// Returns a plan of one stage whose GPU has what the middle of the range takes, less `missing` bytes.
Plan plan_that_lacks(double missing) {
    Plan p = test::presets().plan("llama-3-8b-fsdp");
    p.cluster.gpu.hbm_bytes = evaluate(p).memory.peak() - missing;
    return p;
}
// Half of what buffers may take less than commonly measured is missing.
Plan plan_that_may_fit() {
    const StageMemory s = evaluate(test::presets().plan("llama-3-8b-fsdp")).memory.stage.front();
    return plan_that_lacks((s.buffers - s.buffers_low) / 2);
}
bool says_in(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a plan fits with the middle of its buffers, may fit with the low end, and else does not") {
    const StageMemory s = evaluate(test::presets().plan("llama-3-8b-fsdp")).memory.stage.front();
    REQUIRE(s.buffers_low < s.buffers);
    // A loss of another library, which this plan may have, keeps 14 bytes of each of 8,192 x 128,256 logits.
    const double roomy = std::max({s.most(), s.total() / kTightShare, s.total() + 14.0 * 8192 * 128256});
    CHECK(evaluate(plan_that_lacks(s.total() - roomy - 1)).memory.fit() == MemoryFit::yes);
    CHECK(evaluate(plan_that_lacks(s.total() - roomy + 1)).memory.fit() == MemoryFit::tight);
    CHECK(evaluate(plan_that_lacks(0)).memory.fit() == MemoryFit::tight);
    CHECK(evaluate(plan_that_lacks(1)).memory.fit() == MemoryFit::if_small);
    CHECK(evaluate(plan_that_lacks(s.buffers - s.buffers_low)).memory.fit() == MemoryFit::if_small);
    CHECK(evaluate(plan_that_lacks(s.buffers - s.buffers_low + 1)).memory.fit() == MemoryFit::no);
    for (const MemoryFit f : {MemoryFit::tight, MemoryFit::if_small}) CHECK(name_of(f) == "may not fit");
}

TEST_CASE("comparison, sensitivity and search say of each plan what its evaluation says") {
    const Plan a = plan_that_may_fit();
    Plan b = a;
    b.training.recompute = Recompute::full;
    const std::vector<Plan> plans{a, b};
    const PlanComparison c = compare(plans, std::vector{evaluate(a), evaluate(b)});
    CHECK(c.fit == std::vector<std::optional<MemoryFit>>{MemoryFit::if_small, MemoryFit::yes});
    REQUIRE(c.path.size() == 1);
    CHECK(c.path[0].fit == MemoryFit::yes);
    REQUIRE(path_between(b, a).size() == 1);
    CHECK(path_between(b, a)[0].fit == MemoryFit::if_small);

    std::set<MemoryFit> seen;
    for (const SensitivityRow& r : sensitivity_of(a, test::presets()).rows)
        for (const std::optional<Nudge>* n : {&r.down, &r.up})
            if (*n && (*n)->valid()) {
                CAPTURE(r.id);
                CHECK((*n)->fit == evaluate((*n)->plan).memory.fit());
                seen.insert((*n)->fit);
            }
    CHECK(seen.size() == 4);

    std::optional<SpaceError> error;
    const SearchSpace space = search_space(a, {{}, {"pp", "cp", "tp"}}, error);
    REQUIRE(!error);
    CHECK(search(a, space, {}).base.fit == MemoryFit::if_small);
}

TEST_CASE("advice says of a plan that may fit that it may") {
    const Plan plan = plan_that_may_fit();
    const Evaluation e = assess(plan);
    const auto problem = std::find_if(e.problems.begin(), e.problems.end(), [](const Problem& p) {
        return p.code == ProblemCode::memory_does_not_fit;
    });
    REQUIRE(problem != e.problems.end());
    CHECK(says_in(problem->message, kMayFit));
    Plan small = plan;
    small.cluster.gpu.hbm_bytes /= 2;
    for (const Problem& p : assess(small).problems) CHECK_FALSE(says_in(p.message, kMayFit));
}
