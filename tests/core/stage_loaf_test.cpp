#include "core/teach/stage_loaf.h"

#include "core/io/plan_json.h"
#include "core/teach/loaf.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;
using pentamesh::test::presets;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

// Llama 3.2 1B, four samples of 8,192 tokens as four micro-batches, four stages in a node.
Plan four_stages(const std::vector<std::string>& sets = {}) {
    std::vector<std::string> all{"model=llama-3.2-1b", "cluster.gpus=4",          "layout.tp=1",
                                 "layout.dp_shard=1",  "layout.dp_replicate=1",   "layout.pp=4",
                                 "layout.zero=0",      "training.global_batch=4", "training.micro_batch=1"};
    all.insert(all.end(), sets.begin(), sets.end());
    return with_sets(presets().plan("mesh-8"), all, presets());
}

// A plan for each schedule that four stages of sixteen layers can run.
std::vector<Plan> plans_of_all_schedules() {
    std::vector<Plan> out;
    for (const ScheduleChoice& choice : schedule_choices()) {
        Plan plan = four_stages({"training.global_batch=16"});
        plan.layout.schedule = choice.schedule;
        plan.layout.virtual_stages = choice.chunks.chunks;
        out.push_back(plan);
    }
    return out;
}

}  // namespace

// The figures of the picture by which the step was drawn; messages and table in closed form.
TEST_CASE("a loaf cut between layers: who holds what, and what passes the cut") {
    const Plan plan = four_stages();
    const Evaluation e = evaluate(plan);
    REQUIRE(e.valid);
    const StageLoaf loaf = stage_loaf_of(plan, e, 0, 8);
    REQUIRE(loaf.boxes.size() == 4);
    CHECK(loaf.left_out == 0);
    CHECK(loaf.grows_to_first);
    for (std::size_t i = 0; i < 4; ++i) {
        const StageBox& b = loaf.boxes[i];
        CHECK(b.stage == static_cast<int>(i));
        CHECK(b.rank == static_cast<std::int64_t>(i));
        REQUIRE(b.pieces.size() == 1);
        CHECK(b.pieces[0].begin == static_cast<std::int64_t>(4 * i));
        CHECK(b.pieces[0].end == static_cast<std::int64_t>(4 * i + 4));
        CHECK(b.slices == near(4.0 - static_cast<double>(i), 1e-12));
        CHECK(b.slice_bytes / kGiB == near(2.32, 2e-3));
        CHECK(kept_at(e.timeline, b.stage, loaf.fullest_s).size() == 4 - i);
    }
    CHECK(loaf.boxes[0].crust() / kGiB == near(8.47, 2e-3));
    CHECK(loaf.boxes[1].crust() / kGiB == near(4.08, 2e-3));
    CHECK(loaf.boxes[3].head_bytes / kGiB == near(5.93, 2e-3));
    CHECK(loaf.boxes[3].copied_table);
    CHECK(loaf.cut.activation_bytes == near(8192.0 * 2048 * 2, 1e-12));  // bf16, a sample of 8,192 tokens
    CHECK(loaf.cut.gradient_bytes == near(8192.0 * 2048 * 2, 1e-12));
    // An all-reduce over two sends as much as there is: 128,256 rows of 2,048 gradients in fp32.
    CHECK(loaf.cut.table_bytes == near(128256.0 * 2048 * 4, 2e-3));
    CHECK_FALSE(loaf.cut.closes);
}

TEST_CASE("the tiles of a pipeline are the memory of its stages, to the byte") {
    std::vector<Plan> plans = plans_of_all_schedules();
    for (const auto& entry : presets().list(PresetKind::plan)) plans.push_back(presets().plan(entry.id));
    int seen = 0;
    for (const Plan& plan : plans) {
        CAPTURE(plan.name);
        CAPTURE(static_cast<int>(plan.layout.schedule));
        const Evaluation e = evaluate(plan);
        if (!e.valid || plan.layout.pp < 2) continue;
        ++seen;
        const StageLoaf loaf = stage_loaf_of(plan, e, e.mesh.world / 2, 8);
        CHECK(static_cast<std::int64_t>(loaf.boxes.size()) + loaf.left_out == plan.layout.pp);
        for (const StageBox& b : loaf.boxes) {
            const StageMemory& m = e.memory.stage[static_cast<std::size_t>(b.stage)];
            CHECK(b.crust() == near(m.parameters + m.gradients + m.optimizer, 1e-12));
            CHECK(b.bread() == near(m.activations, 1e-12));
            CHECK(b.buffers == near(m.buffers, 1e-12));
            CHECK(b.total() == near(m.total(), 1e-12));
        }
        // The pieces follow each other and are the whole model.
        std::int64_t next = 0;
        for (const StagePiece& p : loaf.pieces) {
            CHECK(p.begin == next);
            next = p.end;
        }
        CHECK(next == plan.model.layers);
    }
    CHECK(seen >= 10);
}

TEST_CASE("what is in flight at a moment is what the timeline counts, for each schedule") {
    int seen = 0;
    for (const Plan& plan : plans_of_all_schedules()) {
        CAPTURE(static_cast<int>(plan.layout.schedule));
        CAPTURE(plan.layout.virtual_stages);
        const Evaluation e = evaluate(plan);
        if (!e.valid || !e.timeline.complete) continue;
        ++seen;
        const StageLoaf loaf = stage_loaf_of(plan, e, 0, 8);
        for (const StageBox& b : loaf.boxes) {
            const auto steps = in_flight(e.timeline, b.stage);
            double most = 0;
            for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
                const double middle = (steps[i].time + steps[i + 1].time) / 2;
                const auto kept = kept_at(e.timeline, b.stage, middle);
                CHECK(static_cast<double>(kept.size())
                      == near(steps[i].held * cost_divisor(e.timeline.shape), 1e-9));
                most = std::max(most, static_cast<double>(kept.size()));
                CHECK(head_bytes_at(plan, b, kept) <= b.head_bytes * (1 + 1e-12));
            }
            CHECK(most == near(b.slices, 1e-9));
            CHECK(kept_at(e.timeline, b.stage, e.timeline.makespan * 2).empty());
        }
        CHECK(loaf.fullest_s > 0);
        CHECK(loaf.fullest_s < loaf.shown_s);
        CHECK(loaf.shown_s <= e.timeline.makespan);
    }
    CHECK(seen >= 5);
}

TEST_CASE("the whole of a pipeline has the samples that are in work at once") {
    const Plan piped = four_stages();
    const Evaluation e = evaluate(piped);
    const LoafRound round = round_of(piped, e);
    CHECK(round.at_once == 4);
    CHECK(round.microbatches == 4);
    // The same four samples as one micro-batch on one GPU: the same loaf.
    const Plan whole = four_stages({"layout.pp=1", "cluster.gpus=1", "training.micro_batch=4"});
    const Evaluation single = evaluate(whole, {.timeline = false});
    const Loaf loaf = loaf_of(piped, e, GroupKind::pp, 0, 8);
    CHECK(loaf.samples == 4);
    CHECK(loaf.whole.total == near(single.memory.peak(), 1e-12));
    CHECK(loaf.whole.total / kGiB == near(85.5, 1e-3));
    // Twice the batch is twice the rounds, and the same loaf.
    const Plan longer = four_stages({"training.global_batch=8"});
    CHECK(round_of(longer, evaluate(longer)).at_once == 4);
    CHECK(round_of(longer, evaluate(longer)).microbatches == 8);
    const Plan copies = four_stages({"layout.pp=1", "layout.dp_replicate=4", "training.global_batch=32"});
    CHECK(round_of(copies, evaluate(copies)).at_once == 1);
    CHECK(round_of(copies, evaluate(copies)).microbatches == 8);
}

TEST_CASE("of many stages the first three and the last are drawn") {
    const Plan plan = presets().plan("llama-3.1-405b-16k");
    const Evaluation e = evaluate(plan);
    REQUIRE(e.valid);
    const StageLoaf loaf = stage_loaf_of(plan, e, 8, 8);
    REQUIRE(loaf.boxes.size() == 4);
    CHECK(loaf.left_out == 12);
    CHECK(loaf.boxes[2].stage == 2);
    CHECK(loaf.boxes[3].stage == 15);
}
