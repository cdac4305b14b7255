// Holds each change that makes a plan fit to all changes of its kind, to what evaluate says of it, and to
// what the plan's software can write down.
#include "core/decide/mends.h"

#include "core/decide/search.h"
#include "core/interop/export.h"
#include "core/interop/tools.h"
#include "core/io/presets.h"
#include "core/pipeline/stages.h"
#include "core/rules/software_runs.h"
#include "tests/core/shipped.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace pentamesh;

namespace {

// Llama 3 70B on 256 H100 of 80 GB, tp 4 x pp 4, whose activations are too many: 91 GiB.
Plan full_70b() {
    Plan p = test::presets().plan("llama-3-70b-3d");
    p.layout.tp = 4, p.layout.dp_shard = 16;
    return p;
}

const MemoryMend* mend_of_kind(const std::vector<MemoryMend>& all, MendKind kind) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const MemoryMend& m) { return m.kind == kind; });
    return at == all.end() ? nullptr : &*at;
}

// Returns the shortest step of the plan with any of these changes that leaves 8 % of the memory free, else 5
// %, else that fits.
template <typename T, typename Change>
double least_step(const Plan& plan, const std::vector<T>& values, Change&& change) {
    double least = std::numeric_limits<double>::infinity(), less = least, tight = least;
    for (const T& value : values) {
        Plan q = plan;
        change(q, value);
        if (q == plan || lack_that_came(plan, q)) continue;
        const Evaluation e = evaluate(q);
        if (!e.step || !e.memory.fits()) continue;
        tight = std::min(tight, e.step->time_s);
        if (e.memory.peak() <= 0.95 * e.memory.hbm) less = std::min(less, e.step->time_s);
        if (e.memory.peak() <= 0.92 * e.memory.hbm) least = std::min(least, e.step->time_s);
    }
    return !std::isinf(least) ? least : std::isinf(less) ? tight : less;
}

std::vector<RecomputeChoice> all_layers(std::int64_t most) {
    std::vector<RecomputeChoice> out{Recompute::full};
    for (std::int64_t n = 1; n <= most; ++n)
        for (const RecomputeMethod how : {RecomputeMethod::block, RecomputeMethod::uniform})
            out.emplace_back(RecomputeModules{}, n, how);
    return out;
}
std::vector<RecomputeChoice> all_modules() {
    std::vector<RecomputeChoice> out;
    for (unsigned bits = 1; bits < 128; ++bits) {
        RecomputeModules set;
        set.bits = static_cast<std::uint8_t>(bits);
        out.emplace_back(set, 0, RecomputeMethod::block);
    }
    return out;
}

// Lists the fields that the export to the plan's software cannot say, and what the software refuses.
std::vector<std::string> losses(const Plan& plan) {
    const interop::Tool* tool = interop::tool_for(plan.training.software);
    REQUIRE(tool != nullptr);
    const interop::Export made = interop::export_plan(plan, tool->name, test::presets());
    std::vector<std::string> out = made.refused;
    for (const interop::Unsaid& u : made.lost) out.emplace_back(u.pointer);
    return out;
}

}  // namespace

TEST_CASE("the mends of a full plan are what evaluate says of them, and its software runs them") {
    const Plan plan = full_70b();
    const Evaluation e = evaluate(plan);
    REQUIRE_FALSE(e.memory.fits());
    const std::vector<MemoryMend> mends = find_mends(plan, e, 1);
    CHECK(mends.size() == kMostMends);
    bool changed_numerics = false;
    for (const MemoryMend& m : mends) {
        CAPTURE(m.change);
        const Evaluation then = evaluate(m.plan);
        REQUIRE(then.step);
        CHECK(then.memory.fits());
        CHECK(then.step->time_s == m.step_s);
        CHECK(then.memory.peak() == m.memory_bytes);
        CHECK(then.memory.fit() == m.fit);
        CHECK_FALSE(lack_that_came(plan, m.plan));
        CHECK_FALSE(m.gives_up.empty());
        // One that leaves less than a search does says so.
        const bool little = 1 - m.memory_bytes / then.memory.hbm < 0.05 - 1e-9;
        CHECK((m.gives_up.find("of the memory free, a search 5 %") != std::string::npos) == little);
        CHECK_FALSE(m.change.empty());
        CHECK((m.keeps_numerics
               == (m.plan.training.gradients == plan.training.gradients
                   && m.plan.training.optimizer_state == plan.training.optimizer_state)));
        CHECK_FALSE((changed_numerics && m.keeps_numerics));  // those that change numerics come last
        changed_numerics = !m.keeps_numerics;
    }
}

TEST_CASE("no other change of a mend's kind that fits is cheaper") {
    for (const char* name : {"llama-3-70b-3d", "deepseek-v3-2048", "mixtral-8x7b-ep"}) {
        CAPTURE(name);
        Plan plan = name == std::string("llama-3-70b-3d") ? full_70b() : test::presets().plan(name);
        if (plan.model.moe) {
            plan.training.recompute = Recompute::none;
            plan.training.micro_batch = 2;
        }
        // The GPU has a little less than the plan takes, so that small changes may do.
        const double takes = evaluate(plan).memory.peak();
        for (const double share : {0.97, 0.7}) {
            CAPTURE(share);
            plan.cluster.gpu.hbm_bytes = share * takes;
            const Evaluation e = evaluate(plan);
            REQUIRE(e.step);
            REQUIRE_FALSE(e.memory.fits());
            const std::vector<MemoryMend> all = mend_of_each_kind(plan, e, 1);
            std::vector<std::int64_t> layers;
            layers_of_chunks(plan, layers);
            const auto recompute = [](Plan& q, const RecomputeChoice& c) { q.training.recompute = c; };
            const double by_layers =
                least_step(plan, all_layers(*std::max_element(layers.begin(), layers.end())), recompute);
            const double by_modules = least_step(plan, all_modules(), recompute);
            const MemoryMend* found = mend_of_kind(all, MendKind::recompute_layers);
            CHECK((found != nullptr ? found->step_s : std::numeric_limits<double>::infinity()) == by_layers);
            found = mend_of_kind(all, MendKind::recompute_modules);
            CHECK((found != nullptr ? found->step_s : std::numeric_limits<double>::infinity()) == by_modules);
            // Every layout of one edit is in the space of which the search is exact (nearby_test.cpp).
            double by_layout = std::numeric_limits<double>::infinity();
            for (const double headroom : {0.08, 0.05, 0.0}) {
                if (!std::isinf(by_layout)) break;
                for (const SearchResult& r : best_of_each_edit(plan, {.headroom = headroom, .threads = 1})) {
                    const Varied v = changed_choices(plan, r.choice).front();
                    if (v != Varied::recompute && v != Varied::micro_batch)
                        by_layout = std::min(by_layout, r.step_s);
                }
            }
            found = mend_of_kind(all, MendKind::layout);
            CHECK((found != nullptr ? found->step_s : std::numeric_limits<double>::infinity()) == by_layout);
            // The three of the answer are the three shortest steps of all kinds.
            std::vector<double> steps, listed;
            for (const MemoryMend& m : all)
                if (m.time_counted) steps.push_back(m.step_s);
            std::sort(steps.begin(), steps.end());
            for (const MemoryMend& m : find_mends(plan, e, 1))
                if (m.time_counted) listed.push_back(m.step_s);
            std::sort(listed.begin(), listed.end());
            REQUIRE(listed.size() <= steps.size());
            if (!steps.empty()) CHECK(std::equal(listed.begin(), listed.end(), steps.begin()));
        }
    }
}

TEST_CASE("a full Megatron plan of 70B is mended as its users do it") {
    const Plan plan = full_70b();
    const std::vector<MemoryMend> all = mend_of_each_kind(plan, evaluate(plan), 1);
    const MemoryMend* layers = mend_of_kind(all, MendKind::recompute_layers);
    REQUIRE(layers != nullptr);
    CHECK(layers->plan.training.recompute.whole_layers());
    CHECK(layers->plan.training.recompute.some_layers());  // --recompute-method block, not all of them
    const MemoryMend* types = mend_of_kind(all, MendKind::types);
    REQUIRE(types != nullptr);
    CHECK_FALSE(types->keeps_numerics);
    CHECK(types->gives_up.find("numerics: ") == 0);
    const MemoryMend* offload = mend_of_kind(all, MendKind::offload);
    if (offload != nullptr) {
        CHECK_FALSE(offload->time_counted);
        CHECK(offload->gives_up.find("not counted") != std::string::npos);
        CHECK(offload->plan.training.offload.activations_layers == 0);  // Megatron has none with a pipeline
    }
}

TEST_CASE("a mend is one that the export to the plan's software writes down whole") {
    int mended = 0;
    for (const Software software : {Software::megatron, Software::torchtitan, Software::deepspeed})
        for (const char* name : {"llama-3-8b-fsdp", "mixtral-8x7b-ep"}) {
            CAPTURE(name_of(software));
            CAPTURE(name);
            Plan plan = test::presets().plan(name);
            plan.training.software = software;
            const Evaluation first = evaluate(plan);
            if (!first.valid) continue;
            plan.cluster.gpu.hbm_bytes = 0.85 * first.memory.peak();
            const Evaluation e = evaluate(plan);
            const std::vector<std::string> own = losses(plan);
            for (const MemoryMend& m : mend_of_each_kind(plan, e, 1)) {
                CAPTURE(m.change);
                for (const std::string& loss : losses(m.plan))
                    CHECK_MESSAGE(std::find(own.begin(), own.end(), loss) != own.end(), loss);
                ++mended;
            }
        }
    CHECK(mended > 8);
}

TEST_CASE("a plan that fits, and one that is impossible, have no mends") {
    Plan plan = test::presets().plan("mesh-8");
    CHECK(find_mends(plan, evaluate(plan), 1).empty());
    plan.layout.tp = 3;
    CHECK(find_mends(plan, evaluate(plan), 1).empty());
}
