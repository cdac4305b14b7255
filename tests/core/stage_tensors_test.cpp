// Tests that the tensors of a stage are what its memory says of parameters.
#include "core/evaluate.h"
#include "core/sharding/stage_tensors.h"
#include "tests/core/layer_plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

using namespace pentamesh;
using test::near;

namespace {

// Cuts may be uneven: then the list has the largest part of each tensor, memory the sum of one rank.
void check(const Plan& plan, double most_over, int& stages) {
    const Evaluation e = evaluate(plan);
    if (!e.valid || e.memory.stage.empty()) return;
    const auto placed = list_placements(plan, e.mesh, TensorState::parameters, Moment::at_rest);
    for (const StageMemory& s : e.memory.stage) {
        if (s.host > 0 || s.stage >= e.comm.stages.devices) continue;
        double bytes = 0, before = 0;
        bool first = true;
        for (const StageTensor& t : tensors_of_stage(plan, e.comm.stages, s.stage, placed)) {
            CHECK(t.layers > 0);
            CHECK(t.bytes == near(placed[t.placement].bytes_per_rank * static_cast<double>(t.layers), 1e-12));
            const bool ordered = first || t.bytes <= before;
            CHECK(ordered);
            before = t.bytes, first = false, bytes += t.bytes;
        }
        CAPTURE(s.stage);
        CHECK(bytes >= s.parameters * (1 - 1e-3));
        CHECK(bytes <= s.parameters * (1 + most_over));
        ++stages;
    }
}

}  // namespace

TEST_CASE("the tensors of a stage sum to its parameters: shipped plans") {
    int stages = 0;
    for (const Presets::Entry& entry : test::presets().list(PresetKind::plan)) {
        CAPTURE(entry.id);
        check(test::presets().plan(entry.id), 1e-3, stages);
    }
    CHECK(stages > 40);
}

TEST_CASE("the tensors of a stage sum to its parameters: random plans") {
    int stages = 0;
    test::LayerPlans plans(20261130);
    for (int i = 0; i < 300; ++i) {
        const Plan plan = plans.next();
        CAPTURE(i);
        check(plan, 0.2, stages);  // small models, cut unevenly
    }
    CHECK(stages > 100);
}
