// Tests the one table of views: the window, pictures, lessons and the key sheet walk it.
#include "app/ui/kit/format.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/table.h"
#include "tests/ui/driver.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <regex>
#include <set>
#include <string>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

const Command* command(const Shell& shell, const std::string& id) {
    const auto at = std::find_if(shell.commands().begin(), shell.commands().end(),
                                 [&](const Command& c) { return c.id == id; });
    return at == shell.commands().end() ? nullptr : &*at;
}

FontFiles fonts() {
    return find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
}

}  // namespace

TEST_CASE("each view has a command with its key, a tab, a picture and a table") {
    Driver d("deepseek-v3-2048");
    const auto pictures = picture_views();
    for (const ViewEntry& view : view_table()) {
        CAPTURE(view.name);
        const Command* c = command(d.shell, "view." + std::string(view.name));
        REQUIRE(c != nullptr);
        CHECK(c->chord == view.key);
        CHECK(view_named(view.name) == view.id);
        CHECK(std::find(pictures.begin(), pictures.end(), view.name) != pictures.end());
        d.press(view.key);
        CHECK(d.shell.full_view() == view.id);
        for (const ViewId sibling : views_in(view.pane))
            CHECK(d.drawn("view." + std::string(view_of(sibling).name)));
        REQUIRE(d.click("view.data", static_cast<std::uint64_t>(view.id)));
        CHECK(command(d.shell, "export.csv")->can_run());
        command(d.shell, "export.csv")->run();
        CHECK(std::count(d.clipboard.begin(), d.clipboard.end(), '\n') > 1);
        REQUIRE(d.click("view.data", static_cast<std::uint64_t>(view.id)));
        d.press(view.key);
        CHECK_FALSE(d.shell.full_view());
    }
}

TEST_CASE("in the narrowest window every view of a pane is reached by its tabs, none of which lies outside") {
    Driver d("mesh-8", {640, 480});
    for (const Pane pane : {Pane::top, Pane::middle, Pane::bottom}) {
        std::set<ViewId> seen;
        for (std::size_t i = 0; i <= views_in(pane).size(); ++i) {
            ViewId shown = views_in(pane).front();
            for (const ViewId v : views_in(pane))
                if (const auto tab = d.shell.ui_state().rect_of("view." + std::string(view_of(v).name))) {
                    CAPTURE(view_of(v).name);
                    CHECK(tab->x + tab->w <= 640);
                    seen.insert(v);
                    shown = v;
                }
            if (!d.click("view.next")) REQUIRE(d.click("view." + std::string(view_of(shown).name)));
        }
        CHECK(seen.size() == views_in(pane).size());
    }
}

TEST_CASE("an impossible plan shows no figures in any view, table, dashboard or review, and says why") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan plan = presets.plan("llama-3-70b-3d");
    plan.layout.tp = 7;
    const Evaluation e = evaluate(plan);
    REQUIRE_FALSE(e.valid);
    // Facts of the cluster and the model are no figures of the plan: "450 GB/s", "70.6 B parameters".
    const std::regex figure(R"(\d (s|ms|µs|[kKMGT]i?B(?!/s)|%|TFLOP/s|tokens/s)( |,|\.|$))");
    for (const std::string_view view : picture_views())
        for (const bool as_data : {false, true}) {
            CAPTURE(view);
            CAPTURE(as_data);
            PictureRequest r;
            r.view = view;
            r.size = {1280, 720};
            r.rank = 5;
            r.screen = Screen{};
            r.screen->views.as_data.fill(as_data);
            r.screen->selection.rank = 5;
            r.screen->selection.topic = Selection::Topic::rank;
            std::vector<TextRun> runs;
            r.text_runs = &runs;
            (void)make_picture(presets, plan, r, "png", fonts());
            REQUIRE_FALSE(runs.empty());
            bool reason = false, mended = false;
            for (const TextRun& run : runs) {
                CAPTURE(run.text);
                // A review goes on with the smallest change that can be run, and that plan's figures.
                mended = mended || (view == "review" && run.text.starts_with("With "));
                // Advice offers another layout, with its figures.
                const float advice = r.size.x - 236;
                if (view == kDashboardName && run.at.x >= advice && run.at.y > 100) continue;
                CHECK((mended || !std::regex_search(run.text, figure)));
                reason =
                    reason || e.problems.front().message.find(run.text.substr(0, 12)) != std::string::npos;
            }
            CHECK(reason);
        }
}

TEST_CASE("a batch that does not divide leaves what the GPUs hold of the states, and the reason beside it") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan plan = presets.plan("llama-3-70b-3d");
    plan.training.global_batch = 7;
    const Evaluation e = evaluate(plan);
    REQUIRE_FALSE(e.valid);
    PictureRequest r;
    r.view = view_of(ViewId::memory).name;
    r.size = {1280, 720};
    std::vector<TextRun> runs;
    r.text_runs = &runs;
    (void)make_picture(presets, plan, r, "png", fonts());
    const auto shows = [&](const std::string& words) {
        return std::any_of(runs.begin(), runs.end(),
                           [&](const TextRun& run) { return run.text.find(words) != std::string::npos; });
    };
    const StageMemory& s = e.states.stage.front();
    CHECK(shows(ui::memory_text(s.optimizer)));
    CHECK(shows(ui::memory_text(s.parameters)));
    CHECK(shows(e.problems.front().message.substr(0, 12)));
}

TEST_CASE("no two commands share an id, and none is made of a title") {
    Driver d("mesh-8");
    std::set<std::string> seen;
    for (const Command& c : d.shell.commands()) {
        CAPTURE(c.id);
        CHECK(seen.insert(c.id).second);
        CHECK(std::none_of(c.id.begin(), c.id.end(),
                           [](char x) { return x == ' ' || (x >= 'A' && x <= 'Z'); }));
    }
}

TEST_CASE("Home goes to the view under the mouse alone") {
    Driver d("llama-3-70b-3d");
    const auto plot = d.shell.ui_state().rect_of("timeline.plot"),
               cells = d.shell.ui_state().rect_of("mesh.cells");
    REQUIRE(plot);
    REQUIRE(cells);
    d.wheel(plot->center(), 4);
    d.wheel(cells->center(), 4);
    const double to_s = d.shell.views().timeline.to_s;
    REQUIRE(to_s > 0);
    REQUIRE(d.shell.views().mesh.camera.zoom > 1);
    d.press({.key = Key::home});
    CHECK(d.shell.views().mesh.camera.zoom == 1);
    CHECK(d.shell.views().timeline.to_s == to_s);
    d.move(plot->center());
    d.press({.key = Key::home});
    CHECK(d.shell.views().timeline.to_s == 0);
}

TEST_CASE("a picture of the screen shows what the screen shows: page, hidden parts, table, selection") {
    Driver d("llama-3-70b-3d");
    PictureRequest plain;
    plain.size = {900, 600};
    const auto picture = [&](std::string_view view, bool of_screen) {
        PictureRequest r = plain;
        r.view = view;
        if (of_screen) r.screen = d.shell.screen();
        return make_picture(d.presets, d.plan(), r, "png", fonts());
    };
    CHECK(picture("map", true) == picture("map", false));
    d.press({.key = Key::n1});
    REQUIRE(d.click("map.page", 3));
    CHECK(picture("map", true) != picture("map", false));
    d.press({.key = Key::n4});
    CHECK(picture("memory", true) == picture("memory", false));
    REQUIRE(d.click("memory.legend", 3));
    const std::string hidden = picture("memory", true);
    CHECK(hidden != picture("memory", false));
    REQUIRE(d.click("view.data", static_cast<std::uint64_t>(ViewId::memory)));
    CHECK(picture("memory", true) != hidden);
    // An edit made after a view was last drawn is in its picture.
    d.press({.key = Key::n3, .shift = true});
    d.press({Key::backslash});
    REQUIRE(d.click("layout.tp.minus"));
    d.shell.selection() = {};  // a pressed axis is selected
    CHECK(picture("tensors", true) == picture("tensors", false));
}
