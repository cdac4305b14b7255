// Tests the card of an axis: when it opens, and that its figures are the plan's.
#include "core/base/text.h"
#include "core/plan/factors.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// Returns all that can be read of the next frame.
std::string read_window(Driver& d) {
    d.surface.record_text(true);
    d.frame();
    std::string all;
    for (const TextRun& r : d.surface.text_runs()) all += r.text + "\n";
    return all;
}
bool card_says(Driver& d, std::string_view words) {
    return read_window(d).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "the card of an axis opens where the mouse rests on its name, or by F1, with the plan's own figures") {
    Driver d("mesh-8");  // tp 2, dp_shard 2, dp_replicate 2
    const auto name = d.shell.ui_state().rect_of("layout.tp.toggle");
    REQUIRE(name);
    d.move(name->center());
    CHECK_FALSE(card_says(d, "WHAT IT COSTS HERE"));
    d.rest();
    const std::string card = read_window(d);
    INFO(card);
    CHECK(card.find("WHAT IT COSTS HERE") != std::string::npos);
    CHECK(card.find("4 groups of 2, all inside NVLink") != std::string::npos);
    CHECK(card.find(" a step from each GPU, in ") != std::string::npos);
    Evaluation tried;  // tp 4 takes the two copies of a shard: its memory stands in the card
    evaluate(with_factor(d.plan(), Axis::tp, 4, true), tried);
    REQUIRE(tried.valid);
    CHECK(card.find(pentamesh::memory_text(tried.memory.peak())) != std::string::npos);
    d.move({800, 450});
    CHECK_FALSE(card_says(d, "WHAT IT COSTS HERE"));

    d.move(d.shell.ui_state().rect_of("layout.pp.toggle")->center());
    d.press({Key::f1});
    CHECK(card_says(d, "WHAT IT COSTS HERE"));
    CHECK(card_says(d, "off: "));
    d.press({Key::escape});
    d.move({800, 450});
    CHECK_FALSE(card_says(d, "WHAT IT COSTS HERE"));
}
