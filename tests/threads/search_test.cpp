// Threads of a search share what they found, and a window stops them from outside.
#include "core/decide/search.h"
#include "core/io/presets.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <thread>

using namespace pentamesh;

TEST_CASE("a search on many threads, watched and cancelled from another") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan plan = presets.plan("hsdp-64");
    std::optional<SpaceError> error;
    const SearchSpace space =
        search_space(plan, {{"virtual_stages=1,2", "micro_batch=1,2", "cp=1", "zero=1,3"}, {}}, error);
    REQUIRE(!error);
    const SearchReport whole = search(plan, space, {.threads = 4});
    REQUIRE(!whole.results.empty());
    std::atomic<bool> cancel{false};
    std::atomic<int> found{0};
    SearchReport cut;
    std::thread searching([&] {
        cut = search(plan, space, {.threads = 4}, &cancel,
                     [&](const std::vector<FoundLayout>& layouts, const SearchCounts&) {
                         found += static_cast<int>(layouts.size());
                     });
    });
    while (found == 0) std::this_thread::yield();
    cancel = true;
    searching.join();
    CHECK(!cut.results.empty());
    CHECK(cut.counts.layouts == whole.counts.layouts);
}
