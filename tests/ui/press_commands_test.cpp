// Tests commands that no other file runs, each with its effect.
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/edits.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("data is copied in each of its formats") {
    Driver d("mesh-8");
    d.press({Key::n4});
    run_command(d, "copy data as json");
    CHECK(d.clipboard.find('{') != std::string::npos);
    run_command(d, "copy data as markdown");
    CHECK(d.clipboard.find("| ") != std::string::npos);
    const std::string markdown = d.clipboard;
    run_command(d, "copy data as text");
    CHECK(d.clipboard.find("optimizer") != std::string::npos);
    CHECK(d.clipboard.find('|') == std::string::npos);
    CHECK(d.clipboard != markdown);
}

TEST_CASE("a new plan is one GPU, a preset is the preset") {
    Driver d("mesh-8");
    d.press({.key = Key::n, .ctrl = true});
    CHECK(d.plan().cluster.gpus == 1);
    run_command(d, "open preset: Llama 3 70B");
    CHECK(d.plan().model.name == d.presets.model("llama-3-70b").name);
    run_command(d, "open preset: HSDP");
    CHECK(d.plan() == d.presets.plan("hsdp-64"));
}

TEST_CASE("the title is edited from the menu as by a click on it") {
    Driver d("mesh-8");
    run_command(d, "rename the plan");
    REQUIRE(d.drawn("edit.title"));
    d.type("Mine");
    d.press({Key::enter});
    CHECK(d.plan().name == "Mine");
}

TEST_CASE("open, about and keys show what they name, and Escape puts it away") {
    Driver d("mesh-8");
    d.press({.key = Key::o, .ctrl = true});
    CHECK(d.drawn("dialog.path"));
    d.press({Key::escape});
    CHECK_FALSE(d.drawn("dialog.path"));
    run_command(d, "about pentamesh");
    CHECK(says(d, "Fonts: Inter"));
    d.press({Key::escape});
    d.press({Key::f1});
    CHECK(says(d, "Keys"));
    d.press({Key::f1});
    CHECK_FALSE(says(d, "next, previous control"));
    d.press({Key::f10});
    CHECK(d.shell.ui_state().focus == id_of("menu.File"));
    REQUIRE(d.click("palette.open"));
    CHECK(d.shell.ui_state().edit != 0);
}

TEST_CASE("in a small window the sheet of keys scrolls to its last row") {
    Driver d("mesh-8", {640, 480});
    d.press({Key::f1});
    d.settle();
    CHECK(says(d, "New: one GPU"));
    CHECK_FALSE(says(d, "play or pause the layer"));
    const auto thumb = d.shell.ui_state().rect_of("keys.scroll.thumb");
    REQUIRE(thumb);
    d.drag(thumb->center(), thumb->center() + Vec2{0, 480});
    CHECK(says(d, "play or pause the layer"));
    CHECK_FALSE(says(d, "New: one GPU"));
}

TEST_CASE("every menu of the bar opens") {
    Driver d("mesh-8");
    for (const char* name : {"menu.Edit", "menu.View", "menu.Export", "menu.Learn", "menu.Help"}) {
        CAPTURE(std::string(name));
        REQUIRE(d.click(name));
        CHECK(d.drawn("bar"));
        d.press({Key::escape});
        CHECK_FALSE(d.drawn("bar"));
    }
    REQUIRE(d.click("menu.Help"));
    REQUIRE(d.click("bar", 0));
    CHECK_FALSE(d.drawn("bar"));
}

TEST_CASE("quit ends a plan that was not changed at once") {
    Driver d("mesh-8");
    d.press({.key = Key::q, .ctrl = true});
    CHECK(d.shell.quit());
}

TEST_CASE("size and theme are the ones that were asked for") {
    Driver d("mesh-8");
    d.press({.key = Key::equal, .ctrl = true});
    CHECK(d.shell.settings().scale > 1);
    d.press({.key = Key::n0, .ctrl = true});
    CHECK(d.shell.settings().scale == 1);
    d.press({.key = Key::minus, .ctrl = true});
    CHECK(d.shell.settings().scale < 1);
    run_command(d, "theme: high-contrast");
    CHECK(d.shell.settings().theme == ThemeId::high_contrast);
}

TEST_CASE("the timeline's commands switch what their names say") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n5});
    for (const auto& [id, title] : {std::pair{"timeline.critical_path", "critical path of the timeline"},
                                    std::pair{"timeline.two_steps", "two steps back to back"},
                                    std::pair{"timeline.slow_stage", "inject a slow stage"}}) {
        const std::string name = id;
        CAPTURE(name);
        REQUIRE_FALSE(checked(d, name));
        run_command(d, title);
        CHECK(checked(d, name));
        run_command(d, title);
        CHECK_FALSE(checked(d, name));
    }
}

TEST_CASE("the map's own rows and the tensors fill the window") {
    Driver d("mesh-8");
    run_command(d, "map: fsdp and sp as rows");
    CHECK(d.shell.full_view() == ViewId::map);
    CHECK(checked(d, "view.map_rows"));
    d.press({.key = Key::n3, .shift = true});
    CHECK(d.shell.full_view() == ViewId::shards);
    CHECK(d.drawn("tensors.table"));
}

TEST_CASE("in a small window a lesson, the plan and the view take turns by command") {
    Driver d("mesh-8", {700, 600});
    run_command(d, "tour: two minutes");
    REQUIRE(d.shell.lesson().open);
    run_command(d, "show the plan in the lesson's place");
    CHECK(checked(d, "side.plan"));
    run_command(d, "show only the view");
    CHECK(checked(d, "side.view"));
    run_command(d, "show the lesson");
    CHECK(checked(d, "side.lesson"));
}

TEST_CASE("each framework's order of the axes is reached by its name in the palette, and undone") {
    Driver d("llama-3-70b-3d");
    const auto before = d.plan().layout.order;
    for (const OrderPreset& o : order_presets()) {
        CAPTURE(o.name);
        if (d.plan().layout.order == o.order) continue;
        run_command(d, "order of " + std::string(o.name) + ":");
        CHECK(d.plan().layout.order == o.order);
    }
    while (d.shell.document().can_undo()) d.press({Key::z, true});
    CHECK(d.plan().layout.order == before);
}

TEST_CASE("a row of the palette is run by a click") {
    Driver d("mesh-8");
    d.press({.key = Key::p, .ctrl = true});
    d.type("theme: light");
    const auto& all = d.shell.commands();
    std::uint64_t row = 0;
    while (row < all.size() && !d.drawn("palette", row)) ++row;
    REQUIRE(d.click("palette", row));
    CHECK(d.shell.settings().theme == ThemeId::light);
}

TEST_CASE("each schedule is reached by its name in the palette, and undone") {
    Driver d("llama-3-70b-3d");
    const Schedule before = d.plan().layout.schedule;
    for (int i = 0; i < kScheduleCount; ++i) {
        const auto schedule = static_cast<Schedule>(i);
        for (const ChunkChoice& c : traits_of(schedule).choices) {
            const std::string name = with_chunks(schedule, c.chunks);
            CAPTURE(name);
            if (d.plan().layout.schedule == schedule && d.plan().layout.virtual_stages == c.chunks) continue;
            run_command(d, "schedule " + name + ":");
            CHECK(d.plan().layout.schedule == schedule);
            CHECK(d.plan().layout.virtual_stages == c.chunks);
            d.press({Key::z, true});  // by its id, as a menu does
            REQUIRE_FALSE(
                (d.plan().layout.schedule == schedule && d.plan().layout.virtual_stages == c.chunks));
            run_id(d, "schedule." + std::string(name_of(schedule)) + "." + std::to_string(c.chunks));
            CHECK(d.plan().layout.schedule == schedule);
            CHECK(d.plan().layout.virtual_stages == c.chunks);
        }
    }
    while (d.shell.document().can_undo()) d.press({Key::z, true});
    CHECK(d.plan().layout.schedule == before);
}
