// where PLAN.plan.json WIDTHxHEIGHT NAME...   prints "x y" of each named control's middle in a window of that
// size.
#include "core/base/files.h"
#include "core/io/plan_json.h"
#define DOCTEST_CONFIG_DISABLE  // the driver checks itself only in tests
#include "tests/ui/driver.h"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace pentamesh;
    int width = 0, height = 0;
    if (argc < 4 || std::sscanf(argv[2], "%dx%d", &width, &height) != 2) return 2;
    ui::Driver driver("single-gpu", {static_cast<float>(width), static_cast<float>(height)});
    driver.shell.open_file(argv[1]);
    driver.settle();
    for (int i = 3; i < argc; ++i) {
        const auto r = driver.shell.ui_state().rect_of(argv[i]);
        if (!r) {
            std::fprintf(stderr, "nothing called %s is drawn\n", argv[i]);
            return 1;
        }
        std::printf("%d %d\n", static_cast<int>(r->center().x), static_cast<int>(r->center().y));
    }
    return 0;
}
