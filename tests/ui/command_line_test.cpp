// Tests the plan that the window opens on, as the command line gave it.
#include "tests/ui/driver.h"

#include <doctest/doctest.h>
#include <filesystem>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("a plan that was changed on the command line opens as an edit: unsaved, and undo takes it back") {
    Driver d("mesh-8");
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / "pentamesh-set-test.plan.json";
    d.shell.opened_from(file);
    const Plan before = d.plan();
    Plan set = before;
    set.training.global_batch *= 2;
    d.shell.edit_plan(set, "--set");
    CHECK(d.plan() == set);
    CHECK(d.shell.document().modified());
    CHECK(d.shell.document().path() == file);
    CHECK_FALSE(d.shell.may_close());
    d.settle();
    REQUIRE(d.click("dialog.cancel"));
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == before);
    CHECK_FALSE(d.shell.document().modified());
}

TEST_CASE("a plan that only --set made readable belongs to its file and is not saved there") {
    Driver d("mesh-8");
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / "pentamesh-set-test.plan.json";
    d.shell.opened_from(file, false);
    CHECK(d.shell.document().modified());
    CHECK(d.shell.document().path() == file);
    CHECK_FALSE(d.shell.document().can_undo());
}
