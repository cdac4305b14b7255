// Tests layers per stage by hand.
#include "core/pipeline/stages.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

#include <numeric>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

using Layers = std::vector<std::int64_t>;

// Returns a widget of the chunk's row.
std::optional<Rect> in_row(Driver& d, int chunk, std::string_view name) {
    const Id scope = hash_more(hash_more(kNoScope, "stages." + std::to_string(chunk)), "/");
    return d.shell.ui_state().rect_of(id_of(name, 0, scope));
}
void click_in_row(Driver& d, int chunk, std::string_view name) {
    const auto r = in_row(d, chunk, name);
    REQUIRE(r.has_value());
    d.click_at(r->center());
}
void type_in_row(Driver& d, int chunk, std::string_view text) {
    click_in_row(d, chunk, "stages.count");
    d.press({.key = Key::a, .ctrl = true});
    d.type(text);
    d.press({Key::enter});
}
Layers layers_of(const Driver& d) {
    Layers out;
    layers_of_chunks(d.plan(), out);
    return out;
}
double longest(const Driver& d) {
    const Evaluation& e = d.shell.evaluation();
    double most = 0;
    for (int s = 0; s < e.comm.stages.devices; ++s)
        most = std::max(most, device_busy(e.costs, s, e.comm.stages.chunks));
    return most;
}

}  // namespace

TEST_CASE("the layers of a stage are typed, stepped and dragged, and the neighbour takes the difference") {
    Driver d("llama-3.1-405b-16k");
    REQUIRE(d.click("plan.stages"));
    const Layers even = layers_of(d);
    REQUIRE(even.size() > 2);
    const std::int64_t all = std::accumulate(even.begin(), even.end(), std::int64_t{0});
    click_in_row(d, 0, "stages.count.minus");
    CHECK(layers_of(d)[0] == even[0] - 1);
    CHECK(layers_of(d)[1] == even[1] + 1);
    click_in_row(d, 0, "stages.count.plus");
    CHECK(layers_of(d) == even);
    CHECK(d.plan().layout.stage_layers.empty());  // an even split is not a split of its own
    type_in_row(d, 1, "0");
    CHECK(layers_of(d)[1] == 0);
    CHECK(layers_of(d)[2] == even[2] + even[1]);
    CHECK(d.shell.evaluation().valid);
    d.press({.key = Key::z, .ctrl = true});  // over the sheet, too
    CHECK(layers_of(d) == even);
    // A drag is one step of undo.
    const auto bar = in_row(d, 0, "stages.bar");
    REQUIRE(bar.has_value());
    d.drag(bar->center(), bar->center() + Vec2{bar->w * 0.3f, 0});
    const Layers dragged = layers_of(d);
    CHECK(dragged[0] > even[0]);
    CHECK(std::accumulate(dragged.begin(), dragged.end(), std::int64_t{0}) == all);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(layers_of(d) == even);
    type_in_row(d, 0, "many");
    CHECK(says(d, "Chunk 0:"));
    CHECK(layers_of(d) == even);
    REQUIRE(d.click("stages.close"));
    CHECK_FALSE(d.drawn("stages.balance"));
}

TEST_CASE("one stage alone: what is left over is said, and the plan changes once it adds up") {
    Driver d("llama-3.1-405b-16k");
    run_command(d, "layers of each stage");
    const Layers even = layers_of(d);
    REQUIRE(d.click("stages.mode", 1));
    type_in_row(d, 0, std::to_string(even[0] - 1));
    CHECK(layers_of(d) == even);
    CHECK(says(d, "1 layer is left over"));
    type_in_row(d, 2, std::to_string(even[2] + 2));
    CHECK(layers_of(d) == even);
    CHECK(says(d, "1 layer too many"));
    click_in_row(d, 2, "stages.count.minus");
    CHECK(layers_of(d)[0] == even[0] - 1);
    CHECK(layers_of(d)[2] == even[2] + 1);
    CHECK(says(d, "Busiest: stage"));
}

TEST_CASE("balance gives the busiest stage less to do, even takes it back") {
    Driver d("llama-3.1-405b-16k");
    REQUIRE(d.click("plan.stages"));
    const double before = longest(d);
    const Layers even = layers_of(d);
    REQUIRE(d.click("stages.balance"));
    CHECK(longest(d) <= before);
    CHECK(says(d, "Balance finds no shorter one"));
    type_in_row(d, 0, "0");
    CHECK(layers_of(d)[0] == 0);
    REQUIRE(d.click("stages.even"));
    CHECK(layers_of(d) == even);
}

TEST_CASE("a pipeline of many chunks scrolls, and the keys step the chunk that has the focus") {
    Driver d("llama-3-70b-3d", {1280, 600});
    run_command(d, "layers of each stage");
    const Layers even = layers_of(d);
    CHECK_FALSE(in_row(d, 19, "stages.bar"));
    const auto first = in_row(d, 0, "stages.bar");
    REQUIRE(first.has_value());
    d.wheel(first->center(), -40);
    CHECK(in_row(d, 19, "stages.bar"));
    d.wheel(first->center(), 40);
    const auto thumb = d.shell.ui_state().rect_of("stages.rows.thumb");
    REQUIRE(thumb.has_value());
    d.drag(thumb->center(), thumb->center() + Vec2{0, 400});
    CHECK(in_row(d, 19, "stages.bar"));
    d.wheel(first->center(), 40);
    d.shell.ui_state().focus = id_of("stages.bar", 0, hash_more(hash_more(kNoScope, "stages.0"), "/"));
    d.shell.ui_state().focus_visible = true;
    d.press({Key::right});
    CHECK(layers_of(d)[0] == even[0] + 1);
}
