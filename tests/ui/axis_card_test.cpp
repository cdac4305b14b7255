// Tests the card of an axis: when it opens, and that its figures are the plan's.
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/plan/edits.h"
#include "tests/folder.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

constexpr std::string_view kCard = "WHAT IT COSTS HERE", kBrief = "F1: what it costs here";

// Returns the names of axes in the view, those in the plan panel left out.
std::vector<UiState::Named> names_in_view(Driver& d, Axis axis) {
    const auto badge = d.shell.ui_state().rect_of("layout.tp.badge");
    std::vector<UiState::Named> out;
    for (const UiState::Named& n : d.shell.ui_state().named)
        if (n.subject == static_cast<int>(axis) && (!badge || n.rect.x > badge->right())) out.push_back(n);
    return out;
}

// Returns the left upper corner of the card's section, or of the last line of a brief one; x < 0: there is no
// card.
Vec2 card_at(Driver& d) {
    Vec2 out{-1, -1};
    d.surface.record_text(true);
    d.frame();
    for (const TextRun& r : d.surface.text_runs())
        if (r.text == kCard || r.text.ends_with(kBrief)) out = r.at;
    d.surface.record_text(false);
    return out;
}

}  // namespace

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

TEST_CASE("the card opens at each name of an axis in a view, beside it, and a click or Esc sends it away") {
    Driver d("mesh-8", {1600, 1000});
    const auto opens = [&](std::string_view place, Axis axis, std::size_t least) {
        CAPTURE(place);
        d.move({1590, 2});
        const std::vector<UiState::Named> names = names_in_view(d, axis);
        REQUIRE(names.size() >= least);
        for (const UiState::Named& n : names) {
            CAPTURE(n.rect.x);
            CAPTURE(n.rect.y);
            d.move(n.rect.center());
            CHECK(card_at(d).x < 0);
            d.rest();
            const Vec2 at = card_at(d);
            REQUIRE(at.x > 0);
            CHECK(says(d, "4 groups of 2, all inside NVLink"));
            CHECK_FALSE(n.clear.contains(at));
            CHECK(
                (at.x > n.clear.right() || at.x < n.clear.x || at.y > n.clear.bottom() || at.y < n.clear.y));
        }
    };
    d.shell.show_full(ViewId::map);
    d.settle();
    const MapViewState& map = d.shell.views().map;
    for (const auto& [page, least] : {std::pair{MapPage::compact, 1}, std::pair{MapPage::axes, 2},
                                      std::pair{MapPage::wires, 1}, std::pair{MapPage::names, 1}}) {
        REQUIRE(d.click("map.page", static_cast<std::uint64_t>(page)));
        REQUIRE(map.page == page);
        opens(kMapPages[static_cast<std::size_t>(page)], Axis::tp, static_cast<std::size_t>(least));
    }
    REQUIRE(d.click("map.page", static_cast<std::uint64_t>(MapPage::compact)));
    const auto row = names_in_view(d, Axis::tp).front();
    d.move(row.rect.center());
    d.rest();
    REQUIRE(card_at(d).x > 0);
    d.press({Key::escape});
    d.rest();
    CHECK(card_at(d).x < 0);
    d.move({1590, 2});
    d.move(row.rect.center());
    d.rest();
    REQUIRE(card_at(d).x > 0);
    d.click_at(row.rect.center());  // opens the card of the row
    CHECK(map.opened);
    d.rest();
    CHECK(card_at(d).x < 0);
    d.shell.show_full(ViewId::mesh);
    d.settle();
    opens("mesh", Axis::tp, 1);
    REQUIRE(d.click("mesh.which", 1));
    opens("fold", Axis::tp, 2);
    d.shell.show_full(ViewId::comm);
    d.settle();
    opens("comm", Axis::tp, 2);
    d.shell.show_full(ViewId::step);
    d.settle();
    opens("step", Axis::tp, 1);
    d.shell.show_full(ViewId::shards);
    d.settle();
    REQUIRE(d.click("shards.scope", 0));
    opens("loaf", Axis::tp, 2);
    REQUIRE(d.click("shards.scope", 1));
    opens("tensors", Axis::tp, 1);
    d.move(names_in_view(d, Axis::tp).front().rect.center());
    d.press({Key::f1});
    CHECK(says(d, "4 groups of 2, all inside NVLink"));
}

TEST_CASE("while a question is open no name of an axis opens its card") {
    const auto file = pentamesh::test::fresh_folder("axis-card-asked") / "mine.md";
    write_file(file, "---\ntitle: Mine\n---\n\n## One\nopen: mesh-8\nview: map\npage: compact\n\nWords.\n\n"
                     "```ask\nnumber: with tp=4: step time\nshow: no\nprompt: How many?\nwhy: So.\n```\n");
    Driver d("mesh-8", {1600, 1000});
    d.shell.open_lesson(file);
    d.settle();
    const auto names = names_in_view(d, Axis::tp);
    REQUIRE_FALSE(names.empty());
    d.move(names.front().rect.center());
    d.rest();
    CHECK(card_at(d).x < 0);
    d.press({Key::f1});
    CHECK(card_at(d).x < 0);
    REQUIRE(d.click("lesson.reveal"));
    const auto again = names_in_view(d, Axis::tp);
    REQUIRE_FALSE(again.empty());
    d.move({1590, 2});
    d.move(again.front().rect.center());
    d.rest();
    CHECK(says(d, "4 groups of 2, all inside NVLink"));
}
