// Compares the split of layers with every possible split, and its costs with evaluate's.
#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "core/step/exposure.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

using Layers = std::vector<std::int64_t>;

double longest(const StageLoad& load, const Layers& layers) {
    const std::vector<double> busy = device_seconds(load, layers);
    return *std::max_element(busy.begin(), busy.end());
}

// Tries every list that adds up.
double least_of_all(const StageLoad& load) {
    Layers layers(load.chunk.size(), 0);
    double least = 1e300;
    const std::function<void(std::size_t, std::int64_t)> go = [&](std::size_t c, std::int64_t left) {
        if (c + 1 == layers.size()) {
            layers[c] = left;
            least = std::min(least, longest(load, layers));
            return;
        }
        for (layers[c] = 0; layers[c] <= left; ++layers[c]) go(c + 1, left - layers[c]);
    };
    go(0, static_cast<std::int64_t>(load.layer.size()));
    return least;
}

enum class Places { one_each, mirror, loop };

StageLoad random_load(std::mt19937_64& random, Places places, bool alike, bool recomputes) {
    const auto any = [&](int low, int high) {
        return static_cast<int>(low + random() % static_cast<std::uint64_t>(high - low + 1));
    };
    StageLoad load;
    const int devices = any(1, 3), chunks = places == Places::one_each ? devices + any(0, 2) : devices * 2;
    const int layers = any(0, 9);
    for (int i = 0; i < layers; ++i) {
        load.layer.push_back(alike ? 7 : any(1, 30));
        load.recomputed.push_back(recomputes ? (alike ? 2 : any(0, 10)) : 0);
    }
    load.layers_recomputed = recomputes ? layers : 0;
    for (int c = 0; c < chunks; ++c) {
        load.chunk.push_back(c == 0 ? any(0, 5) : c + 1 == chunks ? any(0, 40) : 0);
        load.device.push_back(places == Places::one_each ? c
                              : places == Places::mirror ? std::min(c, chunks - 1 - c)
                                                         : c % devices);
    }
    return load;
}

void check_best(Places places, bool alike) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 150; ++i) {
        const StageLoad load = random_load(random, places, alike, i % 2 == 0);
        CAPTURE(i);
        const Layers found = balance(load);
        REQUIRE(found.size() == load.chunk.size());
        CHECK(std::accumulate(found.begin(), found.end(), std::int64_t{0})
              == static_cast<std::int64_t>(load.layer.size()));
        CHECK(*std::min_element(found.begin(), found.end()) >= 0);
        CHECK(longest(load, found) == near(least_of_all(load), 1e-9));
    }
}

}  // namespace

TEST_CASE("with a chunk a device the busiest one of the balanced split is the least of all splits'") {
    check_best(Places::one_each, false);
    check_best(Places::one_each, true);
}

TEST_CASE("with two chunks in mirror the busiest device is the least of all splits'") {
    check_best(Places::mirror, false);
    check_best(Places::mirror, true);
}

TEST_CASE("of layers that are alike any placement is balanced as well as can be") {
    check_best(Places::loop, true);
}

TEST_CASE(
    "of layers that differ, in loops, a balanced split is near the best and never worse than an even one") {
    std::mt19937_64 random(11);
    for (int i = 0; i < 100; ++i) {
        const StageLoad load = random_load(random, Places::loop, false, false);
        CAPTURE(i);
        const Layers found = balance(load);
        const auto n = static_cast<std::int64_t>(load.chunk.size());
        const auto count = static_cast<std::int64_t>(load.layer.size());
        Layers even;
        for (std::int64_t c = 0; c < n; ++c) even.push_back(count * (c + 1) / n - count * c / n);
        CHECK(longest(load, found) <= longest(load, even) * (1 + 1e-9));
        CHECK(longest(load, found) <= least_of_all(load) * 1.35);
    }
}

TEST_CASE("where some layers of a chunk run again the split of single chunks is the best of all") {
    std::mt19937_64 random(3);
    for (int i = 0; i < 80; ++i) {
        StageLoad load = random_load(random, Places::one_each, false, true);
        load.layers_recomputed = i % 3;
        CHECK(longest(load, balance(load)) == near(least_of_all(load), 1e-9));
    }
}

namespace {

// Returns the seconds of a device's chunks without what they wait for gathers and reductions of every
// micro-batch, which are no layer's own.
double own_busy(const Evaluation& e, int device) {
    double busy = device_busy(e.costs, device, e.comm.stages.chunks);
    for (int c = 0; c < e.comm.stages.chunks; ++c) {
        const StateWaits& w = e.work.chunk[e.comm.stages.kind_of(device, c)].state;
        busy -= w.forward + w.backward + w.slowed.forward + w.slowed.backward;
    }
    return busy;
}

}  // namespace

TEST_CASE("a stage's load is what evaluate has for it, and a balanced plan's busiest stage is no longer") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    int pipelines = 0;
    for (const Presets::Entry& entry : presets.list(PresetKind::plan)) {
        Plan plan = presets.plan(entry.id);
        if (plan.layout.pp < 2) continue;
        CAPTURE(entry.id);
        const Evaluation e = evaluate(plan);
        if (!e.valid || !e.step) continue;
        ++pipelines;
        const ScheduleShape shape = shape_of(plan, e.microbatches);
        const StageLoad load = stage_load(plan, shape, e.work);
        Layers layers;
        layers_of_chunks(plan, layers);
        const std::vector<double> busy = device_seconds(load, layers);
        for (std::size_t d = 0; d < busy.size(); ++d) {
            const int device = static_cast<int>(d);
            CHECK(busy[d] == near(own_busy(e, device), 1e-9));
        }
        const Layers balanced = balance(load);
        const Evaluation after = evaluate(with_stage_layers(plan, balanced));
        REQUIRE(after.valid);
        double before_s = 0, after_s = 0;
        for (int d = 0; d < e.comm.stages.devices; ++d) {
            before_s = std::max(before_s, own_busy(e, d));
            after_s = std::max(after_s, own_busy(after, d));
        }
        CHECK(after_s <= before_s * (1 + 1e-9));
        CHECK(after_s == near(longest(load, balanced), 1e-9));
    }
    CHECK(pipelines > 5);
}

TEST_CASE("a list of more layers than there are, as while a stage is edited, takes the time of those there") {
    StageLoad load;
    load.layer = {1, 2, 4};
    load.chunk = {10, 20};
    load.device = {0, 1};
    CHECK(chunk_seconds(load, 0, 0, 2) == 13);
    CHECK(chunk_seconds(load, 1, 2, 5) == 24);
    CHECK(chunk_seconds(load, 1, 7, 9) == 20);
    CHECK(chunk_seconds(load, 0, -3, 1) == 11);
    CHECK(device_seconds(load, {2, 2}) == std::vector<double>{13, 24});
}

TEST_CASE("a chunk's layers come from those behind it, then from those before, and go to the next") {
    CHECK(with_chunk({4, 4, 4, 4}, 1, 6) == Layers{4, 6, 2, 4});
    CHECK(with_chunk({4, 4, 4, 4}, 1, 11) == Layers{4, 11, 0, 1});
    CHECK(with_chunk({4, 4, 4, 4}, 1, 14) == Layers{2, 14, 0, 0});
    CHECK(with_chunk({4, 4, 4, 4}, 1, 99) == Layers{0, 16, 0, 0});
    CHECK(with_chunk({4, 4, 4, 4}, 1, 0) == Layers{4, 0, 8, 4});
    CHECK(with_chunk({4, 4, 4, 4}, 3, 1) == Layers{4, 4, 7, 1});
    CHECK(with_chunk({4}, 0, 9) == Layers{4});
}
