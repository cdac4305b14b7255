// This is the main function of the test programs that draw no window. They run in the source folder, in which
// their files have the same relative names in every clone, so that a compiler cache serves all clones.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <filesystem>

int main(int argc, char** argv) {
    std::filesystem::current_path(TREE);
    return doctest::Context(argc, argv).run();
}
