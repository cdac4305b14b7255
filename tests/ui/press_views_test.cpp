// Tests controls inside the views that no other file uses, each with its effect.
#include "core/comm/comm.h"
#include "core/explain/lane_picture.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

TEST_CASE("a row of the communication table is the call that is explained; its ring starts anew") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n6});
    REQUIRE(click_call(d, 1));
    CHECK(d.shell.selection().topic == Selection::Topic::operation);
    const int picked = d.shell.selection().operation;
    CHECK(picked >= 0);
    REQUIRE(d.click("comm.part", 4));
    REQUIRE(d.drawn("comm.ring"));
    REQUIRE(d.click("comm.ring.step"));
    d.move({2, 2});
    const Image later = d.surface.read();
    REQUIRE(d.click("comm.ring.restart"));
    d.move({2, 2});
    CHECK(d.surface.read().pixels != later.pixels);
}

TEST_CASE("a heading of the table of calls hides its calls and shows them again") {
    Driver d("llama-3.1-405b-16k");
    d.press({Key::n6});
    const auto calls = [&] {
        const std::vector<CallRow>& rows = d.shell.views().comm.calls.shown().row;
        return std::count_if(rows.begin(), rows.end(), [](const CallRow& r) { return r.operation >= 0; });
    };
    const auto before = calls();
    const std::vector<CallRow>& rows = d.shell.views().comm.calls.shown().row;
    std::size_t heading = 0;  // of an axis whose calls are shown
    while (heading + 1 < rows.size() && (rows[heading].heading < 0 || rows[heading + 1].operation < 0))
        ++heading;
    REQUIRE(heading + 1 < rows.size());
    REQUIRE(d.click("comm.table", heading));
    CHECK(calls() < before);
    CHECK(d.shell.selection().operation == -1);
    REQUIRE(d.click("comm.table", heading));
    CHECK(calls() == before);
}

TEST_CASE("the table of calls says what the evaluation says: sums by axis, and every call once") {
    for (const char* plan : {"llama-3.1-405b-16k", "deepseek-v3-2048", "zoom-1024"}) {
        CAPTURE(plan);
        Driver d(plan);
        d.press({Key::n6});
        const Comm& comm = d.shell.evaluation().comm;
        std::vector<int> seen(comm.operations.size());
        double outside = 0, by_call = 0;
        for (const CallRow& row : d.shell.views().comm.calls.all->row) {
            if (row.operation < 0) continue;
            const Operation& o = comm.operations[static_cast<std::size_t>(row.operation)];
            ++seen[static_cast<std::size_t>(row.operation)];
            CHECK(row.time_s == o.time_s);
            (o.on_other_stage ? outside : by_call) += o.time_s;
        }
        CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
        double by_axis = 0, by_flow = 0;
        for (const AxisTraffic& t : comm.by_axis) by_axis += t.time_s;
        for (const TrafficFlow& f : traffic_flows(comm)) by_flow += f.traffic.time_s;
        CHECK(by_call == near(by_axis, 1e-12));
        CHECK(by_flow == near(by_axis, 1e-12));
    }
}

TEST_CASE("the bands of the communication view show time or bytes") {
    Driver d("llama-3.1-405b-16k");
    d.press({Key::n6});
    REQUIRE(d.click("comm.width", 1));
    CHECK(d.shell.views().comm.width == FlowWidth::bytes);
    d.move({2, 2});
    const Image bytes = d.surface.read();
    REQUIRE(d.click("comm.width", 0));
    d.move({2, 2});
    CHECK(d.surface.read().pixels != bytes.pixels);
}

TEST_CASE("a switch without room for its labels shows some of them, and its marks go on to the others") {
    const std::string later = ".later";
    bool found = false;
    for (float width = 200; width < 900 && !found; width += 40)
        for (const std::string name : {"step.view", "side.tab", "lesson.software"}) {
            Driver d("llama-3-70b-3d", {width, 700});
            if (name == "step.view")
                d.shell.show_full(ViewId::step);
            else
                d.shell.open_lesson(lesson_file("00-five-cuts"));
            d.settle();
            if (!d.drawn(name + later)) continue;
            CAPTURE(width);
            CAPTURE(name);
            found = true;
            d.move({1, 1});
            const Image before = d.surface.read();
            REQUIRE(d.click(name + later));
            d.move({1, 1});
            const Image after = d.surface.read();
            CHECK(after.pixels != before.pixels);
            REQUIRE(d.click(name + ".earlier"));
            d.move({1, 1});
            CHECK(d.surface.read().pixels != after.pixels);
        }
    CHECK(found);
}

TEST_CASE("two orders stand side by side and go again; a cell of either selects its rank") {
    Driver d("llama-3-70b-3d");
    REQUIRE_FALSE(d.drawn("mesh.cells.second"));
    run_id(d, "mesh.orders");
    REQUIRE(d.shell.views().mesh.menu == MeshMenu::orders);
    d.press({Key::down}), d.press({Key::down});
    d.press({Key::enter});
    CHECK(d.shell.views().mesh.second == 0);
    REQUIRE(d.drawn("mesh.cells.second"));
    const Rect cells = *d.shell.ui_state().rect_of("mesh.cells.second");
    for (float at = 0.1f; at < 0.9f && d.shell.selection().rank < 0; at += 0.07f)
        d.click_at({cells.x + cells.w * at, cells.y + cells.h * at});
    CHECK(d.shell.selection().rank >= 0);
    run_command(d, "compare the mesh with no other order");
    CHECK_FALSE(d.drawn("mesh.cells.second"));
}

TEST_CASE(
    "the step's parts, its published runs, its spread and its constants are reached by their switches") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.click("view.step"));
    REQUIRE(d.click("step.view", 1));
    REQUIRE(d.click("step.view", 3));
    REQUIRE(d.drawn("constants.name"));
    run_command(d, "step in the whole window");
    REQUIRE(d.click("step.part_below", 1));
    const double before = d.plan().training.straggler_cv;
    REQUIRE(d.click("step.sigma.plus"));
    CHECK(d.plan().training.straggler_cv > before);
    REQUIRE(d.click("step.sigma.minus"));
    CHECK(d.plan().training.straggler_cv == before);
    REQUIRE(d.click("step.part_below", 2));
    const Plan shipped = d.plan();
    REQUIRE(d.click("constants.efficiency.gemm.minus"));
    CHECK(d.plan().cluster.gpu.efficiency.gemm < shipped.cluster.gpu.efficiency.gemm);
    REQUIRE(d.click("constants.efficiency.gemm.plus"));
    CHECK(d.plan().cluster.gpu.efficiency.gemm == near(shipped.cluster.gpu.efficiency.gemm));
}

TEST_CASE("the timeline's curve sets the cursor, a second schedule stands beside it, a stage is slowed") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n5});
    REQUIRE(d.click("timeline.curve"));
    CHECK(d.shell.views().timeline.cursor_s >= 0);
    d.press({Key::escape});
    REQUIRE(d.click("timeline.second"));
    CHECK(d.shell.views().timeline.second >= 0);
    REQUIRE(d.click("timeline.second.minus"));
    CHECK(d.shell.views().timeline.second < 0);
    REQUIRE(d.click("timeline.slow"));
    CHECK(d.shell.views().timeline.choice.slow.any());
}

TEST_CASE("the glossary's card closes, and its entries lead to each other") {
    Driver d("mesh-8");
    d.press({.key = Key::g, .ctrl = true});
    REQUIRE(d.drawn("glossary.close"));
    REQUIRE(d.click("glossary.close"));
    CHECK_FALSE(d.drawn("glossary.close"));
}

TEST_CASE("every name in a view's head leads to that view") {
    Driver d("mesh-8");
    for (const auto& [name, drawn] :
         {std::pair{"view.shards", "shards.scope"}, std::pair{"view.timeline", "timeline.plot"}}) {
        const std::string view = name;
        CAPTURE(view);
        REQUIRE(d.click(view));
        CHECK(d.drawn(drawn));
    }
}

TEST_CASE("what is left of a step is selected in the inspector, and a layer's kind in the strip of layers") {
    Driver d("deepseek-v3-2048", {1600, 1300});
    d.press({Key::escape});
    REQUIRE(d.click("step.part", 64 * static_cast<std::uint64_t>(StepPart::ideal)));
    CHECK(d.shell.selection().topic == Selection::Topic::step);
    d.press({Key::n3});
    d.click("shards.scope", 1);
    REQUIRE(d.drawn("shards.experts"));
    const Rect strip = *d.shell.ui_state().rect_of("shards.layers");
    d.click_at({strip.x + 2, strip.center().y});  // the first layer is dense
    CHECK_FALSE(d.drawn("shards.experts"));
}

TEST_CASE(
    "a problem is one bold line and two of its reason; a press shows the whole reason, another hides it") {
    Driver d("llama-3.1-405b-16k", {1600, 1300});
    const std::string message = d.shell.evaluation().problems.at(0).said();
    const std::string end = message.substr(message.rfind(' ', message.size() - 8) + 1);
    const auto shows_end = [&] {
        d.move({2, 2});  // off the line, whose tooltip has the whole reason too
        d.surface.record_text(true);
        d.settle();
        std::string all;
        for (const TextRun& run : d.surface.text_runs()) all += run.text + " ";
        d.surface.record_text(false);
        return all.find(end) != std::string::npos;
    };
    REQUIRE_FALSE(shows_end());
    REQUIRE(d.click("problem.row"));
    CHECK(shows_end());
    REQUIRE(d.click("problem.row"));
    CHECK_FALSE(shows_end());
}

TEST_CASE("where an axis sits on the map selects its row") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n1});
    std::uint64_t row = 0;
    while (row < 64 && !d.drawn("map.sits", row)) ++row;
    REQUIRE(d.drawn("map.sits", row));
    d.move({2, 2});
    const Image before = d.surface.read();
    REQUIRE(d.click("map.sits", row));
    d.move({2, 2});
    CHECK(d.surface.read().pixels != before.pixels);
}

TEST_CASE("a call on the lanes selects its axis; the block of a timeline leads to the lanes of its stage") {
    Driver d("llama-3-8b-fsdp", {1600, 1000});
    d.press({Key::n6});
    REQUIRE(d.click("comm.part", 1));
    CHECK(d.shell.views().comm.part == CommViewState::kLanes);
    const LanePicture p = *lane_picture(d.plan(), d.shell.evaluation());
    CHECK(says(d, p.title));
    CHECK(says(d, "first gathers"));
    REQUIRE(d.drawn("comm.lanes"));
    const Rect lanes = *d.shell.ui_state().rect_of("comm.lanes", 0);
    d.shell.selection().choose(GroupKind::tp);
    for (float y = lanes.y + 2; y < lanes.bottom() && d.shell.selection().group == GroupKind::tp; y += 6)
        d.move({lanes.x + 4, y}), d.click_at({lanes.x + 4, y});
    CHECK(d.shell.selection().group == GroupKind::dp_shard);  // the first gather is at the left edge

    Driver pipeline("llama-3-70b-3d", {1600, 1000});
    pipeline.shell.selection().topic = Selection::Topic::op;
    pipeline.shell.selection().op = 0, pipeline.shell.selection().stage = 2;
    for (int i = 0; i < 3; ++i) pipeline.frame();
    REQUIRE(pipeline.click("inspector.lanes"));
    CHECK(pipeline.shell.views().comm.part == CommViewState::kLanes);
    CHECK(pipeline.drawn("comm.lanes"));
}

TEST_CASE("the selected block of a whole timeline has a card with its lanes") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.press({Key::n5});
    CHECK_FALSE(d.drawn("timeline.lanes"));
    const auto select = [&] {
        d.shell.selection().topic = Selection::Topic::op;
        d.shell.selection().op = 0, d.shell.selection().stage = 0;
        for (int i = 0; i < 3; ++i) d.frame();
    };
    select();
    REQUIRE(d.drawn("timeline.lanes"));
    const LanePicture p = *layer_picture(d.plan(), d.shell.evaluation(), 0);
    CHECK(p.waits_s > 0);
    CHECK(says(d, ui::time_text(p.waits_s) + " waits"));
    // A click on the card is not one on the blocks under it.
    REQUIRE(d.click("timeline.lanes"));
    CHECK(d.shell.selection().op == 0);
    CHECK(d.shell.views().comm.part == CommViewState::kLanes);
    CHECK(d.drawn("comm.lanes"));
    d.press({Key::n5});
    select();
    d.press({Key::enter});
    CHECK(d.drawn("comm.lanes"));
    // Without a selection there is no card.
    d.press({Key::n5});
    d.shell.selection().op = -1;
    for (int i = 0; i < 3; ++i) d.frame();
    CHECK_FALSE(d.drawn("timeline.lanes"));
}

TEST_CASE("one layer on its lanes says what its experts wait for, and a click selects their axis") {
    Driver d("mixtral-8x7b-ep", {1600, 1000});
    d.press({Key::n6});
    REQUIRE(d.click("comm.part", 2));
    CHECK(d.shell.views().comm.part == CommViewState::kOneLayer);
    const LanePicture p = *layer_picture(d.plan(), d.shell.evaluation());
    CHECK(says(d, p.title));
    CHECK(says(d, "experts"));
}

TEST_CASE("a small room keeps the verdict, the axes and one picture by tabs") {
    Driver d("llama-3.1-405b-16k", {854, 480});
    CHECK(says(d, "May not fit"));
    CHECK(says(d, "7.08"));  // the step's seconds
    CHECK(d.drawn("layout.pp.toggle"));
    CHECK(d.drawn("mesh.cells"));
    CHECK_FALSE(d.drawn("memory.stage"));
    REQUIRE(d.click("view.memory"));
    CHECK(d.drawn("memory.stage"));
    CHECK_FALSE(d.drawn("mesh.cells"));
    CHECK(says(d, "May not fit"));
    REQUIRE(d.click("view.timeline"));
    CHECK(d.drawn("timeline.plot"));
    const std::int64_t pp = d.plan().layout.pp;
    REQUIRE(d.click("layout.pp.minus"));
    CHECK(d.plan().layout.pp < pp);
    REQUIRE(d.click("plan.all"));
    CHECK(says(d, "Size"));
}

TEST_CASE("Memory of one stage shows other micro-batches on its scale, and a click takes one") {
    Driver d("single-gpu", {1600, 1000});
    d.press({Key::n4});
    const std::vector<BatchRoom> rooms = batch_rooms(d.plan());
    REQUIRE(rooms.size() > 2);
    for (const BatchRoom& r : rooms) CHECK(says(d, "micro-batch " + std::to_string(r.micro_batch)));
    CHECK(says(d, "Largest micro-batch that fits: 32."));
    d.press({Key::backslash});
    CHECK(says(d, "largest micro-batch that fits: 32"));  // under the batch, too
    REQUIRE(d.click("memory.batch", rooms.size() - 1));
    CHECK(d.plan().training.micro_batch == rooms.back().micro_batch);
}
