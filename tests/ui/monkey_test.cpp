// Uses the window at random. With PENTAMESH_MONKEY_SEED only that seed is used, PENTAMESH_MONKEY_EVENTS sets
// the number of events.
#include "tests/ui/last_events.h"
#include "tests/ui/monkey.h"

#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <unistd.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

constexpr int kEvents = 2000;          // of each seed; CI asks for more
constexpr double kMostGrowth = 1.5e9;  // bytes; what the sanitizers hold back of freed memory is part of it

double resident_bytes() {
    std::ifstream in("/proc/self/statm");
    double all = 0, resident = 0;
    in >> all >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Makes a folder of our own, which is the current one meanwhile.
struct TemporaryFolder {
    std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("pentamesh-monkey-" + std::to_string(getpid()));
    TemporaryFolder() {
        std::filesystem::create_directories(path);
        std::filesystem::current_path(path);
    }
    ~TemporaryFolder() {
        std::filesystem::current_path(before);
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

void let_loose(std::uint64_t seed) {
    if (const char* given = std::getenv("PENTAMESH_MONKEY_SEED")) seed = std::strtoull(given, nullptr, 10);
    int events = kEvents;
    if (const char* given = std::getenv("PENTAMESH_MONKEY_EVENTS")) events = std::atoi(given);
    std::fprintf(stderr, "PENTAMESH_MONKEY_SEED=%llu\n", static_cast<unsigned long long>(seed));
    const TemporaryFolder folder;
    Monkey monkey(seed, folder.path);
    double at_first = 0;
    while (monkey.events() < events) {
        monkey.event();
        if (monkey.events() == events / 4) at_first = resident_bytes();
    }
    const double grown = resident_bytes() - at_first;
    std::fprintf(stderr, "%d events, slowest frame %.3f s, memory grew by %.0f MB\n", monkey.events(),
                 monkey.slowest_frame_s(), grown / 1e6);
    if (grown > kMostGrowth) fail_events("memory grows: " + std::to_string(grown / 1e6) + " MB");
    end_events();
}

}  // namespace

TEST_CASE("whatever is done to the window, what is drawn is right: the same events each time") {
    let_loose(20260501);
}

TEST_CASE("whatever is done to the window, what is drawn is right: new events each time") {
    let_loose(static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()));
}
