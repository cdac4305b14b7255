// The load of each expert is drawn from the plan's one number, or from a list, and says which; and one
// token's way.
#include "app/ui/views/mesh/mesh_experts.h"
#include "app/ui/views/shards/view.h"

#include "app/ui/shell/picture.h"
#include "core/sharding/sharding.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

ShownLoads loads_of(const Presets& presets, const Plan& plan, const ExpertLoads& drawn) {
    const Evaluation e = evaluate(plan);
    Selection selection;
    const Hover none;
    Hover next;
    return shown_loads({.plan = plan,
                        .evaluation = e,
                        .presets = presets,
                        .selection = selection,
                        .hover = none,
                        .next_hover = next},
                       drawn);
}

// Returns the words of the picture of both meshes.
std::string both_words(const Presets& presets, const Plan& plan, Vec2 size) {
    std::vector<TextRun> runs;
    PictureRequest request;
    request.view = "mesh", request.page = "both", request.size = size;
    request.text_runs = &runs;
    (void)make_picture(presets, plan, request, "png",
                       find_fonts(std::filesystem::path(SOURCE_DIR) / "assets"));
    std::string all;
    for (const TextRun& r : runs) all += r.text + "\n";
    return all;
}

}  // namespace

TEST_CASE("a skewed load has the plan's busiest rank, and the mean that all tokens make") {
    for (const std::int64_t ranks : {2, 8, 64})
        for (const double imbalance : {1.05, 1.25, 1.9}) {
            CAPTURE(ranks);
            CAPTURE(imbalance);
            const auto a = skew_exponent(ranks, imbalance);
            REQUIRE(a);
            double sum = 0;
            for (std::int64_t k = 1; k <= ranks; ++k) sum += std::pow(static_cast<double>(k), -*a);
            CHECK(static_cast<double>(ranks) / sum == near(imbalance, 1e-6));
        }
    CHECK_FALSE(skew_exponent(8, 1));
    CHECK_FALSE(skew_exponent(8, 8));  // one rank cannot have more than all tokens
    CHECK_FALSE(skew_exponent(8, 20));
}

TEST_CASE("what is drawn of the experts' loads has the imbalance that step and memory count with") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan plan = presets.plan("deepseek-v3-2048");
    ExpertLoads drawn;
    ShownLoads shown = loads_of(presets, plan, drawn);
    CHECK(shown.form == LoadForm::even);
    CHECK(shown.load == std::vector<double>(256, 1.0));
    plan.training.router_imbalance = 1.4;
    shown = loads_of(presets, plan, drawn);
    CHECK(shown.form == LoadForm::skewed);
    REQUIRE(shown.load.size() == 256);
    CHECK(imbalance_of(shown.load, 64) == near(1.4, 1e-6));
    CHECK(std::accumulate(shown.load.begin(), shown.load.end(), 0.0) == near(256, 1e-6));
    plan.training.router_imbalance = 100;  // of 64 ranks: there is no such distribution
    CHECK(loads_of(presets, plan, drawn).load.empty());
    // A list counts as long as the plan's number follows from it.
    drawn.load.assign(256, 2.0);
    drawn.load[5] = 10;
    drawn.imbalance = imbalance_of(drawn.load, 64);
    plan.training.router_imbalance = drawn.imbalance;
    shown = loads_of(presets, plan, drawn);
    CHECK(shown.form == LoadForm::list);
    CHECK(shown.load[5] == near(5 * shown.load[6], 1e-9));
    plan.training.router_imbalance = 1.4;
    CHECK(loads_of(presets, plan, drawn).form == LoadForm::skewed);
}

TEST_CASE("a list of loads is by expert or by rank, and one that says nothing is refused with the reason") {
    std::vector<double> loads;
    CHECK(read_loads("1, 2 3,4", 4, 2, loads).empty());
    CHECK(loads == std::vector<double>{1, 2, 3, 4});
    CHECK(read_loads("6 2", 4, 2, loads).empty());
    CHECK(loads == std::vector<double>{3, 3, 1, 1});
    CHECK(read_loads("1 2 3", 4, 2, loads).find("3 loads are given") == 0);
    CHECK(read_loads("1 2 x 4", 4, 2, loads).find("\"x\"") == 0);
    CHECK(read_loads("1 2 -3 4", 4, 2, loads).find("\"-3\"") == 0);
    CHECK(read_loads("0 0 0 0", 4, 2, loads) == "no expert has a load");
}

TEST_CASE("the switch of loads changes the plan, and the step with it") {
    Driver d("deepseek-v3-2048", {1600, 1000});
    d.press({.key = Key::n2});
    REQUIRE(d.click("mesh.which", 2));
    REQUIRE(d.drawn("mesh.load"));
    const double even_s = d.shell.evaluation().step->time_s;
    CHECK(says(d, "every expert gets as many tokens"));
    REQUIRE(d.click("mesh.load", 1));
    CHECK(d.plan().training.router_imbalance == 1.25);
    CHECK(d.shell.evaluation().step->time_s > even_s);
    CHECK(says(d, "assumed of the others"));
    REQUIRE(d.click("mesh.imbalance.plus"));
    CHECK(d.plan().training.router_imbalance == 1.3);
    REQUIRE(d.click("mesh.imbalance.minus"));
    REQUIRE(d.click("mesh.imbalance.minus"));
    CHECK(d.plan().training.router_imbalance == 1.2);
    REQUIRE(d.click("mesh.imbalance"));  // the number itself is no button
    CHECK(d.plan().training.router_imbalance == 1.2);
    REQUIRE(d.click("mesh.load", 0));
    CHECK(d.plan().training.router_imbalance == 1);

    REQUIRE(d.click("mesh.load", 2));
    // 64 of 256 experts, which are those of 16 ranks, get 3.25 times the mean.
    REQUIRE(d.click("mesh.named", 0));
    CHECK(d.plan().training.router_imbalance == near(3.25, 1e-9));
    CHECK(says(d, "3 of 4 tokens"));
    REQUIRE(d.click("mesh.named", 1));
    CHECK(d.plan().training.router_imbalance == near(2, 1e-9));
    REQUIRE(d.click("mesh.load", 0));
    CHECK(d.plan().training.router_imbalance == 1);
    REQUIRE(d.click("mesh.load", 2));
    REQUIRE(d.click("mesh.loads"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("1 2 3");
    d.press({Key::enter});
    CHECK(d.plan().training.router_imbalance == 1);  // 3 loads are of nothing
    REQUIRE(d.click("mesh.loads"));
    d.press({.key = Key::a, .ctrl = true});
    std::string list = "3";
    for (int i = 1; i < 64; ++i) list += ",1";
    d.type(list);
    d.press({Key::enter});
    CHECK(d.plan().training.router_imbalance == near(3.0 / (66.0 / 64), 1e-9));
    CHECK(says(d, "a full bar has the most tokens"));
    REQUIRE(d.click("mesh.load", 0));
    CHECK(d.plan().training.router_imbalance == 1);
}

TEST_CASE(
    "one token's way follows from top k, the limit of nodes and the kernel, and goes where it has no room") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan plan = presets.plan("deepseek-v3-2048");
    std::string words = both_words(presets, plan, {1600, 1000});
    CHECK(words.find("One token's way") != std::string::npos);
    CHECK(words.find("8 of 256 experts, on at most 4 of the 8 nodes") != std::string::npos);
    CHECK(words.find("once to a node over InfiniBand, then NVLink inside it") != std::string::npos);
    CHECK(words.find("etp 1:") != std::string::npos);
    plan.model.moe->max_nodes_per_token = 0;
    plan.layout.ep_comm = EpComm::alltoall;
    words = both_words(presets, plan, {1600, 1000});
    CHECK(words.find("on at most 8 of the 8 nodes") != std::string::npos);
    CHECK(words.find("a copy for each expert") != std::string::npos);
    CHECK(both_words(presets, plan, {1100, 800}).find("One token's way") == std::string::npos);
    // Inside a node there is no way to show.
    CHECK(both_words(presets, presets.plan("mixtral-8x7b-ep"), {1600, 1000}).find("One token's way")
          == std::string::npos);
}
