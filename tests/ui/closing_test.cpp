// Tests the questions when the window closes, and what is kept when another model takes the place of one's
// own.
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/plan/edits.h"
#include "tests/folder.h"
#include "tests/ui/driver.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;
namespace fs = std::filesystem;

TEST_CASE("closing asks for a plan that was replaced with changes, too") {
    Driver d("mesh-8");
    d.click("mod.zero", 2);
    d.press({.key = Key::n, .ctrl = true});
    CHECK_FALSE(d.shell.document().modified());
    CHECK_FALSE(d.shell.may_close());
    d.settle();
    CHECK(d.shell.dialog_text().find("Two nodes of four") != std::string::npos);
    d.click("dialog.cancel");
    CHECK(d.shell.dialog() == DialogKind::none);
}

TEST_CASE("closing with two changed plans asks about each, and what is saved is what is asked about") {
    const fs::path folder = test::fresh_folder("two-changed");
    Driver d("mesh-8");
    const fs::path first = folder / "first.plan.json", second = folder / "second.plan.json";
    write_file(first, write_plan(d.presets.plan("mesh-8")));
    write_file(second, write_plan(d.presets.plan("zoom-1024")));
    for (const fs::path& file : {first, second}) {
        d.shell.open_file(file);
        d.settle();
        REQUIRE(d.click("mod.zero", 2));
    }
    CHECK_FALSE(d.shell.may_close());
    d.settle();
    CHECK(d.shell.document().path() == second);
    REQUIRE(d.click("dialog.save"));
    CHECK_FALSE(d.shell.quit());
    REQUIRE(d.shell.dialog() == DialogKind::close);
    CHECK(d.shell.document().path() == first);
    CHECK(d.shell.dialog_text().find("Two nodes of four") != std::string::npos);
    REQUIRE(d.click("dialog.save"));
    CHECK(d.shell.quit());
    for (const fs::path& file : {first, second})
        CHECK(parse_plan(read_file(file), file.string(), d.presets).layout.zero == 2);
}

TEST_CASE("a model of one's own that no file has is kept when another model takes its place") {
    Driver d("single-gpu");
    d.shell.edit_plan(with_model(d.plan(), plain_model(), ""), "a model of my own");
    d.settle();
    const Plan own = d.plan();
    const auto choose = [&](std::string_view title) {
        d.press({.key = Key::p, .ctrl = true});
        d.type(title);
        d.press({Key::enter});
        d.settle();
        d.press({Key::escape});
    };
    choose("New model");
    CHECK(d.shell.evaluation().valid);
    const auto kept = d.shell.document().unsaved();
    CHECK(std::ranges::any_of(kept, [&](const UnsavedPlan& p) { return *p.plan == own; }));
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == own);
}
