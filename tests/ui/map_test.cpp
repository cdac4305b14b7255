#include "tests/ui/driver.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {
std::uint64_t row(MapRowId id) {
    return static_cast<std::uint64_t>(id);
}
}  // namespace

TEST_CASE("digit 4 shows the map, with a row for each axis and its modifiers") {
    Driver d("llama-3.1-405b-16k");
    CHECK_FALSE(d.drawn("map.row"));
    d.press({.key = Key::n4});
    for (const MapRowId id :
         {MapRowId::dp, MapRowId::zero, MapRowId::tp, MapRowId::sp, MapRowId::pp, MapRowId::cp, MapRowId::ep})
        CHECK(d.drawn("map.row", row(id)));
    d.press({.key = Key::n4});
    CHECK_FALSE(d.drawn("map.row", row(MapRowId::dp)));
}

TEST_CASE("a row of the map selects its axis everywhere, with the mouse or the keyboard") {
    Driver d("llama-3.1-405b-16k");
    d.click("view.map");
    REQUIRE(d.click("map.row", row(MapRowId::pp)));
    CHECK(d.shell.selection().group == GroupKind::pp);
    d.click("map.row", row(MapRowId::zero));
    CHECK(d.shell.selection().group == GroupKind::dp_shard);
    d.press({.key = Key::right_bracket});
    CHECK(d.shell.selection().group == GroupKind::tp);
    d.shell.ui_state().focus = id_of("map.row", row(MapRowId::tp));
    d.press({.key = Key::down});
    d.press({.key = Key::down});
    d.press({.key = Key::enter});
    CHECK(d.shell.selection().group == GroupKind::pp);
}

TEST_CASE("the map's pages, and FSDP and SP as rows of their own") {
    Driver d("hsdp-64");
    d.press({.key = Key::n4});
    REQUIRE(d.click("map.style", 1));
    d.click("map.row", row(MapRowId::dp));
    CHECK(d.shell.selection().group == GroupKind::dp_replicate);
    REQUIRE(d.click("map.page", 2));
    CHECK(d.drawn("map.sits", row(MapRowId::zero)));
    REQUIRE(d.click("map.page", 3));
    REQUIRE(d.click("map.recipe", 0));
    CHECK(d.shell.selection().group == GroupKind::tp);
}

TEST_CASE("a name is found by typing, shown with its axis, and narrows the list") {
    Driver d("deepseek-v3-2048");
    d.press({.key = Key::n4});
    d.click("map.page", 1);
    CHECK(d.drawn("map.name.gpipe"));
    d.click("map.search");
    d.type("dualpipe");
    CHECK(d.drawn("map.name.dualpipe"));
    CHECK_FALSE(d.drawn("map.name.gpipe"));
    d.press({.key = Key::enter});
    CHECK(d.shell.selection().group == GroupKind::pp);
}

TEST_CASE("the map follows the plan in the frame of an edit") {
    Driver d("llama-3.1-405b-16k");
    d.click("view.map");
    d.click("layout.pp.toggle");
    CHECK(d.plan().layout.pp == 1);
    d.click("map.row", row(MapRowId::pp));
    CHECK(d.shell.selection().group == GroupKind::pp);
}

TEST_CASE("a dotted term opens its card, the card the whole glossary, and Escape closes them") {
    Driver d("llama-3.1-405b-16k");
    d.press({.key = Key::n4});
    REQUIRE(d.click("map.page", 3));
    REQUIRE(d.click("term.fsdp", 1));
    REQUIRE(d.drawn("glossary.more"));
    REQUIRE(d.click("glossary.more"));
    CHECK(d.drawn("glossary.search"));
    CHECK(d.drawn("glossary.entry.fsdp"));
    d.press({.key = Key::escape});
    CHECK_FALSE(d.drawn("glossary.search"));
}

TEST_CASE("the glossary opens by key, finds by typing and selects a term's axis") {
    Driver d("llama-3.1-405b-16k");
    d.press({.key = Key::g, .ctrl = true});
    REQUIRE(d.drawn("glossary.search"));
    d.type("pipeline");
    CHECK(d.drawn("glossary.entry.pp"));
    CHECK_FALSE(d.drawn("glossary.entry.hbm"));
    REQUIRE(d.click("glossary.entry.pp"));
    REQUIRE(d.click("glossary.axis"));
    CHECK(d.shell.selection().group == GroupKind::pp);
    CHECK_FALSE(d.drawn("glossary.search"));
}
