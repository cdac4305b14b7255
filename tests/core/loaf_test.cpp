#include "core/teach/loaf.h"

#include "core/io/plan_json.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;
using pentamesh::test::presets;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

// Llama 3.2 1B, four samples of 8,192 tokens in one step, two nodes of two H100.
Plan four_gpus(const std::vector<std::string>& sets) {
    std::vector<std::string> all{"model=llama-3.2-1b", "cluster.gpus=4",          "cluster.fast_domain=2",
                                 "layout.tp=1",        "layout.dp_shard=1",       "layout.dp_replicate=1",
                                 "layout.zero=0",      "training.global_batch=4", "training.micro_batch=1"};
    all.insert(all.end(), sets.begin(), sets.end());
    return with_sets(presets().plan("mesh-8"), all, presets());
}

Loaf loaf_of_plan(const Plan& plan, GroupKind kind = GroupKind::tp, std::size_t most = 8) {
    const Evaluation e = evaluate(plan);
    REQUIRE_MESSAGE(e.valid, (e.problems.empty() ? "" : e.problems.front().message));
    return loaf_of(plan, e, kind, 0, most);
}

std::int64_t copies_of(const LoafSlice& s, LoafPart part) {
    std::int64_t most = 1;
    for (const LoafBlock& b : s.blocks)
        if (b.part == part) most = std::max(most, b.copies);
    return most;
}

}  // namespace

// The figures of the picture by which the course was written (checked there against `memory`).
TEST_CASE("a cut through the data copies the crust, a cut through the model cuts it") {
    const Loaf dp = loaf_of_plan(four_gpus({"layout.dp_replicate=4"}));
    CHECK(dp.whole_known);
    CHECK(dp.samples == 4);
    CHECK(dp.whole.total / kGiB == near(85.5, 1e-3));
    CHECK(dp.whole.bytes_of(LoafPart::bread) / kGiB == near(60.8, 1e-3));
    REQUIRE(dp.slices.size() == 4);
    for (const LoafSlice& s : dp.slices) {
        CHECK(s.total / kGiB == near(38.3, 2e-3));
        CHECK(s.crust() / kGiB == near(20.7, 2e-3));
        CHECK(s.bytes_of(LoafPart::bread) / kGiB == near(15.2, 2e-3));
        CHECK(copies_of(s, LoafPart::parameters) == 4);
        CHECK(copies_of(s, LoafPart::bread) == 1);
    }
    const Loaf both =
        loaf_of_plan(four_gpus({"layout.dp_replicate=2", "layout.tp=2", "training.micro_batch=2"}));
    CHECK(both.slices[1].total / kGiB == near(27.7, 2e-3));
    CHECK(both.slices[1].crust() / kGiB == near(10.4, 5e-3));
    CHECK(copies_of(both.slices[1], LoafPart::optimizer) == 2);
    // The second rank has the right half of the width.
    for (const LoafBlock& b : both.slices[1].blocks) {
        CHECK(b.left == near(0.5, 1e-12));
        CHECK(b.right == near(1.0, 1e-12));
    }
    const Loaf zero = loaf_of_plan(four_gpus({"layout.dp_shard=4", "layout.zero=3"}));
    CHECK(zero.slices[2].total / kGiB == near(23.1, 2e-3));
    CHECK(zero.slices[2].crust() / kGiB == near(5.2, 1e-2));
    for (const LoafBlock& b : zero.slices[2].blocks) {
        if (b.part == LoafPart::bread) continue;
        CHECK(b.copies == 1);
        CHECK(b.top == near(0.5, 1e-12));
        CHECK(b.bottom == near(0.75, 1e-12));
    }
}

TEST_CASE("each stage of ZeRO sheds one part more") {
    for (int zero = 0; zero < 4; ++zero) {
        CAPTURE(zero);
        const Loaf loaf = loaf_of_plan(
            four_gpus({"layout.dp_shard=4", "layout.zero=" + std::to_string(zero)}), GroupKind::dp_shard);
        const LoafSlice& s = loaf.slices[1];
        CHECK(copies_of(s, LoafPart::optimizer) == (zero >= 1 ? 1 : 4));
        CHECK(copies_of(s, LoafPart::gradients) == (zero >= 2 ? 1 : 4));
        CHECK(copies_of(s, LoafPart::parameters) == (zero >= 3 ? 1 : 4));
        CHECK(copies_of(s, LoafPart::bread) == 1);
    }
}

// 13.6 % of what a layer keeps stands between the cuts of tensor parallelism (Llama 3.2 1B).
TEST_CASE("without sequence parallelism a part of the bread is whole on every tp rank") {
    for (const bool sequence_parallel : {false, true}) {
        CAPTURE(sequence_parallel);
        const Loaf loaf = loaf_of_plan(
            four_gpus({"layout.tp=4", "training.micro_batch=4",
                       std::string("layout.sequence_parallel=") + (sequence_parallel ? "true" : "false")}));
        const LoafSlice& s = loaf.slices[0];
        double copied = 0;
        for (const LoafBlock& b : s.blocks)
            if (b.part == LoafPart::bread && b.copies > 1) {
                CHECK(b.right - b.left == near(1.0, 1e-12));
                copied += b.bytes;
            }
        if (sequence_parallel)
            CHECK(copied == 0);
        else  // four ranks hold copies of it, and cut the rest
            CHECK(copied / (copied + 4 * (s.bytes_of(LoafPart::bread) - copied)) == near(0.136, 0.05));
    }
}

TEST_CASE("the volumes of a slice are the memory of its stage, to the byte") {
    for (const auto& entry : presets().list(PresetKind::plan)) {
        CAPTURE(entry.id);
        const Plan plan = presets().plan(entry.id);
        const Evaluation e = evaluate(plan);
        if (!e.valid) continue;
        for (const GroupKind kind : {GroupKind::tp, GroupKind::pp, GroupKind::ep, GroupKind::dp_shard}) {
            const Loaf loaf = loaf_of(plan, e, kind, e.mesh.world / 2, 8);
            CHECK(loaf.slices.size() <= 8);
            CHECK_FALSE(loaf.slices.empty());
            for (const LoafSlice& s : loaf.slices) {
                CAPTURE(s.rank);
                const StageMemory& m = e.memory.stage[static_cast<std::size_t>(s.stage)];
                CHECK(s.bytes_of(LoafPart::parameters) == near(m.parameters, 1e-12));
                CHECK(s.bytes_of(LoafPart::gradients) == near(m.gradients, 1e-12));
                CHECK(s.bytes_of(LoafPart::optimizer) == near(m.optimizer, 1e-12));
                CHECK(s.bytes_of(LoafPart::bread) == near(m.activations, 1e-12));
                CHECK(s.total == near(m.total(), 1e-12));
                for (const LoafBlock& b : s.blocks) {
                    CHECK(b.left >= 0);
                    CHECK(b.left < b.right);
                    CHECK(b.right <= 1 + 1e-9);
                    CHECK(b.top >= 0);
                    CHECK(b.top <= b.bottom);
                    CHECK(b.bottom <= 1 + 1e-9);
                }
            }
        }
    }
}

// Every number of the state is somewhere: the slices together, copies counted once, are the whole crust.
TEST_CASE("the slices together are the crust") {
    const std::vector<std::vector<std::string>> layouts{
        {"layout.dp_replicate=4"},
        {"layout.tp=4"},
        {"layout.pp=4", "training.global_batch=16"},
        {"layout.cp=4"},
        {"layout.dp_shard=4", "layout.zero=2"},
        {"layout.tp=2", "layout.dp_shard=2", "layout.zero=3"}};
    for (const auto& layout : layouts) {
        CAPTURE(layout.front());
        std::vector<std::string> sets{"model=llama-3-8b"};  // it has a head of its own
        sets.insert(sets.end(), layout.begin(), layout.end());
        const Plan plan = four_gpus(sets);
        const Loaf loaf = loaf_of_plan(plan);
        REQUIRE(loaf.slices.size() == 4);
        for (const LoafPart part : {LoafPart::optimizer, LoafPart::gradients, LoafPart::parameters}) {
            CAPTURE(name_of(part));
            double sum = 0;
            for (const LoafSlice& s : loaf.slices)
                for (const LoafBlock& b : s.blocks)
                    if (b.part == part) sum += b.bytes / static_cast<double>(b.copies);
            CHECK(sum == near(loaf.whole.bytes_of(part), 1e-3));
        }
    }
}

TEST_CASE("experts lie in drawers that ep deals out") {
    const Plan plan = presets().plan("mixtral-8x7b-ep");
    const Evaluation e = evaluate(plan);
    const Loaf loaf = loaf_of(plan, e, GroupKind::ep, 0, 8);
    CHECK_FALSE(loaf.all_ranks);
    REQUIRE(loaf.slices.size() == 8);
    // Mixtral 8x7B: 45.1 of 46.7 billion parameters are the experts' (32 layers x 8 x 3 x 4096 x 14336).
    CHECK(1 - loaf.drawers_from == near(32.0 * 8 * 3 * 4096 * 14336 / 46.7e9, 1e-3));
    for (std::size_t i = 0; i < loaf.slices.size(); ++i)
        for (const LoafBlock& b : loaf.slices[i].blocks) {
            if (!b.experts) continue;
            const double width = (1 - loaf.drawers_from) / 8;
            CHECK(b.left == near(loaf.drawers_from + width * static_cast<double>(i), 1e-9));
            CHECK(b.right - b.left == near(width, 1e-9));
        }
    const Loaf shards = loaf_of(plan, e, GroupKind::dp_shard, 0, 8);  // 64 ranks
    CHECK(shards.slices.size() == 4);
    CHECK(shards.left_out == 60);
    CHECK(shards.slices.back().rank == 63);
}
