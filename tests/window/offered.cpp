// offered CONFIG_FOLDER PLAN.plan.json   prints, as JSON, whether the file is whole, how many plans a window
// that starts now is offered, and whether one of them cannot be opened. It opens each, as a user of the
// window would.
#include "core/base/files.h"
#include "core/io/plan_json.h"
#define DOCTEST_CONFIG_DISABLE  // the driver checks itself only in tests
#include "tests/ui/driver.h"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace pentamesh;
    if (argc != 3) return 2;
    ui::Driver driver("single-gpu", {1280, 720}, 1, argv[1]);
    bool whole = true, broken = false;
    try {
        static_cast<void>(parse_plan(read_file(argv[2]), argv[2], driver.presets));
    } catch (const Error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        whole = false;
    }
    int offered = 0;
    while (!broken && driver.shell.offer_recovery()) {
        driver.settle();
        const Plan before = driver.plan();
        broken = !driver.click("recover.open", 0) || driver.plan() == before;
        ++offered;
    }
    driver.shell.closed();
    std::printf("{\"file_whole\": %s, \"offered\": %d, \"broken\": %s}\n", whole ? "true" : "false", offered,
                broken ? "true" : "false");
    return 0;
}
