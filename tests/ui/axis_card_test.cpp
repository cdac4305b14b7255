// Tests the card of an axis: when it opens, and that its figures are the plan's.
#include "core/base/text.h"
#include "core/plan/factors.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE(
    "the card of an axis opens where the mouse rests on its name, or by F1, with the plan's own figures") {
    Driver d("mesh-8");  // tp 2, dp_shard 2, dp_replicate 2
    const auto name = d.shell.ui_state().rect_of("layout.tp.toggle");
    REQUIRE(name);
    d.move(name->center());
    CHECK_FALSE(says(d, "WHAT IT COSTS HERE"));
    d.rest();
    CHECK(says(d, "WHAT IT COSTS HERE"));
    CHECK(says(d, "4 groups of 2, all inside NVLink"));
    CHECK(says(d, " a step from each GPU, in "));
    Evaluation tried;  // tp 4 takes the two copies of a shard: its memory stands in the card
    evaluate(with_factor(d.plan(), Axis::tp, 4, true), tried);
    REQUIRE(tried.valid);
    CHECK(says(d, pentamesh::memory_text(tried.memory.peak())));
    d.move({800, 450});
    CHECK_FALSE(says(d, "WHAT IT COSTS HERE"));

    d.move(d.shell.ui_state().rect_of("layout.pp.toggle")->center());
    d.press({Key::f1});
    CHECK(says(d, "WHAT IT COSTS HERE"));
    CHECK(says(d, "off: "));
    d.press({Key::escape});
    d.move({800, 450});
    CHECK_FALSE(says(d, "WHAT IT COSTS HERE"));
}
