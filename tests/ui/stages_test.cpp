// The loaf cut between layers, in the lesson that shows it: tiles, the moment on the timeline, the knife.
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// The step "Cut the depth" has the bare loaf of a pipeline of four stages.
void open_depth(Driver& d) {
    d.shell.open_lesson(std::filesystem::path(SOURCE_DIR) / "assets" / "lessons" / "00-five-cuts.md");
    d.settle();
    const auto& steps = d.shell.lesson().lesson.steps;
    const auto at = std::find_if(steps.begin(), steps.end(),
                                 [](const LessonStep& s) { return s.title == "Cut the depth"; });
    REQUIRE(at != steps.end());
    for (auto i = steps.begin(); i != at; ++i) d.press({Key::page_down});
    d.settle();
}

}  // namespace

TEST_CASE("the loaf of a pipeline has a tile for each stage; a click selects its GPU and shows its layers") {
    Driver d("mesh-8", {1440, 900});
    open_depth(d);
    for (std::uint64_t stage = 0; stage < 4; ++stage) CHECK(d.drawn("shards.stage", stage));
    CHECK_FALSE(d.drawn("shards.stage", 4));
    CHECK_FALSE(d.drawn("shards.slice"));
    REQUIRE(d.click("shards.stage", 2));
    CHECK(d.shell.selection().rank == 2);
    CHECK(says(d, "12–15"));
    REQUIRE(d.click("shards.stage", 2));
    CHECK(d.shell.selection().rank == -1);
}

TEST_CASE("the bytes of a cut are shown once the question is answered") {
    Driver d("mesh-8", {1440, 900});
    open_depth(d);
    CHECK_FALSE(says(d, "33.6 MB"));
    d.shell.lesson().state().revealed = true;
    d.settle();
    CHECK(says(d, "33.6 MB"));
    CHECK_FALSE(says(d, "1.05 GB"));  // of a tied table, which this model has not
}

TEST_CASE("the moment on the timeline is dragged: slices come and go in the tiles") {
    Driver d("mesh-8", {1440, 900});
    open_depth(d);
    REQUIRE(d.drawn("shards.now"));
    CHECK(says(d, "now: 4, 3, 2, 1 in flight"));
    const Rect plot = *d.shell.ui_state().rect_of("shards.now");
    d.drag(plot.center(), {plot.x + 1, plot.center().y});
    CHECK(says(d, "now: 1, 0, 0, 0 in flight"));
    d.press({Key::right});  // to the next moment at which anything changes
    CHECK(says(d, "now: 2, 1, 0, 0 in flight"));
}

TEST_CASE("the knife of a pipeline is taken back where its chip is") {
    Driver d("mesh-8", {1440, 900});
    open_depth(d);
    REQUIRE(d.plan().layout.pp == 4);
    REQUIRE(d.click("shards.knife", 2, 1));
    CHECK(d.plan().layout.pp < 4);
}
