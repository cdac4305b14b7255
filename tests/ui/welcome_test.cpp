// Tests the welcome: when it is shown, and where its doors lead.
#include "tests/ui/driver.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("the welcome is shown once, only when asked for, and its doors lead somewhere") {
    Driver plain("mesh-8");
    CHECK_FALSE(plain.drawn("welcome.lesson"));
    for (const char* door : {"welcome.preset", "welcome.lesson", "welcome.open", "welcome.tour",
                             "welcome.model", "welcome.skip"}) {
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
        CHECK_FALSE(d.drawn("welcome.lesson"));
        CHECK(d.shell.settings().welcomed);
        const bool lesson = std::string(door) == "welcome.lesson" || std::string(door) == "welcome.tour";
        CHECK(d.shell.lesson().open == lesson);
        if (std::string(door) == "welcome.open") CHECK(d.drawn("dialog.path"));
    }
}
