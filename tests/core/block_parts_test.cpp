#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/pipeline/stages.h"
#include "core/step/step.h"
#include "plans.h"
#include "tests/near.h"

#include <doctest/doctest.h>
#include <filesystem>

#include <set>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

template <typename Visit>
void each_shipped_plan(Visit&& visit) {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const auto& entry : presets.list(PresetKind::plan)) {
        CAPTURE(entry.id);
        const Plan plan = presets.plan(entry.id);
        const Evaluation e = evaluate(plan);
        if (e.step && !e.timeline.empty()) visit(plan, e);
    }
}

}  // namespace

TEST_CASE("a step is its pipeline and the tail behind it") {
    int steps = 0;
    each_shipped_plan([&](const Plan&, const Evaluation& e) {
        const StepTail tail = step_tail(*e.step, e.comm);
        CHECK(e.timeline.makespan + tail.total() == near(e.step->time_s));
        ++steps;
    });
    CHECK(steps >= 10);
}

TEST_CASE("what of the blocks is exposed communication sums to what the step says of its busiest device") {
    each_shipped_plan([](const Plan& plan, const Evaluation& e) {
        std::vector<ChunkExposed> parts;
        exposed_in_chunks(e.comm, e.work, parts);
        REQUIRE(parts.size() == e.costs.chunk.size());
        static constexpr GroupKind kAxes[] = {GroupKind::tp, GroupKind::cp, GroupKind::ep, GroupKind::etp};
        const double runs =
            plan.layout.schedule == Schedule::dualpipe ? e.work.microbatches / 2 : e.work.microbatches;
        const auto chunks = static_cast<std::size_t>(e.comm.stages.chunks);
        const std::size_t first = static_cast<std::size_t>(e.comm.busiest_device) * chunks;
        for (std::size_t a = 0; a < UnitComm::kAxes; ++a) {
            double sum = 0;
            for (std::size_t i = first; i < first + chunks; ++i)
                sum += (parts[i].comm.forward[a] + parts[i].comm.backward[a]) * runs;
            CHECK(sum == near(e.step->exposed_comm_s[static_cast<std::size_t>(kAxes[a])]));
        }
        double repeated = 0;
        for (const ChunkExposed& part : parts) repeated += part.recompute * runs;
        CHECK(repeated / e.comm.stages.devices == near(e.step->recompute_s));
        double host = 0;
        for (const ChunkExposed& part : parts) host += part.host.total() * runs;
        CHECK(host / e.comm.stages.devices == near(e.step->below.starts));
        for (std::size_t i = 0; i < parts.size(); ++i) {
            CHECK(parts[i].comm.sum(Phase::forward) < e.costs.chunk[i].forward);
            CHECK(parts[i].comm.sum(Phase::backward) + parts[i].recompute < e.costs.chunk[i].input_grad);
        }
    });
}

TEST_CASE("a stage's nodes are those that hold its ranks, however the axes are ordered") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const char* id : {"llama-3-70b-3d", "zoom-1024", "mesh-8", "gpt-1t-a100", "moe-nvl72"})
        for (const bool inside : {false, true}) {
            Plan plan = presets.plan(id);
            CAPTURE(id);
            CAPTURE(inside);
            if (inside)
                plan.layout.order = {Axis::pp, Axis::tp,       Axis::cp,
                                     Axis::ep, Axis::dp_shard, Axis::dp_replicate};
            const Evaluation e = evaluate(plan);
            if (e.timeline.empty()) continue;
            const auto places = stage_places(plan, e.mesh, e.timeline.shape, e.comm.stages);
            const std::int64_t domain = plan.cluster.tiers.front().domain;
            for (std::size_t d = 0; d < places.size(); ++d) {
                std::set<std::int64_t> nodes;
                for (std::int64_t r = 0; r < e.mesh.world; ++r)
                    if (dense_coordinates(e.mesh, r)[static_cast<std::size_t>(Axis::pp)]
                        == static_cast<std::int64_t>(d))
                        nodes.insert(r / domain);
                const StagePlace& p = places[d];
                CHECK(*nodes.begin() == p.first_node);
                CHECK(nodes.count(p.last_node) == 1);
                if (p.every_node) CHECK(static_cast<std::int64_t>(nodes.size()) * domain == e.mesh.world);
                if (p.node_step == 1 && !p.every_node) CHECK(*nodes.rbegin() == p.last_node);
                if (p.node_step > 1) CHECK(nodes.count(p.first_node + p.node_step) == 1);
            }
        }
}

TEST_CASE("stages are named by their layers, with the embedding and the head where they stand") {
    Plan plan = test::small_plan(64);
    plan.layout.pp = 4, plan.layout.dp_shard = 16;
    plan.training.global_batch = 16 * 8;
    const auto named = [&] {
        const Evaluation e = evaluate(plan);
        REQUIRE_FALSE(e.timeline.empty());
        const auto places = stage_places(plan, e.mesh, e.timeline.shape, e.comm.stages);
        std::vector<std::string> out;
        for (std::size_t d = 0; d < places.size(); ++d)
            out.push_back(stage_text(static_cast<int>(d), places[d], "node"));
        return out;
    };
    auto names = named();
    CHECK(names[0] == "stage 0, layers 0–7, embedding, nodes 0–1");
    CHECK(names[2] == "stage 2, layers 16–23, nodes 4–5");
    CHECK(names[3] == "stage 3, layers 24–31, head, nodes 6–7");
    plan.layout.schedule = Schedule::zb_v, plan.layout.virtual_stages = 2;
    names = named();
    CHECK(names[0] == "stage 0, layers 0–3, 28–31, embedding, head, nodes 0–1");
    plan.layout.schedule = Schedule::interleaved, plan.layout.virtual_stages = 4;
    names = named();
    CHECK(names[1] == "stage 1, layers 2–3, 10–11, … 4 chunks, nodes 2–3");
    plan.layout.virtual_stages = 2;
    plan.layout.order = {Axis::pp, Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate};
    CHECK(named()[1] == "stage 1, layers 4–7, 20–23, all nodes");
}

TEST_CASE("what is hidden in the blocks and once a step sums to what the rows leave of their time") {
    int hidden_axes = 0;
    each_shipped_plan([&](const Plan& plan, const Evaluation& e) {
        std::vector<HiddenComm> parts;
        hidden_in_chunks(e.comm, parts);
        REQUIRE(parts.size() == e.costs.chunk.size());
        const HiddenComm once = hidden_in_step(e.comm);
        const double runs =
            plan.layout.schedule == Schedule::dualpipe ? e.work.microbatches / 2 : e.work.microbatches;
        const auto chunks = static_cast<std::size_t>(e.comm.stages.chunks);
        const std::size_t first = static_cast<std::size_t>(e.comm.busiest_device) * chunks;
        for (int k = 0; k < kGroupKindCount; ++k) {
            const auto axis = static_cast<GroupKind>(k);
            if (axis == GroupKind::pp) continue;
            double sum = once.all(axis), rows = 0;
            for (std::size_t i = first; i < first + chunks; ++i) sum += parts[i].all(axis) * runs;
            for (const Operation& o : e.comm.operations)
                if (o.group == axis && !o.on_other_stage) rows += o.time_s - o.exposed_s;
            CAPTURE(std::string(name_of(axis)));
            CHECK(sum == near(rows, 1e-6));
            hidden_axes += rows > 0;
        }
    });
    CHECK(hidden_axes >= 10);
}

TEST_CASE("gradients hide behind the backward, updated parameters behind the forward") {
    Plan plan = test::small_plan(64);
    plan.layout.zero = 1;
    plan.training.overlap.dp = true;
    const Evaluation e = evaluate(plan);
    REQUIRE(e.step.has_value());
    double reduced = 0, gathered = 0;
    for (const Operation& o : e.comm.operations) {
        if (o.group != GroupKind::dp_shard) continue;
        const bool gather = o.collective == Collective::all_gather;
        (gather ? gathered : reduced) += o.time_s - o.exposed_s;
        CHECK(o.hidden_behind == (gather ? HiddenBehind::forward_compute : HiddenBehind::backward_compute));
    }
    // In fp32 there are twice the bytes of parameters in bf16, and a backward has twice the room.
    REQUIRE(gathered > 0);
    REQUIRE(reduced > 1.2 * gathered);
    const HiddenComm once = hidden_in_step(e.comm);
    CHECK(once.forward[GroupKind::dp_shard] == near(gathered));
    CHECK(once.backward[GroupKind::dp_shard] == near(reduced));
}
