// Tests the words next to the pictures of views: whose figures they are, what they are compared with, how one
// choice differs from the next.
#include "app/ui/kit/format.h"
#include "core/teach/loaf.h"
#include "core/teach/map.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

constexpr Vec2 kLarge{1920, 1080};

}  // namespace

TEST_CASE("the picker says of the chosen strategy which states it cuts, and which stay whole") {
    for (const Vec2 size : {Vec2{1280, 720}, kLarge}) {
        Driver d("llama-3-70b-3d", size);
        d.press({Key::n3});
        REQUIRE(d.click("shards.scope", 2));
        StrategyPrices prices;
        price_strategies(d.plan(), 4, prices);
        for (const Strategy s : {Strategy::ddp, Strategy::zero1, Strategy::zero2, Strategy::fsdp}) {
            REQUIRE(d.click("shards.strategy", static_cast<std::uint64_t>(s)));
            CHECK(says_just(d, state_sentence(prices.price[static_cast<std::size_t>(s)])));
        }
    }
}

TEST_CASE("Communication says with whom the layers synchronise") {
    Driver d("llama-3-70b-3d", kLarge);
    d.press({Key::n6});
    CHECK(says(d, "times for tensor peers"));
}

TEST_CASE("Memory says the GPU's capacity as it is sold beside GiB, and an overflow as a multiple of it") {
    Driver d("llama-3-70b-3d", kLarge);
    d.press({Key::n4});
    d.move(d.shell.ui_state().rect_of("memory.stage", 1)->center());
    d.rest();
    CHECK(says(d, "79.6 GiB (85.5 GB)"));  // 81,559 MiB, on the card
    d.move({2, 2});
    CHECK_FALSE(says(d, "too much"));
    d.press({Key::backslash});
    for (const char* axis : {"layout.tp.toggle", "layout.pp.toggle"}) REQUIRE(d.click(axis));
    const Memory& m = d.shell.evaluation().memory;
    REQUIRE(m.peak() > 2 * m.hbm);
    CHECK(says_just(d, ui::memory_text(m.peak() - m.hbm) + " too much: in all "
                           + significant(m.peak() / m.hbm) + " × what the GPU has"));
    CHECK(says_just(d, "in all " + significant(m.peak() / m.hbm) + " × what it has"));
}

TEST_CASE("the bars of Memory grow with the room and leave the figures theirs") {
    const auto bar = [](Vec2 size) {
        Driver d("llama-3-70b-3d", size);
        d.press({Key::n4});
        const auto first = d.shell.ui_state().rect_of("memory.stage", 0),
                   last = d.shell.ui_state().rect_of("memory.stage", 3);
        REQUIRE(first);
        REQUIRE(last);
        const float figures = size.x - 300;
        CHECK(last->right() < figures);
        CHECK(says_just(d, "left"));  // a row of the figures
        return first->w;
    };
    const float small = bar({1280, 720}), large = bar(kLarge), huge = bar({3840, 2160});
    CHECK(small >= 119);
    CHECK(large > small);
    CHECK(huge > large);
    CHECK(huge < 0.25f * 3840);
}

TEST_CASE("no name is cut in the list of where the step goes") {
    for (const Vec2 size : {Vec2{1280, 720}, kLarge}) {
        Driver d("llama-3.1-405b-131k", size);
        const Step& s = *d.shell.evaluation().step;
        for (const StepSlice& slice : waterfall(s)) {
            if (slice.time_s < 0.01 * s.time_s) continue;
            CHECK(says_just(d, slice.part == StepPart::exposed ? axis_label(slice.group)
                                                               : std::string(name_of(slice.part))));
        }
    }
}

TEST_CASE("the map says of which stage its figures are, where there are stages") {
    Driver d("llama-3.1-405b-16k", {1280, 720});
    d.press({Key::n1});
    const std::string stage = std::to_string(d.shell.evaluation().comm.busiest_device);
    CHECK(says(d, "a GPU of stage " + stage + " of " + std::to_string(d.plan().layout.pp)));
    REQUIRE(d.click("map.page", static_cast<std::uint64_t>(MapPage::axes)));
    CHECK(says_just(d, "GPU OF STAGE " + stage));
    REQUIRE(d.click("map.page", 3));
    CHECK(says(d, "a GPU of stage " + stage + " of "));
    Driver one("llama-3-8b-fsdp", {1280, 720});
    one.press({Key::n1});
    REQUIRE(one.click("map.page", static_cast<std::uint64_t>(MapPage::axes)));
    CHECK_FALSE(says(one, "figures of"));
    CHECK(says_just(one, "PER GPU AND STEP"));
}

TEST_CASE("in a large window the map's comparison has room for its lines") {
    Driver d("llama-3.1-405b-131k", kLarge);
    d.press({Key::n1});
    REQUIRE(d.click("map.page", 4));
    int whole = 0, all = 0;
    for (const Comparison& x : pipeline_or_sharding(d.plan(), d.shell.evaluation())) {
        CAPTURE(x.pipeline);
        whole += says_just(d, x.pipeline) + says_just(d, x.sharded);
        all += 2;
    }
    CHECK(whole >= all - 2);  // all but the row of the longest sentences
}

TEST_CASE("the mesh's caption is cut between where groups lie and what they say, not inside a tier's name") {
    Driver d("llama-3-70b-3d", kLarge);
    Plan p = d.plan();
    p.cluster.tiers[0].name = "NV: Link";
    d.shell.edit_plan(p, "another name");
    d.settle();
    d.press({Key::n2});
    REQUIRE(d.click("mesh.axis", 1));
    CHECK(says(d, "all inside NV: Link."));
    CHECK_FALSE(says(d, "all inside NV."));
}
