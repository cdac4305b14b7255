#include "app/ui/kit/format.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/teach/map.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <string_view>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;
using pentamesh::test::near;

namespace {
std::uint64_t row(MapRowId id) {
    return static_cast<std::uint64_t>(id);
}
}  // namespace

TEST_CASE("the card of an axis that has no room for all it says is scrolled") {
    Driver d("llama-3-70b-3d", {1280, 720});
    d.press({.key = Key::n1});
    REQUIRE(d.click("map.page", static_cast<std::uint64_t>(MapPage::axes)));
    const auto thumb = d.shell.ui_state().rect_of("map.card.thumb");
    REQUIRE(thumb);
    CHECK(d.shell.views().map.card.at == 0);
    REQUIRE(d.click("map.card.thumb"));
    d.settle();
    const ScrollState& card = d.shell.views().map.card;
    CHECK(std::abs(card.at - card.most / 2) <= 1);  // the middle of the strip was pressed
}

TEST_CASE("the compact map is scrolled where the window is low") {
    Driver d("mixtral-8x7b-ep", {1000, 480});
    d.press({.key = Key::n1});
    const auto thumb = d.shell.ui_state().rect_of("map.compact.thumb");
    REQUIRE(thumb);
    REQUIRE(d.click("map.compact.thumb"));
    d.settle();
    const ScrollState& map = d.shell.views().map.scroll;
    CHECK(std::abs(map.at - map.most / 2) <= 1);
}

TEST_CASE("digit 4 shows the map, with a row for each axis and its modifiers") {
    Driver d("llama-3.1-405b-16k");
    CHECK_FALSE(d.drawn("map.row"));
    d.press({.key = Key::n1});
    for (const MapRowId id :
         {MapRowId::dp, MapRowId::zero, MapRowId::tp, MapRowId::sp, MapRowId::pp, MapRowId::cp, MapRowId::ep})
        CHECK(d.drawn("map.row", row(id)));
    d.press({.key = Key::n1});
    CHECK_FALSE(d.drawn("map.row", row(MapRowId::dp)));
}

TEST_CASE("each row of the full map begins with its small loaf, where the table is wide") {
    for (const Vec2 size : {Vec2{1920, 1080}, Vec2{1600, 900}, Vec2{600, 900}}) {
        CAPTURE(size.x);
        Driver d("mixtral-8x7b-ep", size);
        d.press({.key = Key::n1});
        REQUIRE(d.click("map.page", static_cast<std::uint64_t>(MapPage::axes)));
        d.move({2, 2});
        d.rest();
        const bool wide = size.x > 1000;
        std::vector<std::vector<std::uint8_t>> loaves;
        const Image image = d.surface.read();
        for (const MapRowId id : {MapRowId::dp, MapRowId::tp, MapRowId::pp, MapRowId::cp, MapRowId::ep}) {
            const auto r = d.shell.ui_state().rect_of("map.row", row(id));
            REQUIRE(r);
            std::vector<std::uint8_t> loaf;
            for (int y = static_cast<int>(r->center().y) - 12; y < static_cast<int>(r->center().y) + 12;
                 ++y) {
                const auto at = image.pixels.begin() + (y * image.width + static_cast<int>(r->x) + 10) * 4;
                loaf.insert(loaf.end(), at, at + 40 * 4);
            }
            for (const auto& other : loaves) CHECK(loaf != other);
            loaves.push_back(std::move(loaf));
        }
        if (wide) CHECK(says(d, "in this plan"));  // the card still has room
        d.surface.record_text(true);
        d.frame();
        const float left = d.shell.ui_state().rect_of("map.row", row(MapRowId::dp))->x;
        for (const TextRun& run : d.surface.text_runs())
            if (run.text.starts_with("AXIS")) CHECK((run.at.x - left > 60) == wide);
    }
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
    d.press({.key = Key::n1});
    REQUIRE(d.click("map.style", 1));
    d.click("map.row", row(MapRowId::dp));
    CHECK(d.shell.selection().group == GroupKind::dp_replicate);
    CHECK(d.drawn("map.sits", row(MapRowId::zero)));
    REQUIRE(d.click("map.page", 3));
    CHECK(d.drawn("map.race.play"));
    REQUIRE(d.click("map.page", 4));
    REQUIRE(d.click("map.recipe", 0));
    CHECK(d.shell.selection().group == GroupKind::tp);
}

TEST_CASE(
    "the reference tables say of every axis where it works and what it costs, and when to reach for it") {
    Driver d("llama-3.1-405b-16k", {1600, 1100});
    d.press({.key = Key::n1});
    REQUIRE(d.click("map.page", 5));
    d.surface.record_text(true);
    d.settle();
    std::string page;
    for (const TextRun& run : d.surface.text_runs()) page += run.text + " ";
    for (int i = 0; i < kMapRowCount; ++i) {
        const MapWords& w = words_of(static_cast<MapRowId>(i));
        CAPTURE(std::string(w.key));
        for (const std::string_view words : {w.scope, w.model, w.saves, w.drawback, w.reach})
            CHECK(page.find(words.substr(0, words.find(' '))) != std::string::npos);
    }
    REQUIRE(d.click("map.reference", row(MapRowId::cp)));
    CHECK(d.shell.selection().group == GroupKind::cp);
    for (const Command& c : d.shell.commands())
        if (c.id == "export.csv") d.shell.run(c);
    d.settle();
    CHECK(d.clipboard.find("must know of the model") != std::string::npos);
}

TEST_CASE("the reference tables scroll where the window is low") {
    Driver d("llama-3.1-405b-16k", {1000, 480});
    d.press({.key = Key::n1});
    REQUIRE(d.click("map.page", 5));
    const auto before = d.shell.ui_state().rect_of("map.reference", 107);
    const auto thumb = d.shell.ui_state().rect_of("map.tables.thumb");
    REQUIRE(thumb);
    d.drag(thumb->center(), thumb->center() + Vec2{0, 200});
    CHECK(d.shell.ui_state().rect_of("map.reference", 107) != before);
}

TEST_CASE("\"reach for it when\" stays in the map's table where the plan's panel leaves it little room") {
    for (const Vec2 size : {Vec2{1600, 1000}, Vec2{1366, 768}, Vec2{1280, 720}}) {
        Driver d("mesh-8", size);
        d.press({.key = Key::n1});
        REQUIRE(d.click("map.page", static_cast<std::uint64_t>(MapPage::axes)));
        d.surface.record_text(true);
        d.settle();
        CAPTURE(size.x);
        CHECK(std::any_of(d.surface.text_runs().begin(), d.surface.text_runs().end(),
                          [](const TextRun& run) { return run.text == "REACH FOR IT WHEN"; }));
    }
}

TEST_CASE("a name is found by typing, shown with its axis, and narrows the list") {
    Driver d("deepseek-v3-2048");
    d.press({.key = Key::n1});
    d.click("map.page", 2);
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
    d.press({.key = Key::n1});
    REQUIRE(d.click("map.page", 4));
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

TEST_CASE("a picture of the map cuts no words, has no rests of switches, and grows until the card is whole") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const char* name : {"llama-3-70b-3d", "deepseek-v3-2048"})
        for (const float text : {1.0f, 1.4f})
            for (const float height : {720.0f, 0.0f}) {  // 0: as high as it takes
                CAPTURE(std::string(name));
                CAPTURE(height);
                CAPTURE(text);
                PictureRequest r;
                r.view = "map";
                r.size = text > 1 ? Vec2{1600, height > 0 ? 900.0f : 0} : Vec2{1280, height};
                r.text = text;
                std::vector<TextRun> runs;
                r.text_runs = &runs;
                (void)make_picture(presets, presets.plan(name), r, "png",
                                   find_fonts(std::filesystem::path(SOURCE_DIR) / "assets"));
                const auto has = [&](std::string_view words) {
                    return std::any_of(runs.begin(), runs.end(), [&](const TextRun& x) {
                        return x.text.find(words) != std::string::npos;
                    });
                };
                CHECK_FALSE(has("…"));
                CHECK(has("axes + modifiers, figures of a step of"));
                if (text == 1 || height == 0) CHECK(has("in this plan"));  // of the card
                if (height > 0) continue;
                for (const char* fact :
                     {"sits", "saves", "against it", "works on", "must know", "at most", "reach for it"})
                    CHECK(has(fact));
            }
}

TEST_CASE("the compact map has the axes on one screen; a click on a row opens its card, another closes it") {
    Driver d("llama-3.1-405b-131k", {1360, 800});
    d.press({.key = Key::n1});
    CHECK(d.shell.views().map.page == MapPage::compact);  // of itself in a narrow window
    for (const MapRowId id :
         {MapRowId::dp, MapRowId::zero, MapRowId::cp, MapRowId::tp, MapRowId::sp, MapRowId::pp, MapRowId::ep})
        CHECK(d.drawn("map.row", row(id)));
    CHECK(says(d, "cuts the data: weights are copied"));
    CHECK(says(d, "each layer, through its width"));
    // The wires and waits are the evaluation's.
    const Evaluation e = evaluate(d.plan());
    const auto rows = map_rows(d.plan(), e, MapStyle::modifiers);
    for (const MapRow& r : rows)
        if (r.id == MapRowId::tp || r.id == MapRowId::cp) {
            CHECK(says(d, traffic_text(r.sent_bytes)));
            CHECK(says(d, percent(r.waits_s / e.step->time_s)));
        }
    const int pp = row_of(rows, GroupKind::pp);
    CHECK(says(d, "bubble " + percent(rows[static_cast<std::size_t>(pp)].bubble_s / e.step->time_s)));
    REQUIRE(d.click("map.row", row(MapRowId::cp)));
    CHECK(d.shell.selection().group == GroupKind::cp);
    CHECK(d.shell.views().map.opened);
    REQUIRE(d.click("map.row", row(MapRowId::cp)));
    CHECK_FALSE(d.shell.views().map.opened);
    REQUIRE(d.click("map.page", static_cast<std::uint64_t>(MapPage::axes)));
    d.rest();
    CHECK(d.shell.views().map.page == MapPage::axes);  // a hand chose it
    Driver wide("llama-3.1-405b-131k", {1600, 900});
    wide.press({.key = Key::n1});
    CHECK(wide.shell.views().map.page == MapPage::axes);
}

TEST_CASE("the small loaves are cut as the engine cuts: data copies the state, tp and pp do not") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const MiniLoaves all = mini_loaves(presets);
    const auto of = [&](MapRowId id) -> const Loaf& { return all[static_cast<std::size_t>(id)]; };
    for (const MapRowId id : {MapRowId::dp, MapRowId::zero, MapRowId::tp, MapRowId::sp, MapRowId::etp,
                              MapRowId::pp, MapRowId::cp, MapRowId::ep})
        CHECK(of(id).slices.size() == 2);
    const double whole = of(MapRowId::dp).whole.crust();
    CHECK(of(MapRowId::dp).slices[0].crust() == near(whole));
    CHECK(of(MapRowId::cp).slices[0].crust() == near(whole));
    CHECK(of(MapRowId::zero).slices[0].crust() == near(whole / 2, 0.01));
    CHECK(of(MapRowId::tp).slices[0].crust() == near(whole / 2, 0.01));
    CHECK(of(MapRowId::pp).slices[0].crust() < 0.7 * whole);
    CHECK(of(MapRowId::ep).slices[0].crust() < 0.7 * of(MapRowId::ep).whole.crust());
}
