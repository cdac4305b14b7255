// Tests lists that are longer than their room, tables behind the views, and the commands made of files: each
// is pressed, and its effect checked.
#include "app/ui/panels/plan_panel.h"
#include "app/ui/views/table.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/plan/names.h"
#include "tests/folder.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>

using namespace pentamesh;
using namespace pentamesh::ui;
namespace fs = std::filesystem;

namespace {

using test::Folder;

// Drags the scroll area's thumb to the end and back: other rows are seen there, the first ones again at the
// start.
void drag_thumb(Driver& d, const std::string& list) {
    CAPTURE(list);
    const std::string thumb = list + ".thumb";
    d.move({3, 3});
    REQUIRE(d.drawn(thumb));
    const Rect bar = *d.shell.ui_state().rect_of(thumb);
    const float x = bar.center().x;
    const auto seen = [&] {
        d.move({3, 3});
        d.settle();
        return d.shell.ui_state().last_areas;
    };
    d.drag({x, bar.y + 2}, {x, bar.y + 1});
    const auto first = seen();
    d.drag({x, bar.y + 2}, {x, bar.bottom() - 2});
    CHECK_FALSE(seen() == first);
    d.drag({x, bar.bottom() - 2}, {x, bar.y + 2});
    CHECK(seen() == first);
}

void run_by_id(Driver& d, const std::string& id) {
    CAPTURE(id);
    for (const Command& c : d.shell.commands())
        if (c.id == id) {
            REQUIRE(c.can_run());
            run_command(d, c.text());
            return;
        }
    FAIL("there is no such command");
}

std::uint64_t index_of(const std::vector<Presets::Entry>& entries, std::string_view id) {
    const auto at = std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.id == id; });
    REQUIRE(at != entries.end());
    return static_cast<std::uint64_t>(at - entries.begin());
}

// Returns the largest number of neighbouring rows of the picture in which something stands out from the
// ground.
int ink_height(const Image& image, Rect r) {
    int most = 0, now = 0;
    for (int y = static_cast<int>(r.y); y < static_cast<int>(r.bottom()); ++y) {
        const auto pixel = [&](int x) {
            return image.pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width)
                                 + static_cast<std::size_t>(x))
                                * 4];
        };
        bool ink = false;
        for (int x = static_cast<int>(r.x); x < static_cast<int>(r.right()); ++x)
            ink = ink || std::abs(pixel(x) - pixel(static_cast<int>(r.x))) > 24;
        now = ink ? now + 1 : 0;
        most = std::max(most, now);
    }
    return most;
}

}  // namespace

TEST_CASE("lists that are longer than their room are scrolled by their thumbs") {
    Driver d("llama-3.1-405b-16k", {1280, 420});
    drag_thumb(d, "plan");
    drag_thumb(d, "inspector");
    d.press({.key = Key::g, .ctrl = true});
    drag_thumb(d, "glossary.list");
    d.press({Key::escape});
    d.press({.key = Key::p, .ctrl = true});
    drag_thumb(d, "palette");
    d.press({Key::escape});
    REQUIRE(d.click("plan.model"));
    drag_thumb(d, "menu.model");
    for (float h = 440; h < 900; h += 60) {  // rows give up lines before they scroll
        Driver map("deepseek-v3-2048", {1280, h});
        REQUIRE(map.click("view.map"));
        REQUIRE(map.click("map.page", static_cast<std::uint64_t>(MapPage::axes)));
        if (!map.drawn("map.table.thumb")) continue;
        drag_thumb(map, "map.table");
        return;
    }
    FAIL("the map's table never scrolls");
}

TEST_CASE("the compact map scrolls in a low window, by its thumb") {
    Driver d("deepseek-v3-2048", {1280, 480});
    REQUIRE(d.click("view.map"));
    d.settle();
    drag_thumb(d, "map.compact");
}

TEST_CASE(
    "a model from the picker takes the title, says so and keeps the notes; undo brings the title back") {
    Driver d("llama-3-70b-3d");
    const Plan before = d.plan();
    REQUIRE_FALSE(before.notes.empty());
    REQUIRE(d.click("plan.model"));
    d.type("llama-3-8b");  // the list is long
    const PresetMenu menu = preset_menu(d.presets, PresetKind::model, "");
    const auto row = std::ranges::find(menu.entry, "llama-3-8b", &Presets::Entry::id);
    REQUIRE(d.click("menu.model", static_cast<std::uint64_t>(row - menu.entry.begin())));
    CHECK(d.plan().model == d.presets.model("llama-3-8b"));
    CHECK(d.plan().name.empty());
    CHECK(d.plan().notes.empty());
    CHECK(d.shell.message()
          == "The title \"" + before.name
                 + "\" and its notes no longer hold and are gone; Ctrl+Z undoes that");
    CHECK(says(d, title_of(d.plan())));
    CHECK(d.shell.title().find("70B") == std::string::npos);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == before);
}

TEST_CASE("a cluster from the picker keeps the GPUs and takes the title that names the old one") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.plan().name.find("H100") != std::string::npos);
    REQUIRE(d.click("plan.cluster"));
    REQUIRE(d.click("menu.cluster", index_of(d.presets.list(PresetKind::cluster), "h200-sxm-ib")));
    CHECK(d.plan().cluster.gpu == d.presets.cluster("h200-sxm-ib").gpu);
    CHECK(d.plan().cluster.gpus == 256);
    CHECK(d.shell.title().find("256 H200") != std::string::npos);
}

TEST_CASE("a name that nothing has is said in words that are seen whole") {
    Driver d("mesh-8");
    const auto check = [&] {
        d.type("zzzzqq");
        REQUIRE(says(d, "nothing matches"));
        Vec2 at;
        for (const TextRun& r : d.surface.text_runs())
            if (r.text.find("nothing matches") != std::string::npos) at = r.at;
        CHECK(ink_height(d.surface.read(), {at.x, at.y - 14, 80, 36}) >= 11);  // from the h to the g's foot
        d.press({Key::escape});
    };
    d.press({.key = Key::p, .ctrl = true});
    check();
    REQUIRE(d.click("plan.model"));
    check();
}

TEST_CASE("a row of a view's table is selected where the view has such a thing, and else changes nothing") {
    Driver d("deepseek-v3-2048");
    for (const ViewEntry& view : view_table()) {
        CAPTURE(std::string(view.name));
        d.press(view.key);
        REQUIRE(d.click("view.data", static_cast<std::uint64_t>(view.id)));
        const Selection before = d.shell.selection();
        const Plan plan = d.plan();
        if (view.id == ViewId::search) {  // its rows come by and by; it has one of the open plan at once
            REQUIRE(d.click("data.search", 0));
            d.press(view.key);
            continue;
        }
        if (view.id == ViewId::scale)  // they are worked out in the background
            d.until([&] { return *d.shell.views().scale.of && !d.shell.views().scale.of.running(); });
        if (view.id == ViewId::shards) REQUIRE(d.click("data.part", 1));  // the list of tensors
        REQUIRE(d.click("data." + std::string(view.name), 1));
        if (view.pick_row != nullptr && view.id != ViewId::mesh)  // there an axis is chosen
            CHECK(d.shell.selection().topic != Selection::Topic::none);
        else
            CHECK(d.shell.selection().topic == before.topic);
        CHECK(d.plan() == plan);
        d.shell.selection() = Selection{};
        REQUIRE(d.click("view.data", static_cast<std::uint64_t>(view.id)));
        d.press(view.key);
    }
}

TEST_CASE("a double click on a view's name gives it the window") {
    Driver d("mesh-8");
    double_click(d, "view.memory");
    CHECK(d.shell.full_view() == ViewId::memory);
}

TEST_CASE("a name of the map opens its card and selects the row of its axis") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n1});
    d.shell.selection().choose(GroupKind::pp);
    for (std::uint64_t page = 0; page < 5 && !d.drawn("map.search"); ++page) d.click("map.page", page);
    REQUIRE(d.drawn("map.search"));
    for (const GlossaryEntry& e : d.shell.glossary().entries) {
        if (!e.name || e.axis != "tp" || !d.drawn("map.name." + e.id)) continue;
        REQUIRE(d.click("map.name." + e.id));
        CHECK(d.shell.selection().group == GroupKind::tp);
        CHECK(d.shell.views().map.name == e.id);
        CHECK(says(d, e.term));
        return;
    }
    FAIL("no name of tensor parallelism is on the map");
}

TEST_CASE("lessons by number open from the palette") {
    Driver d("mesh-8");
    for (const LessonEntry& lesson : d.shell.lessons()) {
        run_by_id(d, "lesson." + lesson.id);
        REQUIRE(d.shell.lesson().open);
        CHECK(d.shell.lesson().file == lesson.file);
        CHECK(checked(d, "lesson." + lesson.id));
    }
    CHECK(d.shell.lessons().size() > 10);
    // The menu leads there too: the palette opens on the lessons.
    run_by_id(d, "lesson.choose");
    d.settle();
    CHECK(says(d, d.shell.lessons().front().title));
    d.press({Key::escape});
}

TEST_CASE("a menu that is longer than the window scrolls by its thumb") {
    Driver d("mesh-8", {1120, 200});
    REQUIRE(d.click("menu.Learn"));
    const auto thumb = d.shell.ui_state().rect_of("bar.thumb");
    REQUIRE(thumb);
    const auto last = [&] {
        std::uint64_t row = 0;
        for (std::uint64_t i = 0; i < 99; ++i)
            if (d.drawn("bar", i)) row = i;
        return row;
    };
    const std::uint64_t before = last();
    d.drag({thumb->center().x, thumb->y + 4}, {thumb->center().x, thumb->bottom() - 2});
    CHECK(last() > before);
}

TEST_CASE("the files opened last are opened again by their commands") {
    const Folder folder;
    Driver d("mesh-8", {1600, 900}, 1, folder.path / "config");
    std::vector<fs::path> files;
    for (int i = 0; i < 6; ++i) {
        Plan p = d.presets.plan("single-gpu");
        p.training.global_batch = 8 * (i + 1);
        files.push_back(folder.path / ("run" + std::to_string(i) + ".plan.json"));
        write_file(files.back(), write_plan(p));
        d.shell.open_file(files.back());
        d.settle();
        REQUIRE(d.shell.document().path() == files.back());
    }
    for (int i = 0; i < 6; ++i) {
        // A file that is opened comes to the front: the i-th of the list is the one that was opened 5 - i
        // before.
        const fs::path wanted = d.shell.settings().recent.at(static_cast<std::size_t>(i));
        run_by_id(d, "recent." + std::to_string(i));
        CHECK(d.shell.document().path() == wanted);
        CHECK(d.shell.settings().recent.front() == wanted.string());
    }
}

TEST_CASE("the plans of a window that is gone are asked for by command") {
    const Folder folder;
    Plan edited;
    {
        Driver crashed("mesh-8", {1280, 900}, 1, folder.path);
        REQUIRE(crashed.click("mod.zero", 2));
        crashed.shell.autosave();
        edited = crashed.plan();
    }
    Driver d("single-gpu", {1280, 900}, 1, folder.path);
    run_by_id(d, "file.recover");
    REQUIRE(d.shell.dialog() == DialogKind::recover);
    REQUIRE(d.click("recover.open", 0));
    CHECK(d.plan() == edited);
    run_by_id(d, "file.recover");
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(says(d, "No window left a plan"));
}
