// Tests what stands around a picture: panels, menus, messages and cards give it the room that it was
// promised.
#include "app/ui/views/table.h"
#include "core/plan/edits.h"
#include "tests/folder.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

std::vector<TextRun> words_in(Driver& d) {
    d.surface.record_text(true);
    d.frame();
    std::vector<TextRun> out = d.surface.text_runs();
    d.surface.record_text(false);
    return out;
}

}  // namespace

TEST_CASE(
    "a view in the whole window has no panel next to it, and one key brings them back and is remembered") {
    const auto folder = pentamesh::test::fresh_folder("whole-window");
    {
        Driver d("llama-3-70b-3d", {1600, 1000}, 1, folder);
        REQUIRE(d.drawn("plan.model"));
        d.press({Key::n2});
        REQUIRE(d.shell.full_view());
        CHECK_FALSE(d.drawn("plan.model"));
        CHECK_FALSE(says(d, "WHAT WOULD HELP"));
        d.press({Key::backslash});
        CHECK(d.drawn("plan.model"));
        CHECK(says(d, "WHAT WOULD HELP"));
        d.press({Key::backslash});
        CHECK_FALSE(d.drawn("plan.model"));
        const auto view = static_cast<std::uint64_t>(*d.shell.full_view());
        REQUIRE(d.click("view.panels", view));
        CHECK(d.drawn("plan.model"));
        REQUIRE(d.click("view.dashboard", view));
        CHECK_FALSE(d.shell.full_view());
        d.press({Key::backslash});  // the dashboard has its own
        CHECK_FALSE(d.drawn("plan.model"));
    }
    Driver d("llama-3-70b-3d", {1600, 1000}, 1, folder);
    CHECK_FALSE(d.drawn("plan.model"));
    d.press({Key::n2});
    CHECK(d.drawn("plan.model"));
}

TEST_CASE("in a lesson the words and the plan stay next to a view in the whole window") {
    Driver d("mesh-8", {1600, 1000});
    d.shell.open_lesson(lesson_file("03-tensor-parallel"));
    d.shell.show_full(ViewId::mesh);
    d.settle();
    CHECK(d.drawn("lesson.next"));
    CHECK(d.drawn("plan.model"));
    d.press({Key::backslash});
    CHECK(d.drawn("plan.model"));
}

TEST_CASE("a menu's groups open at a click or with the arrow keys, and close again") {
    Driver d("mesh-8", {1600, 1000});
    REQUIRE(d.click("menu.View"));
    CHECK(says_just(d, "In the whole window"));
    const auto rows = [&] {
        std::size_t n = 0;
        while (d.drawn("bar", n)) ++n;
        return n;
    };
    const std::size_t closed = rows(), views = view_table().size() + named_pages().size();
    // The second item is the group of whole windows.
    REQUIRE(d.click("bar", 1));
    CHECK(rows() == closed + views);
    REQUIRE(d.click("bar", 1));
    CHECK(rows() == closed);
    d.press({Key::right});  // the row under the mouse has the cursor
    CHECK(rows() == closed + views);
    d.press({Key::left});
    CHECK(rows() == closed);
    // Commands of a lesson are not listed without one.
    d.press({Key::escape});
    REQUIRE(d.click("menu.Learn"));
    CHECK_FALSE(says_just(d, "This lesson"));
    CHECK_FALSE(says_just(d, "While presenting"));
    d.press({Key::escape});
    d.shell.open_lesson(lesson_file("03-tensor-parallel"));
    d.settle();
    REQUIRE(d.click("menu.Learn"));
    CHECK(says_just(d, "This lesson"));
}

TEST_CASE("each menu has at most twenty rows at first, the palette twelve") {
    Driver d("mesh-8", {1600, 1000});
    for (const std::string_view menu : {"File", "Edit", "View", "Export", "Learn", "Help"}) {
        CAPTURE(std::string(menu));
        REQUIRE(d.click("menu." + std::string(menu)));
        std::size_t rows = 0;
        while (d.drawn("bar", rows)) ++rows;
        CHECK(rows > 2);
        CHECK(rows <= 20);
        d.press({Key::escape});
    }
    d.press({.key = Key::p, .ctrl = true});
    std::size_t rows = 0;
    for (std::uint64_t i = 0; i < 400; ++i)
        if (d.drawn("palette", i)) ++rows;
    CHECK(rows >= 11);
    CHECK(rows <= 13);
}

TEST_CASE("the sheet of keys has headings, and cuts none of its words") {
    Driver d("mesh-8", {1600, 1000});
    d.press({Key::f1});
    for (const std::string_view heading : {"Everywhere", "File", "In the whole window", "Timeline"}) {
        CAPTURE(std::string(heading));
        CHECK(says_just(d, heading));
    }
    const std::vector<TextRun> runs = words_in(d);
    for (const Command& c : d.shell.commands()) {
        if (c.chord.key == Key::none) continue;
        CAPTURE(c.title);
        std::string title = c.title;
        if (const auto at = title.find(" in the whole window"); at != std::string::npos) title.resize(at);
        // A long title goes on in a second line; its first one ends where a word does.
        CHECK(std::ranges::any_of(runs, [&](const TextRun& run) {
            const std::size_t n = run.text.size();
            return n > 2 && title.starts_with(run.text) && (n == title.size() || (n > 12 && title[n] == ' '));
        }));
    }
}

TEST_CASE("a message lies on the strip at the window's foot, not on a picture") {
    for (const Vec2 size : {Vec2{1600, 1000}, Vec2{1280, 720}, Vec2{860, 480}}) {
        CAPTURE(size.x);
        Driver d("mesh-8", size);
        d.shell.say("The title said other GPUs and is gone");
        bool found = false;
        for (const TextRun& run : words_in(d))
            if (run.text.starts_with("The title said")) {
                found = true;
                CHECK(run.at.y >= size.y - 30);
            }
        CHECK(found);
    }
}

TEST_CASE("axes that were never in use share one line, and get a row when they are switched on") {
    Driver d("llama-3-70b-3d", {1600, 1000});  // tp, dp_shard, pp
    CHECK(says_just(d, "off:"));
    CHECK_FALSE(d.drawn("layout.cp"));
    CHECK(d.drawn("layout.tp"));
    CHECK_FALSE(d.drawn("order.cp"));
    REQUIRE(d.click("layout.cp.toggle"));
    CHECK(d.plan().layout.cp > 1);
    CHECK(d.drawn("layout.cp"));
    CHECK(d.drawn("order.cp"));
    REQUIRE(d.click("layout.cp.toggle"));
    CHECK(d.plan().layout.cp == 1);
    CHECK(d.drawn("layout.cp"));  // rows do not jump while one switches to and fro
    run_command(d, "open preset: HSDP");
    CHECK_FALSE(d.drawn("layout.cp"));
    run_command(d, "new: one GPU");
    CHECK(d.drawn("layout.cp"));  // nothing is cut yet: all stand there to begin with
}

TEST_CASE("parts of the step under one hundredth share a row, whose sum is theirs") {
    Driver d("llama-3.1-405b-16k", {1600, 1000});
    const Step& s = *d.shell.evaluation().step;
    double small_s = 0;
    std::size_t n = 0;
    for (const StepSlice& slice : waterfall(s))
        if (slice.time_s < 0.01 * s.time_s) small_s += slice.time_s, ++n;
    REQUIRE(n >= 2);
    CHECK(says_just(d, std::to_string(n) + " parts under 1 %"));
    const auto row = d.shell.ui_state().rect_of("step.small");
    REQUIRE(row);
    bool found = false;
    for (const TextRun& run : words_in(d))
        found = found || (row->contains(run.at) && run.text == percent(small_s / s.time_s));
    CHECK(found);
}

TEST_CASE("what stops the plan is said before any layout that a search found") {
    Driver d("llama-3-70b-3d", {1600, 1000}, 1, {}, {}, {}, true);
    d.shell.edit_plan(with_factor(d.plan(), Axis::tp, 1, true), "tp 1");
    d.settle();
    REQUIRE_FALSE(d.shell.evaluation().memory.may_fit());
    d.rest();
    d.until([&] { return !d.shell.works_beside(); });
    const auto better = d.shell.ui_state().rect_of("problem.better", 0);
    REQUIRE(better);
    for (const TextRun& run : words_in(d))
        if (run.text == title_of(ProblemCode::memory_does_not_fit)) {
            CHECK(run.at.y < better->y);
        }
}

TEST_CASE("undo shows all groups again where the edit had shown those of its axis") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    REQUIRE(d.shell.selection().all_axes);
    REQUIRE(d.click("layout.tp.minus"));
    CHECK_FALSE(d.shell.selection().all_axes);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.shell.selection().all_axes);
    // Groups that a hand chose stay.
    d.shell.selection().choose(GroupKind::tp);
    REQUIRE(d.click("layout.tp.minus"));
    d.press({.key = Key::z, .ctrl = true});
    CHECK_FALSE(d.shell.selection().all_axes);
}

TEST_CASE("the mesh's menu leads to figures and to a second order") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    REQUIRE(d.click("mesh.more"));
    REQUIRE(d.click("mesh.menu", 0));
    REQUIRE(d.click("mesh.menu", 1));
    CHECK(d.shell.views().mesh.figure != 0);
    REQUIRE(d.click("mesh.figure"));  // the legend's name leads there too
    CHECK(d.drawn("mesh.menu", 1));
    d.press({Key::escape});
    run_id(d, "mesh.figures");
    CHECK(d.drawn("mesh.menu", 1));
    d.press({Key::escape});
    run_id(d, "mesh.second.megatron");
    CHECK(d.shell.views().mesh.second >= 0);
}

TEST_CASE("a message goes with the one frame that is due when its time is over") {
    Driver d("mesh-8", {1280, 720});
    d.shell.say("A message that passes by");
    CHECK(says(d, "A message that passes by"));
    d.settle();
    CHECK(d.shell.idle_s() < 10);
    d.time_s += 10;
    CHECK_FALSE(says(d, "A message that passes by"));  // no other frame may come
}

TEST_CASE("the words below the mesh follow an edit that leaves its ranks where they are") {
    Driver d("mesh-8", {1280, 720});
    CHECK(says(d, "a row is 2 replicas"));  // ZeRO-3 over shards of 2
    run_command(d, "zero 1");
    CHECK_FALSE(says(d, "a row is 2 replicas"));
    CHECK(says(d, "a row is 4 replicas"));  // each tp group has all of the model
}
