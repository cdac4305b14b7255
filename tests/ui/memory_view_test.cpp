// Tests the bars of the view Memory: their names, their figures, and how they share the width.
#include "app/ui/kit/format.h"
#include "app/ui/views/memory/view.h"
#include "tests/near.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

#include <cstdint>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

TEST_CASE("a low pane names the parts of memory once, in its widest bar, and gives up no row for a legend") {
    Driver d("llama-3.1-405b-16k", {1600, 1000});
    const Memory& m = d.shell.evaluation().memory;
    const auto place = [&](std::string_view name, std::uint64_t i) {
        const auto r = d.shell.ui_state().rect_of(name, i);
        REQUIRE(r);
        return *r;
    };
    // Stages 1 to 7 hold the same and share a bar.
    const float left = place("memory.stage", 1).x, right = place("memory.stage", 7).right();
    for (std::uint64_t part = 0; part < kCategoryCount; ++part) {
        CAPTURE(part);
        const Rect name = place("memory.legend", part);
        CHECK(name.x >= left);
        CHECK(name.right() <= right);
        CHECK(name.bottom() <= place("memory.stage", 1).bottom());
    }
    CHECK(says_just(d, "activations"));
    CHECK(says_just(d, ui::memory_text(m.stage[1].activations)));
    CHECK(says_just(d, ui::gib(m.stage[12].activations)));  // a narrow bar's figure has no unit
    REQUIRE(d.click("memory.legend", 0));
    CHECK(d.shell.views().memory.hidden == 1);
    REQUIRE(d.click("memory.legend", 0));
    CHECK(d.shell.views().memory.hidden == 0);
}

TEST_CASE("four stages fill the width as sixteen do, and the line has one label") {
    const auto right_edge = [](std::string_view plan, std::uint64_t last) {
        Driver d(plan, {1600, 1000});
        CHECK(says_just(d, ui::memory_text(d.shell.evaluation().memory.hbm)));
        CHECK_FALSE(says(d, " GB)"));
        const auto r = d.shell.ui_state().rect_of("memory.stage", last);
        REQUIRE(r);
        return r->right();
    };
    CHECK(right_edge("llama-3-70b-3d", 3) == near(right_edge("llama-3.1-405b-16k", 15), 0.01));
}

TEST_CASE("what was there before does not make a sliver of the plan's own bar") {
    constexpr double kHbm = 80;
    // Both have their true lengths while the plan's own can be seen.
    CHECK(memory_axis(60, 0, kHbm, 400) == near(kHbm));
    CHECK(memory_axis(60, 150, kHbm, 400) == near(150));
    CHECK(memory_axis(170, 214, kHbm, 400) == near(214));
    CHECK(memory_axis(300, 60, kHbm, 400) == near(300));
    // 1,410 to 66: 3 of 60 pixels of a low pane. The line and some room behind it remain.
    const double cut = memory_axis(66, 1410, kHbm, 60);
    CHECK(cut > kHbm);
    CHECK(60 * 66 / cut > 24);
    CHECK(memory_axis(66, 200, kHbm, 60) < 200);  // of 60 pixels 20 would be left
    CHECK(memory_axis(900, 1410, kHbm, 60) == near(1410));
}
