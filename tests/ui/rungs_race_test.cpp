// Two pages of one idea: the stages of ZeRO side by side, and the race of a gigabyte down the wires.
#include "tests/near.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/evaluate.h"
#include "core/plan/edits.h"
#include "core/teach/lesson.h"
#include "core/teach/wire_race.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;
using pentamesh::test::near;

namespace {

// Opens a view over the whole window, on a page.
void open_page(Driver& d, Key key, std::string_view control, std::uint64_t page) {
    d.press({key});
    REQUIRE(d.click(control, page));
    d.rest();
}

double race_at(const Driver& d) {
    return d.shell.views().map.race.played.at;
}

}  // namespace

TEST_CASE(
    "the stages of ZeRO stand side by side; a click on one makes it the plan's, and undo takes it back") {
    Driver d("llama-3-8b-fsdp");
    open_page(d, Key::n4, "memory.mode", 2);
    CHECK(d.shell.views().memory.page == MemoryPage::sheds);
    CHECK(says(d, "64 copies shed what the others keep"));
    CHECK(says(d, "64 rests"));
    CHECK(says(d, "= 1 copy"));
    const ZeroRungs all = zero_rungs(d.plan(), evaluate(d.plan()));
    for (const ZeroRung& r : all.rung) CHECK(says(d, memory_text(r.held.total(), Zeros::kept)));
    REQUIRE(d.plan().layout.zero == 3);
    REQUIRE(d.click("memory.shed", 1));
    CHECK(d.plan().layout.zero == 1);
    d.rest();
    CHECK(says(d, memory_text(all.rung[3].held.total(), Zeros::kept)));
    REQUIRE(d.click("memory.shed", 1));  // the plan's own
    CHECK(d.plan().layout.zero == 1);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().layout.zero == 3);
}

TEST_CASE(
    "the stages of ZeRO are shown with another number of micro-batches; a press keeps the plan's batch") {
    Driver d("mesh-8");
    open_page(d, Key::n4, "memory.mode", 2);
    const std::int64_t batch = d.plan().training.global_batch;
    REQUIRE(microbatches_of(d.plan()) > 1);
    CHECK_FALSE(says(d, "not a byte more than ZeRO-1"));
    REQUIRE(d.click("memory.sheds.m", 1));
    CHECK(d.shell.views().memory.microbatches == 1);
    CHECK(says(d, "not a byte more than ZeRO-1"));
    REQUIRE(d.click("memory.shed", d.plan().layout.zero == 1 ? 2 : 1));
    CHECK(d.plan().training.global_batch == batch);
    d.click("memory.sheds.m", 0);
    CHECK(d.shell.views().memory.microbatches == 0);
}

TEST_CASE("one rank has no copies and says so") {
    Driver one("single-gpu");
    open_page(one, Key::n4, "memory.mode", 2);
    CHECK(says(one, "no copies share out one state"));
    CHECK_FALSE(says(one, "= 1 copy"));
}

TEST_CASE(
    "the race of a GB is stopped where it tells, plays with Space and goes on and back by its moments") {
    Driver d("llama-3.1-405b-16k");
    open_page(d, Key::n1, "map.page", static_cast<std::uint64_t>(MapPage::wires));
    CHECK(says(d, "25.0 % of the GB"));
    CHECK(says(d, "done"));
    d.press({Key::right});
    CHECK(race_at(d) == near(0.010, 1e-6));
    CHECK(says(d, "50.0 % of the GB"));
    d.press({Key::left});
    CHECK(race_at(d) == near(0.005, 1e-6));
    REQUIRE(d.click("map.race.back"));
    CHECK(race_at(d) < 0.005);
    REQUIRE(d.click("map.race.forward"));
    CHECK(race_at(d) == near(0.005, 1e-6));
    d.press({Key::space});
    CHECK(d.shell.views().map.race.played.playing);
    const double before = race_at(d);
    for (int i = 0; i < 60; ++i) d.frame();
    CHECK(race_at(d) - before == near(0.001, 0.05));  // a millisecond in a second
    d.press({Key::space});
    CHECK_FALSE(d.shell.views().map.race.played.playing);
    REQUIRE(d.click("map.race.play"));
    CHECK(d.shell.views().map.race.played.playing);
    REQUIRE(d.click("map.race.play"));
    CHECK_FALSE(d.shell.views().map.race.played.playing);
}

TEST_CASE("with reduced motion the race goes from moment to moment") {
    Driver d("llama-3.1-405b-16k");
    d.shell.settings().reduced_motion = true;
    open_page(d, Key::n1, "map.page", static_cast<std::uint64_t>(MapPage::wires));
    d.press({Key::space});
    REQUIRE(d.shell.views().map.race.played.playing);
    const double at = race_at(d);
    for (int i = 0; i < 30; ++i) d.frame();
    CHECK(race_at(d) == at);
    for (int i = 0; i < 30; ++i) d.frame();
    CHECK(race_at(d) == near(d.shell.views().map.race.race->moment_after(at), 1e-6));
}

TEST_CASE(
    "below the race stand the messages of each axis, and the step with tp on other wires to take over") {
    Driver d("llama-3.1-405b-16k", {1600, 1000});
    open_page(d, Key::n1, "map.page", static_cast<std::uint64_t>(MapPage::wires));
    CHECK(says(d, "a tick is"));
    CHECK(says(d, "tp outermost"));
    const double own = evaluate(d.plan()).step->time_s;
    CHECK(says(d, time_text(own, Zeros::kept)));
    const auto order = d.plan().layout.order;
    REQUIRE(d.click("map.order", 2));
    CHECK(d.plan().layout.order != order);
    CHECK(evaluate(d.plan()).step->time_s > 5 * own);
    CHECK(says(d, "the step is"));
    REQUIRE(d.click("map.order", 2));  // its own now
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().layout.order == order);
}

TEST_CASE("the guess of a stage of ZeRO is drawn in its own column, where the true bar comes after it") {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "pentamesh-rungs-drawn.md";
    write_file(file,
               "---\ntitle: Drawn\n---\n\n## One\nopen: llama-3-8b-fsdp\nset: layout.zero = 0\nview: memory\n"
               "page: sheds\n\nWords.\n\n```ask\nguess: with layout.zero=3: memory fullest\n"
               "prompt: How much?\nwhy: So.\n```\n");
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(file);
    d.settle();
    const auto column = d.shell.ui_state().rect_of("memory.guess", 3);
    REQUIRE(column);
    CHECK_FALSE(d.drawn("memory.guess", 1));  // nothing is asked about it
    const float x = column->x + 8;
    d.drag({x, column->bottom() - 4}, {x, column->center().y});
    const ZeroRungs all = zero_rungs(d.plan(), evaluate(d.plan()));
    const double top = 1.02 * std::max(all.hbm, all.rung[0].held.total()) / 1073741824.0;
    CHECK(parse_guess(d.shell.lesson().state().typed, "GiB").value_or(0) == near(top / 2, 0.03));
    CHECK(says(d, "guess "));
    const std::string truth = memory_text(all.rung[3].held.total(), Zeros::kept);
    CHECK_FALSE(says(d, truth));
    REQUIRE(d.click("lesson.reveal"));
    d.rest();
    CHECK(says(d, truth));
    CHECK(says(d, "guess "));
    CHECK_FALSE(d.drawn("memory.guess", 3));
}

TEST_CASE("while a question is open, figures of other plans are hidden on both pages") {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "pentamesh-rungs-asked.md";
    write_file(file,
               "---\ntitle: Asked\n---\n\n## One\nopen: llama-3-8b-fsdp\nset: layout.zero = 0\nview: memory\n"
               "page: sheds\n\nWords.\n\n```ask\nguess: with layout.zero=1: memory fullest\n"
               "prompt: How much?\nwhy: So.\n```\n");
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(file);
    d.settle();
    CHECK(d.shell.views().memory.page == MemoryPage::sheds);
    const Plan plan = d.plan();
    const ZeroRungs all = zero_rungs(plan, evaluate(plan));
    CHECK(says(d, memory_text(all.rung[0].held.total(), Zeros::kept)));
    for (std::size_t i = 1; i < kZeroStages; ++i)
        CHECK_FALSE(says(d, memory_text(all.rung[i].held.total(), Zeros::kept)));
    REQUIRE(d.click("lesson.reveal"));
    d.rest();
    for (std::size_t i = 1; i < kZeroStages; ++i)
        CHECK(says(d, memory_text(all.rung[i].held.total(), Zeros::kept)));
}
