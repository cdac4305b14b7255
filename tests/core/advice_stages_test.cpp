// Advice on stages that work longer than the others.
#include "shipped.h"

#include "core/advice/advice.h"
#include "core/base/text.h"

#include <doctest/doctest.h>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;

TEST_CASE("a stage that works longer than the others is named, and a lighter last stage is tried out") {
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.layout.pp = 8, p.layout.dp_shard = 8, p.layout.dp_replicate = 1, p.layout.zero = 1;
    const Evaluation e = assess(p);
    REQUIRE(e.valid);
    REQUIRE(e.step);
    REQUIRE(e.step->uneven_s > 0.05 * e.step->time_s);
    const Problem* found = nullptr;
    for (const Problem& x : e.problems)
        if (x.code == "stages-uneven") found = &x;
    REQUIRE(found != nullptr);
    CHECK(found->message.starts_with("Stage 7 computes "));
    CHECK(found->message.find("4 layers and the head") != std::string::npos);
    const auto at = found->message.find(" With ");
    REQUIRE(at != std::string::npos);
    // What it promises is what such a plan takes.
    const std::int64_t last = found->message.at(at + 6) - '0';
    REQUIRE(last < 4);
    std::vector<std::int64_t> layers(8, (32 - last) / 7);
    for (std::int64_t i = 0; i < (32 - last) % 7; ++i) ++layers[static_cast<std::size_t>(6 - i)];
    layers.back() = last;
    p.layout.stage_layers = layers;
    const Evaluation lighter = evaluate(p);
    REQUIRE(lighter.step);
    CHECK(lighter.step->time_s < e.step->time_s);
    CHECK(found->message.find("takes " + time_text(lighter.step->time_s) + " instead") != std::string::npos);
    for (const Problem& x : assess(p).problems)
        if (x.code == "stages-uneven") CHECK(x.message.find(" With ") == std::string::npos);
}
