// Another program writes the plan's file while the plan is open here.
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "tests/folder.h"
#include "tests/ui/press.h"

using namespace pentamesh;
using namespace pentamesh::ui;
namespace fs = std::filesystem;

namespace {

std::int64_t saved_length(const fs::path& file, Driver& d) {
    return parse_plan(read_file(file), file.string(), d.presets).training.sequence_length;
}

}  // namespace

TEST_CASE("a file that another program wrote meanwhile is not written over without a question") {
    const test::Folder home;
    Driver d("mesh-8", {1600, 900}, 1, {}, home.path);
    const fs::path file = home.path / "mine.plan.json";
    write_file(file, write_plan(d.presets.plan("mesh-8")));
    d.shell.open_file(file);
    d.settle();
    const auto edit = [&](std::int64_t length) {
        Plan plan = d.plan();
        plan.training.sequence_length = length;
        d.shell.edit_plan(plan, "sequence length");
        d.settle();
    };
    edit(4096);
    d.press({.key = Key::s, .ctrl = true});
    CHECK(d.shell.dialog() == DialogKind::none);
    edit(8192);
    const std::string theirs = write_plan(d.presets.plan("zoom-1024")) + "\n";
    write_file(file, theirs);
    d.press({.key = Key::s, .ctrl = true});
    REQUIRE(d.shell.dialog() == DialogKind::save);
    CHECK(d.shell.dialog_error().find("another program wrote this file") != std::string::npos);
    CHECK(read_file(file) == theirs);
    CHECK(says(d, "Replace"));
    REQUIRE(d.click("dialog.cancel"));
    CHECK(d.shell.document().modified());
    CHECK(read_file(file) == theirs);
    d.press({.key = Key::s, .ctrl = true});
    REQUIRE(d.click("dialog.ok"));
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(saved_length(file, d) == d.plan().training.sequence_length);
    CHECK_FALSE(d.shell.document().modified());
    // "Save as" over the same file asks as well.
    edit(2048);
    write_file(file, theirs);
    d.press({.key = Key::s, .ctrl = true, .shift = true});
    d.press({Key::enter});
    CHECK(d.shell.dialog_error().find("is there already") != std::string::npos);
    CHECK(read_file(file) == theirs);
    REQUIRE(d.click("dialog.cancel"));
    // A file that is gone is written anew.
    fs::remove(file);
    d.press({.key = Key::s, .ctrl = true});
    CHECK(saved_length(file, d) == d.plan().training.sequence_length);
}
