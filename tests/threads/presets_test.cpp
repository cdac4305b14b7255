// CI runs this under the thread sanitizer: several threads share these objects.
#include "core/evaluate.h"
#include "core/io/presets.h"

#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

using namespace pentamesh;

TEST_CASE("threads that read one set of presets at the same time get the plans that one alone gets") {
    const std::string root = SOURCE_DIR "/presets";
    const Presets alone(root), shared(root);
    std::vector<std::string> ids;
    std::vector<Plan> expected;
    for (const Presets::Entry& e : alone.list(PresetKind::plan)) {
        ids.push_back(e.id);
        expected.push_back(alone.plan(e.id));
    }
    REQUIRE(ids.size() > 10);

    constexpr std::size_t kThreads = 4;
    std::vector<std::vector<Plan>> got(kThreads);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            static_cast<void>(shared.list(PresetKind::model));
            for (std::size_t i = 0; i < ids.size(); ++i)  // each from another place
                got[t].push_back(shared.plan(ids[(i + 4 * t) % ids.size()]));
        });
    for (std::thread& t : threads) t.join();
    for (std::size_t t = 0; t < kThreads; ++t) {
        REQUIRE(got[t].size() == ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i) CHECK(got[t][i] == expected[(i + 4 * t) % ids.size()]);
    }
}

TEST_CASE("threads that evaluate the same plan get the same answer") {
    const Plan plan = Presets(SOURCE_DIR "/presets").plan("hsdp-64");
    const double expected = evaluate(plan).step.value().time_s;
    std::vector<double> got(4);
    std::vector<std::thread> threads;
    for (double& time_s : got) threads.emplace_back([&] { time_s = evaluate(plan).step.value().time_s; });
    for (std::thread& t : threads) t.join();
    for (const double time_s : got) CHECK(time_s == expected);
}
