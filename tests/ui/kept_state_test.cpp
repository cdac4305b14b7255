// Tests state other than the window's: steps of undo, settings from one start to the next, tables that other
// programs read.
#include "app/tables/table.h"
#include "app/ui/shell/document.h"
#include "app/ui/shell/files.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "render/png.h"
#include "tests/folder.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE(
    "edits of one field are one step of undo, edits of two are two, and what was redone can be undone") {
    Plan plan;
    plan.layout.tp = 1;
    Document d(plan);
    const auto set = [&](std::int64_t tp, std::int64_t pp, const std::string& key) {
        Plan next = d.plan();
        next.layout.tp = tp, next.layout.pp = pp;
        d.edit(next, "edit", key);
    };
    set(2, 1, "tp");
    set(4, 1, "tp");
    set(4, 2, "pp");
    CHECK(d.undo());
    CHECK(d.plan().layout.pp == 1);
    CHECK(d.plan().layout.tp == 4);
    CHECK(d.undo());
    CHECK(d.plan().layout.tp == 1);
    CHECK_FALSE(d.undo());
    CHECK(d.redo());
    CHECK(d.plan().layout.tp == 4);
    CHECK(d.undo());
    CHECK(d.plan().layout.tp == 1);
}

TEST_CASE("settings come back as they were written") {
    const test::Folder folder;
    for (int i = 0; i < kThemeCount; ++i) {
        Settings s;
        s.theme = static_cast<ThemeId>(i);
        s.scale = 1.25f, s.left = 310, s.right = 320, s.memory = 0.25f, s.timeline = 0.5f;
        s.welcomed = s.reduced_motion = i % 2 == 0;
        s.learner = "Ada", s.flags = "x";
        s.tasks_done = {"one", "two"};
        save_settings(folder.path, s);
        std::string warning;
        const Settings read = load_settings(folder.path, warning);
        CHECK(warning.empty());
        CHECK(read.theme == s.theme);
        CHECK(read.scale == s.scale);
        CHECK(read.left == s.left);
        CHECK(read.right == s.right);
        CHECK(read.memory == s.memory);
        CHECK(read.timeline == s.timeline);
        CHECK(read.welcomed == s.welcomed);
        CHECK(read.reduced_motion == s.reduced_motion);
        CHECK(read.learner == s.learner);
        CHECK(read.flags == s.flags);
        CHECK(read.tasks_done == s.tasks_done);
    }
}

// RFC 4180, sections 2.5 to 2.7; GitHub Flavored Markdown, section 4.10.
TEST_CASE("a cell's own quotes, commas, line ends and bars do not end it") {
    Table t;
    t.columns = {{"a"}, {"b"}};
    t.rows = {{"say \"x\"", "1,2"}, {"two\nlines", "left|right"}};
    CHECK(write_table(t, TableFormat::csv)
          == "a,b\r\n\"say \"\"x\"\"\",\"1,2\"\r\n\"two\nlines\",left|right\r\n");
    CHECK(write_table(t, TableFormat::markdown)
          == "| a | b |\n| --- | --- |\n| say \"x\" | 1,2 |\n| two lines | left\\|right |\n");
}

TEST_CASE("a picture of three plans gives back all three, in their order") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Image dot{1, 1, {0, 0, 0, 255}};
    std::vector<Plan> plans(3, presets.plan("mesh-8"));
    for (std::size_t i = 0; i < plans.size(); ++i) plans[i].name = "plan " + std::to_string(i);
    const Incoming in = read_incoming(encode_png(dot, {{"pentamesh.plan", write_plan(plans[0])},
                                                       {"pentamesh.plan.2", write_plan(plans[1])},
                                                       {"pentamesh.plan.3", write_plan(plans[2])}}),
                                      "three.png", presets);
    CHECK(in.plan.name == "plan 0");
    REQUIRE(in.others.size() == 2);
    CHECK(in.others[0].name == "plan 1");
    CHECK(in.others[1].name == "plan 2");
}
