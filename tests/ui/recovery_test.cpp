// Tests plans that were not saved when a window ended: whose they are, when they are offered, what becomes of
// them.
#include "app/ui/shell/document.h"

#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "tests/folder.h"
#include "tests/ui/driver.h"

#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace pentamesh;
using namespace pentamesh::ui;
namespace fs = std::filesystem;

namespace {

struct ConfigFolder : test::Folder {
    [[nodiscard]] std::size_t plans() const {
        std::size_t n = 0;
        std::error_code ignored;
        for (const auto& e : fs::directory_iterator(path / "unsaved", ignored))
            n += e.path().string().ends_with(".plan.json") ? 1 : 0;
        return n;
    }
    [[nodiscard]] std::size_t files() const {
        std::error_code ignored;
        const fs::directory_iterator all(path / "unsaved", ignored);
        return static_cast<std::size_t>(std::distance(all, fs::directory_iterator()));
    }
};

// Ends a window as by a crash: its unsaved plan stays on disk. Returns the plan that was not saved.
Plan crash(const fs::path& config, int zero = 2) {
    Driver d("mesh-8", {1280, 900}, 1, config);
    d.click("mod.zero", static_cast<std::uint64_t>(zero));
    REQUIRE(d.shell.document().modified());
    d.shell.autosave();
    return d.plan();
}

}  // namespace

TEST_CASE("what was not saved is offered after a crash, opened as unsaved, and only then given up") {
    const ConfigFolder config;
    const Plan edited = crash(config.path);
    REQUIRE(config.plans() == 1);
    Driver d("single-gpu", {1280, 900}, 1, config.path);
    REQUIRE(d.shell.offer_recovery());
    d.settle();
    CHECK(config.plans() == 1);
    REQUIRE(d.click("recover.open", 0));
    CHECK(d.plan() == edited);
    CHECK(d.shell.document().modified());
    CHECK(d.shell.document().path().empty());
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(config.plans() == 1);  // this window's own now
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == d.presets.plan("single-gpu"));
}

TEST_CASE("what is put off is offered again, and what is deleted is gone") {
    const ConfigFolder config;
    crash(config.path);
    for (int i = 0; i < 2; ++i) {
        Driver d("single-gpu", {1280, 900}, 1, config.path);
        REQUIRE(d.shell.offer_recovery());
        d.settle();
        REQUIRE(d.click("dialog.cancel"));
        d.click("mod.zero", 1);
        d.press({.key = Key::z, .ctrl = true});
        d.shell.closed();
        CHECK(config.plans() == 1);
    }
    Driver d("single-gpu", {1280, 900}, 1, config.path);
    REQUIRE(d.shell.offer_recovery());
    d.settle();
    REQUIRE(d.click("recover.delete", 0));
    CHECK(config.plans() == 1);  // it asks
    REQUIRE(d.click("recover.keep", 0));
    REQUIRE(d.click("recover.delete", 0));
    REQUIRE(d.click("recover.delete", 0));
    CHECK(config.files() == 0);
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK_FALSE(d.shell.offer_recovery());
}

TEST_CASE("several crashes are a list, and each plan of it can be had") {
    const ConfigFolder config;
    const Plan first = crash(config.path, 2), second = crash(config.path, 1);
    Driver d("single-gpu", {1280, 900}, 1, config.path);
    REQUIRE(d.shell.offer_recovery());
    d.settle();
    REQUIRE(d.drawn("recover.open", 1));
    REQUIRE(d.click("recover.open", 0));  // the newest
    CHECK(d.plan() == second);
    REQUIRE(d.shell.offer_recovery());
    d.settle();
    REQUIRE(d.click("recover.open", 0));
    CHECK(d.plan() == first);
    CHECK_FALSE(d.shell.offer_recovery());
    d.shell.autosave();
    CHECK(config.plans() == 2);  // the one that was replaced is not saved either
}

TEST_CASE("a second window neither takes nor deletes what the first has open") {
    const ConfigFolder config;
    Driver first("mesh-8", {1280, 900}, 1, config.path);
    first.click("mod.zero", 2);
    first.shell.autosave();
    REQUIRE(config.plans() == 1);
    {
        Driver second("single-gpu", {1280, 900}, 1, config.path);
        CHECK_FALSE(second.shell.offer_recovery());
        second.click("mod.zero", 1);
        second.shell.autosave();
        second.shell.closed();
    }
    CHECK(config.plans() == 1);
    first.shell.closed();
    CHECK(config.files() == 0);
}

TEST_CASE("two windows that start together do not both offer one plan") {
    const ConfigFolder config;
    crash(config.path);
    std::optional<Driver> first;
    first.emplace("single-gpu", Vec2{1280, 720}, 1.0f, config.path);
    REQUIRE(first->shell.offer_recovery());
    {
        Driver second("single-gpu", {1280, 900}, 1, config.path);
        CHECK_FALSE(second.shell.offer_recovery());
    }
    first.reset();
    Driver third("single-gpu", {1280, 900}, 1, config.path);
    CHECK(third.shell.offer_recovery());
}

TEST_CASE("what cannot be read any more is listed, says why, and stays until it is deleted") {
    const ConfigFolder config;
    fs::create_directories(config.path / "unsaved");
    write_file(config.path / "unsaved" / "1-1.1.plan.json", "{ half a pl");
    Driver d("single-gpu", {1280, 900}, 1, config.path);
    const Plan before = d.plan();
    REQUIRE(d.shell.offer_recovery());
    d.settle();
    REQUIRE(d.click("recover.open", 0));
    CHECK(d.plan() == before);
    CHECK(d.shell.dialog() == DialogKind::recover);
    CHECK(d.shell.dialog_error().find("1-1.1.plan.json") != std::string::npos);
    CHECK(config.plans() == 1);
    REQUIRE(d.click("recover.delete", 0));
    REQUIRE(d.click("recover.delete", 0));
    CHECK(config.files() == 0);
}

TEST_CASE("saved work leaves nothing behind, and a lesson keeps the own plan") {
    const ConfigFolder config;
    Driver d("mesh-8", {1280, 900}, 1, config.path);
    d.click("mod.zero", 2);
    const Plan own = d.plan();
    d.shell.open_lesson(fs::path(SOURCE_DIR) / "assets" / "lessons" / "03-tensor-parallel.md");
    d.settle();
    REQUIRE_FALSE(d.plan() == own);
    d.shell.autosave();
    REQUIRE(config.plans() == 1);
    for (const auto& e : fs::directory_iterator(config.path / "unsaved"))
        if (e.path().string().ends_with(".plan.json"))
            CHECK(parse_plan(read_file(e.path()), "kept", d.presets) == own);
    d.shell.leave_lesson();
    d.press({.key = Key::z, .ctrl = true});
    d.shell.autosave();
    CHECK(config.plans() == 0);
}

TEST_CASE("a plan that was replaced with changes is kept beside the open one") {
    const ConfigFolder config;
    Driver d("mesh-8", {1280, 900}, 1, config.path);
    d.click("mod.zero", 2);
    d.press({.key = Key::n, .ctrl = true});
    d.shell.autosave();
    CHECK(config.plans() == 1);
    d.click("mod.zero", 1);
    d.shell.autosave();
    CHECK(config.plans() == 2);
}

TEST_CASE("edits are on the disk within a second of being made, without being asked for, when the process is "
          "killed") {
    const ConfigFolder config;
    int said[2] = {};
    REQUIRE(pipe(said) == 0);
    const pid_t child = fork();
    if (child == 0) {
        Recovery recovery(config.path / "unsaved");
        Plan plan;
        for (int i = 0;; ++i) {
            plan.name = std::to_string(i);
            recovery.keep({{1, {}, std::make_shared<const Plan>(plan)}});
            if (write(said[1], &i, sizeof i) != sizeof i) _exit(1);
            usleep(10'000);  // a hundred edits a second
        }
    }
    int last = 0;
    while (last < 170) REQUIRE(read(said[0], &last, sizeof last) == sizeof last);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    Recovery after(config.path / "unsaved");
    after.look();
    REQUIRE(after.left().size() == 1);
    const std::string text = read_file(after.left()[0].file);
    const auto at = text.find("\"name\": \"") + 9;
    CHECK(std::stoi(text.substr(at)) > last - 100);
    close(said[0]);
    close(said[1]);
}

TEST_CASE("of any number of plans each can be reached, and a pipe among them is no plan") {
    const ConfigFolder config;
    const Plan plan = crash(config.path);
    for (int i = 2; i <= 20; ++i)
        config.put("unsaved/1-" + std::to_string(i) + ".1.plan.json", write_plan(plan));
    REQUIRE(::mkfifo((config.path / "unsaved" / "2-1.1.plan.json").c_str(), 0600) == 0);
    Driver d("single-gpu", {1280, 900}, 1, config.path);
    REQUIRE(d.shell.offer_recovery());
    d.settle();
    CHECK(d.drawn("recover.open", 5));
    CHECK_FALSE(d.drawn("recover.open", 19));
    const Vec2 inside = d.shell.ui_state().rect_of("recover.open", 3)->center();
    d.wheel(inside, -1);
    const auto thumb = d.shell.ui_state().rect_of("recover.list.thumb");
    REQUIRE(thumb);
    d.drag(thumb->center(), {thumb->center().x, thumb->center().y + 600});  // to the end
    CHECK(d.drawn("recover.open", 19));
    CHECK_FALSE(d.drawn("recover.open", 0));
    REQUIRE(d.click("recover.delete", 19));
    REQUIRE(d.click("recover.delete", 19));
    CHECK(d.shell.dialog_error() == "");
    CHECK(config.plans() == 20);  // with the pipe
}
