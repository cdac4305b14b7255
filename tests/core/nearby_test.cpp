// Compares the best layout within two edits with every layout of the whole space that is so near.
#include "core/decide/search.h"

#include "core/io/presets.h"
#include "core/rules/software_runs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

using namespace pentamesh;

namespace {

// Returns the number of edits between two layouts, not counting dp_shard.
int edits_apart(const Plan& a, const Plan& b) {
    const Layout &x = a.layout, &y = b.layout;
    int n = 0;
    n += x.tp != y.tp ? 1 : 0;
    n += x.cp != y.cp ? 1 : 0;
    n += x.pp != y.pp ? 1 : 0;
    n += x.schedule != y.schedule || x.virtual_stages != y.virtual_stages ? 1 : 0;
    n += x.ep != y.ep ? 1 : 0;
    n += x.zero != y.zero ? 1 : 0;
    n += x.dp_replicate.value_or(1) != y.dp_replicate.value_or(1) ? 1 : 0;
    n += x.order != y.order ? 1 : 0;
    n += a.training.micro_batch != b.training.micro_batch ? 1 : 0;
    n += !(a.training.recompute == b.training.recompute) ? 1 : 0;
    return n;
}

}  // namespace

TEST_CASE(
    "no layout within two edits that fits is faster than the one that is named, and it is so near itself") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("mesh-8");
    const std::optional<SearchResult> best = layouts_within_two_edits(plan, 0, {.threads = 1}).fastest;
    REQUIRE(best);
    CHECK(edits_apart(plan, best->plan) <= 2);
    CHECK(evaluate(best->plan).step->time_s == best->step_s);
    // The search finds all layouts of the whole space that fit: nothing is skipped while so many are asked
    // for.
    std::optional<SpaceError> none;
    const SearchReport all = search(plan, search_space(plan, {}, none), {.top = 1000000, .threads = 1});
    double least = std::numeric_limits<double>::infinity();
    for (const SearchResult& r : all.results)
        if (edits_apart(plan, r.plan) <= 2) least = std::min(least, r.step_s);
    CHECK(best->step_s <= least);
}

TEST_CASE("what two edits gain is what evaluate says of it, with a pipeline and with experts") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const char* name : {"llama-3.1-405b-16k", "mixtral-8x7b-ep"}) {
        CAPTURE(name);
        const Plan plan = presets.plan(name);
        const std::optional<SearchResult> best = layouts_within_two_edits(plan, 0, {.threads = 1}).fastest;
        REQUIRE(best);
        CHECK(edits_apart(plan, best->plan) <= 2);
        const Evaluation e = evaluate(best->plan);
        CHECK(e.step->time_s == best->step_s);
        CHECK(e.memory.peak() == best->memory_bytes);
    }
}

TEST_CASE("a plan that its software does not run whole is near layouts that lack nothing new") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("llama-3.1-405b-16k");  // ZeRO-2 with a pipeline: Megatron-LM has no such
    const std::optional<SearchResult> best = layouts_within_two_edits(plan, 0, {.threads = 1}).fastest;
    REQUIRE(best);
    CHECK_FALSE(lack_that_came(plan, best->plan));
    // cp 2 would be faster, but Megatron-LM then wants pp last in the order: that lack would be new.
    Plan cut = plan;
    cut.layout.cp = 2, cut.layout.dp_shard /= 2;
    REQUIRE(lack_that_came(plan, cut));
    CHECK(evaluate(cut).step->time_s < best->step_s);
}

TEST_CASE("what two edits gain can be stopped, and is nothing where nothing fits") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const std::atomic<bool> cancelled{true};
    CHECK_FALSE(
        layouts_within_two_edits(presets.plan("llama-3-70b-3d"), 0, {.threads = 1}, &cancelled).fastest);
    Plan plan = presets.plan("llama-3.1-405b-8k");
    plan.cluster.gpus = 8;
    plan.layout = {};
    plan.layout.dp_shard = 8;
    CHECK_FALSE(layouts_within_two_edits(plan, 0, {.threads = 1}).fastest);
}

TEST_CASE("each edit changes something, also of a plan that leaves fields out which a layout states") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan plan = presets.plan("mixtral-8x7b-ep");
    plan.layout.etp.reset();
    plan.layout.dp_replicate.reset();
    REQUIRE(evaluate(plan).step);
    const std::vector<SearchResult> tried = best_of_each_edit(plan, {.headroom = -1e3, .threads = 1});
    CHECK(tried.size() > 3);
    for (const SearchResult& r : tried) CHECK_FALSE(changed_choices(plan, r.choice).empty());
}

TEST_CASE("plans are laid out alike where layout and training are equal") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("mixtral-8x7b-ep");
    Plan named = plan;
    named.name = "Another name";
    named.cluster.price_per_gpu_hour = 2;
    CHECK(is_laid_out_as(plan, named));
    Plan offloads = plan;  // a change that frees memory is of these fields too
    offloads.training.offload.optimizer = 0.5;
    CHECK_FALSE(is_laid_out_as(plan, offloads));
    Plan other = plan;
    other.layout.zero = plan.layout.zero == 1 ? 2 : 1;
    CHECK_FALSE(is_laid_out_as(plan, other));
    // A layout that an edit gives has what is held as the plan has it.
    for (SearchResult& r : best_of_each_edit(plan, {.headroom = -1e3, .threads = 1})) {
        r.plan.layout = plan.layout;
        r.plan.training.micro_batch = plan.training.micro_batch;
        r.plan.training.recompute = plan.training.recompute;
        CHECK(is_laid_out_as(plan, r.plan));
    }
}
