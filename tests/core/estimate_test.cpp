// Compares the step with and without a replay, on the plans that ship.
#include "core/evaluate.h"
#include "core/io/presets.h"
#include "schedule_shapes.h"

#include <doctest/doctest.h>

using namespace pentamesh;

TEST_CASE(
    "on the plans that ship, under every schedule, a step reckoned without a replay is within 4 % of one") {
    const Presets presets(SOURCE_DIR "/presets");
    int compared = 0;
    for (const Presets::Entry& entry : presets.list(PresetKind::plan)) {
        Plan plan = presets.plan(entry.id);
        if (plan.layout.pp < 2) continue;
        plan.layout.stage_layers.clear();
        for (int s = 0; s < kScheduleCount; ++s) {
            plan.layout.schedule = static_cast<Schedule>(s);
            plan.layout.virtual_stages = accepts(shape_of(plan.layout.schedule, 4, 16)) ? 1 : 2;
            CAPTURE(entry.id);
            CAPTURE(name_of(plan.layout.schedule));
            const Evaluation replayed = evaluate(plan, {}), reckoned = evaluate(plan, {.timeline = false});
            REQUIRE(replayed.step.has_value() == reckoned.step.has_value());
            if (!replayed.step) continue;
            CHECK(reckoned.timeline.empty());
            CHECK(std::abs(reckoned.step->time_s / replayed.step->time_s - 1) < 0.04);
            ++compared;
        }
    }
    CHECK(compared >= 40);
}
