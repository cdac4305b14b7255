// Tests the Step and Communication views, driven by the names of their widgets.
#include "tests/ui/driver.h"

#include "app/tables/decide_tables.h"
#include "core/io/plan_json.h"
#include "core/plan/software.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

constexpr Chord kStepView{.key = Key::n7};
constexpr Chord kCommView{.key = Key::n6};

std::uint64_t slice(StepPart part, GroupKind axis = GroupKind::tp) {
    return static_cast<std::uint64_t>(part) * 64 + static_cast<std::uint64_t>(axis);
}

}  // namespace

TEST_CASE("the Step view is a tab of the bottom pane and fills the window with Shift+7") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.click("view.step"));
    CHECK(d.drawn("step.view"));
    CHECK(d.drawn("step.slice", slice(StepPart::ideal)));
    d.press(kStepView);
    CHECK(d.drawn("step.part_below"));
    CHECK_FALSE(d.drawn("mesh.cells"));
    d.press(kStepView);
    CHECK(d.drawn("mesh.cells"));
}

TEST_CASE("a click on a part of the step explains it") {
    Driver d("llama-3-70b-3d");
    d.press(kStepView);
    REQUIRE(d.click("step.slice", slice(StepPart::products)));
    CHECK(d.shell.selection().topic == Selection::Topic::step);
    CHECK(d.shell.selection().step_part == static_cast<int>(StepPart::products));
    REQUIRE(d.click("step.slice", slice(StepPart::exposed, GroupKind::tp)));
    CHECK(d.shell.selection().step_part == static_cast<int>(StepPart::exposed));
    CHECK(d.shell.selection().group == GroupKind::tp);
}

TEST_CASE("the token budget is typed, and the data table answers in days") {
    Driver d("llama-3-70b-3d");
    d.press(kStepView);
    REQUIRE(d.click("step.budget"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("2 T");
    REQUIRE(d.click("view.data", static_cast<std::uint64_t>(ViewId::step)));
    REQUIRE(d.click("data.part", 1));
    for (const Command& c : d.shell.commands())
        if (c.id == "export.csv") c.run();
    CHECK(d.clipboard.find("time for 2.00 T tokens") != std::string::npos);
}

TEST_CASE("steps of more and more GPUs play as lanes: each bar that falls adds its point") {
    Driver d("llama-3-70b-3d");
    d.press(kStepView);
    REQUIRE(d.click("step.part_below", 1));
    const Playback& played = d.shell.views().step.stragglers.played;
    const auto points = [&] {
        return std::array{says_just(d, "+7.12 %"), says_just(d, "7.12"), says_just(d, "+11.7 %"),
                          says_just(d, "11.7")};
    };
    CHECK(points() == std::array{true, true, true, true});
    for (int i = 0; i < 4; ++i) d.press({Key::left});
    CHECK(points() == std::array{true, true, false, false});
    REQUIRE(d.click("step.lanes.back"));
    CHECK(points() == std::array{false, false, false, false});
    REQUIRE(d.click("step.lanes.forward"));
    CHECK(played.at == near(1));
    d.press({Key::space});
    REQUIRE(played.playing);
    for (int i = 0; i < 60; ++i) d.frame();
    CHECK(played.at == near(1.8, 0.03));
    REQUIRE(d.click("step.lanes.play"));
    CHECK_FALSE(played.playing);
}

TEST_CASE("the spread of stragglers is stepped in the view, in one undo step each") {
    Driver d("llama-3-70b-3d");
    const double before = d.shell.evaluation().step->time_s;
    REQUIRE(d.plan().training.straggler_cv == 0);
    d.press(kStepView);
    REQUIRE(d.click("step.part_below", 1));
    // Without a spread of its own the lanes have one of 5 %, and say so.
    CHECK(says(d, "drawn with 5.00 %"));
    for (const char* slower : {"+7.12 %", "+11.7 %", "+16.2 %", "+19.8 %"}) CHECK(says(d, slower));
    CHECK(says(d, "256 here"));
    REQUIRE(d.click("step.sigma.plus"));
    CHECK_FALSE(says(d, "drawn with"));
    CHECK(says(d, "+1.42 %"));
    CHECK(d.plan().training.straggler_cv == near(0.01));
    CHECK(d.shell.evaluation().step->time_s > before);
    CHECK(d.drawn("step.slice", slice(StepPart::straggler)));
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().training.straggler_cv == 0);
}

TEST_CASE("a constant is stepped, typed and taken back, and the step answers") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    const Plan shipped = d.plan();
    const double before = d.shell.evaluation().step->time_s;
    d.press(kStepView);
    REQUIRE(d.click("step.part_below", 2));
    REQUIRE(d.click("constants.efficiency.gemm.minus"));
    CHECK(d.plan().cluster.gpu.efficiency.gemm < shipped.cluster.gpu.efficiency.gemm);
    CHECK(d.shell.evaluation().step->time_s > before);
    REQUIRE(d.drawn("constants.name"));
    std::uint64_t reset = 0;
    while (reset < 64 && !d.drawn("constants.reset", reset)) ++reset;
    REQUIRE(d.click("constants.reset", reset));
    CHECK(d.plan() == shipped);

    REQUIRE(d.click("constants.hbm_bytes_per_s"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("2 TB/s");
    d.press({Key::enter});
    CHECK(d.plan().cluster.gpu.hbm_bytes_per_s == near(2e12));
    const Plan read = parse_plan(write_plan(d.plan()), "test", d.presets);
    CHECK(read.cluster.gpu.hbm_bytes_per_s == near(2e12));
}

TEST_CASE("in-network reduction is a switch of each link") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.press(kStepView);
    REQUIRE(d.click("step.part_below", 2));
    REQUIRE(d.click("constants.tier.0.in_network_reduction", 1));
    CHECK(d.plan().cluster.tiers[0].in_network_reduction);
}

TEST_CASE("the chosen software's figures are listed with their sources") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.press(kStepView);
    REQUIRE(d.click("step.part_below", 4));
    CHECK(d.drawn("step.software_figure", 0));
    const Table figures = software_table(d.plan().training.software);
    CHECK(figures.rows.size() == facts_of(d.plan().training.software).figures.size());
    for (const Table::Row& row : figures.rows) {
        CAPTURE(row[2].text());
        CHECK_FALSE(row[0] == row[2]);                        // each has words of its own
        CHECK(row[4].text().find(' ') != std::string::npos);  // a source has words
    }
}

TEST_CASE("nearest runs are listed with how far our estimate is from them") {
    Driver d("llama-3.1-405b-16k");
    d.press(kStepView);
    REQUIRE(d.click("step.part_below", 0));
    CHECK(d.drawn("step.run", 0));
    CHECK(d.drawn("step.run", 3));
}

TEST_CASE("a plan without a step time says so and still shows its constants") {
    Driver d("broken-pp-zero3");
    Plan p = d.plan();
    p.training.global_batch = 1023;
    d.shell.open_plan(p);
    d.settle();
    d.press(kStepView);
    CHECK_FALSE(d.drawn("step.slice", slice(StepPart::ideal)));
    REQUIRE(d.click("step.part_below", 2));
    CHECK(d.drawn("constants.efficiency.gemm"));
}

TEST_CASE("the heat map's axis is the selection's, and a click on a cell selects a GPU") {
    Driver d("llama-3-70b-3d");
    d.press(kCommView);
    REQUIRE(d.click("comm.part", 3));
    REQUIRE(d.drawn("comm.heat"));
    REQUIRE(d.click("comm.heat.axis", 1));
    const GroupKind axis = d.shell.selection().group;
    CHECK(axis == GroupKind::dp_shard);  // tp 8, pp 4 and dp_shard 8 send, in the order of their kinds
    REQUIRE(d.click("comm.heat"));
    CHECK(d.shell.selection().rank >= 0);
    CHECK(d.shell.selection().topic == Selection::Topic::rank);
}

TEST_CASE("a call is played, paused and stepped; at rest the window wants no frame") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.click("view.comm"));
    REQUIRE(d.click("comm.part", 4));
    REQUIRE(d.drawn("comm.ring"));
    CHECK_FALSE(d.shell.wants_frame());
    REQUIRE(d.click("comm.ring.play"));
    CHECK(d.shell.wants_frame());
    REQUIRE(d.click("comm.ring.play"));
    CHECK_FALSE(d.shell.wants_frame());
    REQUIRE(d.click("comm.ring.step"));
    CHECK_FALSE(d.shell.wants_frame());
}

TEST_CASE("a call that was played to its end rests") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.click("view.comm"));
    REQUIRE(d.click("comm.part", 4));
    REQUIRE(d.click("comm.ring.play"));
    for (int i = 0; i < 400 && d.shell.wants_frame(); ++i) {
        d.time_s += 0.1;  // seconds pass faster than frames are drawn
        d.frame();
    }
    CHECK_FALSE(d.shell.wants_frame());
}
