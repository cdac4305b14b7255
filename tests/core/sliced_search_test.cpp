// A search in slices finds what a search at once finds.
#include "core/decide/search.h"
#include "core/io/presets.h"

#include <doctest/doctest.h>

#include <optional>

namespace pentamesh {

TEST_CASE("a search in slices finds the same layouts as one at once") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("mesh-8");
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(plan, {}, error);
    REQUIRE_FALSE(error);
    SearchOptions options;
    options.threads = 1;
    const SearchReport whole = search(plan, space, options);
    SlicedSearch sliced(plan, space, options, nullptr, {});
    int slices = 0;
    for (bool more = true; more; ++slices) {
        int left = 3;  // nodes, then runs
        more = sliced.go_on([&] { return left-- > 0; });
    }
    CHECK(slices > 10);
    const SearchReport report = sliced.report();
    CHECK(report.counts == whole.counts);
    REQUIRE(report.results.size() == whole.results.size());
    for (std::size_t i = 0; i < whole.results.size(); ++i) {
        CHECK(report.results[i].plan == whole.results[i].plan);
        CHECK(report.results[i].step_s == whole.results[i].step_s);
    }
}

}  // namespace pentamesh
