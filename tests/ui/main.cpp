// Runs the window's tests. --never-pressed FOLDER reads what each process wrote to the file PENTAMESH_PRESSES
// names.
#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/ui/pressed.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <string_view>

int main(int argc, char** argv) {
    if (argc > 3 && std::string_view(argv[1]) == "--never-pressed")
        return pentamesh::ui::all_were_pressed(argv[2], {argv + 3, argv + argc}) ? 0 : 1;
    doctest::Context context(argc, argv);
    const int status = context.run();
    if (const char* file = std::getenv("PENTAMESH_PRESSES"); file != nullptr && !context.shouldExit())
        pentamesh::ui::write_presses(file);
    return status;
}
