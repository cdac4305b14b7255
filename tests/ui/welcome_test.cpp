// Tests the welcome: when it is shown, and where its doors lead.
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("the welcome is shown once, only when asked for, and its doors lead somewhere") {
    Driver plain("mesh-8");
    CHECK_FALSE(plain.drawn("welcome.course"));
    for (const char* door : {"welcome.preset", "welcome.course", "welcome.ddp", "welcome.open",
                             "welcome.tour", "welcome.tasks", "welcome.model", "welcome.skip"}) {
        CAPTURE(door);
        Driver d("mesh-8");
        const auto& list = d.shell.commands();
        const auto help =
            std::find_if(list.begin(), list.end(), [](const Command& c) { return c.id == "help.welcome"; });
        REQUIRE(help != list.end());
        help->run();
        d.settle();
        REQUIRE(d.click(door));
        d.settle();
        CHECK_FALSE(d.drawn("welcome.course"));
        CHECK(d.shell.settings().welcomed);
        const std::string name = door;
        const bool lesson = name == "welcome.course" || name == "welcome.ddp" || name == "welcome.tour"
                            || name == "welcome.tasks";
        CHECK(d.shell.lesson().open == lesson);
        if (name == "welcome.open") CHECK(d.drawn("dialog.path"));
        if (name == "welcome.preset") CHECK(d.drawn("gallery.plan"));
    }
}

TEST_CASE("the plans that ship stand as pictures, the smallest first, and a click opens one") {
    Driver d("llama-3-70b-3d", {1280, 720});
    run_command(d, "Open a preset");
    REQUIRE(d.shell.dialog() == DialogKind::gallery);
    REQUIRE(d.click("gallery.plan", 0));
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(d.plan().cluster.gpus == 1);
    run_command(d, "Open a preset");
    REQUIRE(d.click("gallery.plan", 1));
    CHECK(d.plan().cluster.gpus > 1);
}
