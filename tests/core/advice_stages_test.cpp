// Tests advice on stages that work longer than the others.
#include "shipped.h"

#include "core/advice/advice.h"
#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/plan/edits.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

const Problem* uneven(const Evaluation& e) {
    for (const Problem& x : e.problems)
        if (x.code == ProblemCode::stages_uneven) return &x;
    return nullptr;
}

// Returns the longest device's compute time for one micro-batch.
double longest_stage(const Evaluation& e, int devices) {
    const std::size_t chunks = e.costs.chunk.size() / static_cast<std::size_t>(devices);
    double most = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(devices); ++d) {
        double work = 0;
        for (std::size_t c = 0; c < chunks; ++c) {
            const ChunkCost& k = e.costs.chunk[d * chunks + c];
            work += k.forward + k.input_grad + k.weight_grad;
        }
        most = std::max(most, work);
    }
    return most;
}

// Applies the fix of "stages-uneven" as the window does, and holds it to its promise.
Plan mended(const Plan& p, const Evaluation& before) {
    const Problem* found = uneven(before);
    REQUIRE(found != nullptr);
    REQUIRE(found->fix.size() == 1);
    CHECK(found->fix.front().path == "/layout/stage_layers");
    const Plan q = apply_edits(p, found->fix, presets());
    const Evaluation after = assess(q);
    REQUIRE(after.valid);
    REQUIRE(after.step);
    CHECK(after.step->time_s < before.step->time_s);
    CHECK(after.step->uneven_s < before.step->uneven_s);
    const int devices = static_cast<int>(p.layout.pp);
    CHECK(longest_stage(after, devices) < longest_stage(before, devices));
    CHECK(found->help.find("takes " + time_text(after.step->time_s) + " instead") != std::string::npos);
    CHECK((after.memory.fits() || after.memory.peak() <= before.memory.peak()));
    // Once it is applied, there is no more to gain by it.
    if (const Problem* left = uneven(after)) CHECK(left->fix.empty());
    return q;
}

}  // namespace

TEST_CASE("a stage that works longer than the others is named, and giving it fewer layers is a fix") {
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.layout.pp = 8, p.layout.dp_shard = 8, p.layout.dp_replicate = 1, p.layout.zero = 1;
    const Evaluation e = assess(p);
    REQUIRE(e.valid);
    REQUIRE(e.step);
    REQUIRE(e.step->uneven_s > 0.05 * e.step->time_s);
    const Problem* found = uneven(e);
    REQUIRE(found != nullptr);
    CHECK(found->message.starts_with("Stage 7 computes "));
    CHECK(found->message.find("4 layers and the head") != std::string::npos);
    const Plan q = mended(p, e);
    REQUIRE(q.layout.stage_layers.size() == 8);
    CHECK(q.layout.stage_layers.back() < 4);
    CHECK(std::accumulate(q.layout.stage_layers.begin(), q.layout.stage_layers.end(), std::int64_t{0}) == 32);
}

TEST_CASE("a list of layers that leaves one stage in the middle long is evened, head or no head") {
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.layout.pp = 4, p.layout.dp_shard = 16, p.layout.dp_replicate = 1, p.layout.zero = 1;
    p.layout.stage_layers = {6, 14, 6, 6};
    const Evaluation e = assess(p);
    REQUIRE(e.step);
    REQUIRE(uneven(e) != nullptr);
    CHECK(uneven(e)->message.find("Stage 1 computes") == 0);
    CHECK(uneven(e)->message.find("the head") == std::string::npos);
    mended(p, e);
}

TEST_CASE("chunks of an interleaved schedule are evened too") {
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.layout.pp = 4, p.layout.dp_shard = 16, p.layout.dp_replicate = 1, p.layout.zero = 1;
    p.layout.schedule = Schedule::interleaved, p.layout.virtual_stages = 2;
    p.layout.stage_layers = {4, 4, 4, 1, 4, 4, 10, 1};
    const Evaluation e = assess(p);
    REQUIRE(e.valid);
    REQUIRE(uneven(e) != nullptr);
    mended(p, e);
}

TEST_CASE("where a layer more is worse than the head alone, nothing is offered") {
    const Plan p = presets().plan("zoom-1024");  // ten layers a stage: an eleventh is more than the head
    const Evaluation e = assess(p);
    REQUIRE(uneven(e) != nullptr);
    CHECK(uneven(e)->fix.empty());
    CHECK(uneven(e)->help.empty());
}

TEST_CASE("a list of layers goes through an edit and back, and says itself in words") {
    const Plan p = presets().plan("llama-3-70b-3d");
    Plan q = p;
    q.layout.stage_layers.assign(static_cast<std::size_t>(p.layout.pp * p.layout.virtual_stages), 0);
    q.layout.stage_layers.back() = p.model.layers;
    const std::vector<Edit> edits = edits_between(p, q);
    REQUIRE(edits.size() == 1);
    Plan again = p;
    REQUIRE(apply_in_core(again, edits));
    CHECK(again.layout.stage_layers == q.layout.stage_layers);
    CHECK(words_of({Edit{"/layout/stage_layers", std::vector<std::int64_t>{4, 4, 4, 5, 3}}})
          == "stage_layers = 4 (3 times), 5, 3");
    CHECK(words_of(EditValue{std::vector<std::int64_t>{}}) == "an even split");
    const std::vector<Edit> back = edits_between(q, p);
    REQUIRE(apply_in_core(again, back));
    CHECK(again.layout.stage_layers.empty());
}
