#include "app/ui/views/zoom/view.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

constexpr Vec2 kWindow{1400, 560};

// A flight takes a quarter of a second.
void arrive(Driver& d) {
    d.time_s += 0.5;
    d.settle();
}
// Returns the number of breadcrumbs: levels around the current place, and the cluster.
std::uint64_t crumbs(Driver& d) {
    std::uint64_t n = 0;
    while (d.drawn("zoom.crumb", n)) ++n;
    return n;
}

}  // namespace

TEST_CASE("Shift and digit 2 show the zoom with the whole cluster, and a level for each axis") {
    Driver d("zoom-1024", kWindow);
    d.press({.key = Key::n2, .shift = true});
    REQUIRE(d.drawn("zoom.canvas"));
    CHECK(crumbs(d) == 1);
    CHECK(d.drawn("zoom.level", 6));  // cluster, 16, 8, 8, layers, blocks, tensors
    CHECK_FALSE(d.drawn("zoom.level", 7));
}

TEST_CASE("Enter goes from the cluster to one projection, Escape back, and then leaves the view") {
    Driver d("zoom-1024", kWindow);
    d.press({.key = Key::n2, .shift = true});
    for (std::uint64_t depth = 2; depth <= 7; ++depth) {
        d.press({.key = Key::right});
        d.press({.key = Key::enter});
        arrive(d);
        CHECK(crumbs(d) == depth);
    }
    for (std::uint64_t depth = 6; depth >= 1; --depth) {
        d.press({.key = Key::escape});
        arrive(d);
        CHECK(crumbs(d) == depth);
    }
    CHECK(d.drawn("zoom.canvas"));
    d.press({.key = Key::escape});  // the selection that the arrows made
    CHECK(d.shell.selection().rank == -1);
    d.press({.key = Key::escape});
    CHECK(d.drawn("memory.stage", 0));  // the dashboard
}

TEST_CASE("arrows walk siblings and select their first GPU in every view") {
    Driver d("zoom-1024", kWindow);
    REQUIRE(d.click("mesh.which", 2));
    d.press({.key = Key::right});
    CHECK(d.shell.selection().rank == 0);
    d.press({.key = Key::right});
    CHECK(d.shell.selection().rank == 64);  // the second replica
    CHECK(d.shell.selection().group == GroupKind::dp_replicate);
    d.press({.key = Key::enter});
    arrive(d);
    d.press({.key = Key::right});
    d.press({.key = Key::right});
    CHECK(d.shell.selection().rank == 64 + 8);
    CHECK(d.shell.selection().stage == 1);
}

TEST_CASE(
    "a double click goes into the box under it, the wheel zooms about the cursor, all shows everything") {
    Driver d("zoom-1024", kWindow);
    d.press({.key = Key::n2, .shift = true});
    const Rect r = *d.shell.ui_state().rect_of("zoom.canvas");
    const Vec2 corner{r.x + r.w * 0.2f, r.y + r.h * 0.2f};
    d.move(corner);
    for (int i = 0; i < 2; ++i) {
        d.input.down[0] = true;
        d.frame();
        d.input.down[0] = false;
        d.frame();
    }
    arrive(d);
    CHECK(crumbs(d) == 2);
    REQUIRE(d.click("zoom.all"));
    arrive(d);
    CHECK(crumbs(d) == 1);
    d.wheel(corner, 12);
    CHECK(crumbs(d) >= 2);
    d.wheel(corner, -40);
    CHECK(crumbs(d) == 1);
}

TEST_CASE("a flight ends, and nothing moves after it") {
    Driver d("llama-3.1-405b-16k", kWindow);
    d.press({.key = Key::n2, .shift = true});
    d.press({.key = Key::enter});
    arrive(d);
    d.move({2, 300});
    arrive(d);
    CHECK_FALSE(d.shell.wants_frame());
}

TEST_CASE("the zoom stands on what is left of its path when the plan changes, and on a plan of one GPU") {
    Driver d("zoom-1024", kWindow);
    d.press({.key = Key::n2, .shift = true});
    d.click("zoom.level", 3);
    arrive(d);
    CHECK(crumbs(d) == 4);
    d.click("layout.tp.toggle");
    d.settle();
    CHECK(crumbs(d) == 4);
    Driver one("single-gpu", kWindow);
    one.press({.key = Key::n2, .shift = true});
    one.press({.key = Key::right});
    one.press({.key = Key::right});  // past the embedding, which has nothing in it
    for (int i = 0; i < 4; ++i) {
        one.press({.key = Key::enter});
        arrive(one);
    }
    CHECK(crumbs(one) == 4);
}

TEST_CASE("the mesh's largest cluster is drawn in the zoom at any depth") {
    Driver d("llama-3.1-405b-131k", kWindow);
    d.press({.key = Key::n2, .shift = true});
    for (std::uint64_t level = 0; d.drawn("zoom.level", level); ++level) {
        d.click("zoom.level", level);
        arrive(d);
        CHECK(crumbs(d) == level + 1);
    }
}

TEST_CASE("the experts' fold of the zoom has a level for ep, and is entered at the same GPU") {
    Driver d("deepseek-v3-2048", kWindow);
    d.press({.key = Key::n2, .shift = true});
    REQUIRE(d.drawn("zoom.fold", 1));
    while (crumbs(d) == 1 || d.shell.selection().rank < 0) {
        d.press({.key = Key::right});
        d.press({.key = Key::right});
        d.press({.key = Key::enter});
        arrive(d);
    }
    for (int i = 0; i < 6; ++i) {
        d.press({.key = Key::right});
        d.press({.key = Key::enter});
        arrive(d);
    }
    const std::int64_t rank = d.shell.selection().rank;
    d.click("zoom.fold", 1);
    d.settle();
    CHECK(d.shell.selection().expert());
    CHECK(d.shell.selection().rank == rank);
    Driver dense("zoom-1024", kWindow);
    dense.press({.key = Key::n2, .shift = true});
    CHECK_FALSE(dense.drawn("zoom.fold", 0));
}

TEST_CASE("one replica is large: the first, then whichever arrows, a click on the map or a selection names") {
    Driver d("llama-3.1-405b-16k", {1280, 720});
    d.press({.key = Key::n2, .shift = true});
    const ZoomViewState& zoom = d.shell.views().zoom;
    CHECK(zoom.lead == NestPath{0, 0, 0});
    d.press({.key = Key::right});
    d.press({.key = Key::right});
    CHECK(zoom.lead == NestPath{1, 0, 0});
    const Rect room = *d.shell.ui_state().rect_of("zoom.canvas");
    const NestBox all = box_of(*zoom.nest, {});
    const PlacedChildren replicas = placed_children(*zoom.nest, {}, all, 1);
    const Rect cell = on_screen(zoom.camera, room, grid_box(replicas.grid, all, 57));
    CHECK(cell.w >= 12);  // the map can be met
    d.click_at(cell.center());
    CHECK(zoom.lead == NestPath{57, 0, 0});
    CHECK(d.shell.selection().rank == 57 * 128);
    d.press({.key = Key::enter});
    arrive(d);
    CHECK(zoom.path == NestPath{57});
    // The box that was small fills the view: it became the large one.
    const Rect filled = on_screen(zoom.camera, room, box_of(*zoom.nest, zoom.path));
    CHECK(std::max(filled.w / room.w, filled.h / room.h) > 0.9f);
    d.press({.key = Key::escape});
    arrive(d);
    CHECK(zoom.lead == NestPath{57, 0, 0});
    d.click_at({room.x + 1, room.y + 1});
    d.shell.selection().pick_rank(3 * 128 + 8 * 2 + 5);
    d.settle();
    CHECK(zoom.lead == NestPath{3, 2, 5});
}

TEST_CASE("the zoom flies down to one part and back by itself; a hand takes it over; reduced motion has no "
          "flight") {
    Driver d("zoom-1024", kWindow);
    d.press({.key = Key::n2, .shift = true});
    const ZoomViewState& zoom = d.shell.views().zoom;
    REQUIRE(d.click("zoom.fly"));
    REQUIRE(zoom.tours);
    std::size_t deepest = 0;
    const double began_s = d.time_s;
    for (int i = 0; i < 1800 && zoom.tours; ++i) {
        d.frame();
        deepest = std::max(deepest, zoom.path.size());
    }
    CHECK_FALSE(zoom.tours);
    CHECK(deepest == 6);
    CHECK(zoom.path.empty());
    CHECK(d.time_s - began_s > 6);
    CHECK(d.time_s - began_s < 14);
    CHECK(says(d, "The wheel is yours"));
    REQUIRE(d.click("zoom.fly"));
    for (int i = 0; i < 150; ++i) d.frame();
    REQUIRE(zoom.tours);
    d.wheel(d.shell.ui_state().rect_of("zoom.canvas")->center(), 1);
    CHECK_FALSE(zoom.tours);
    Driver still("zoom-1024", kWindow);
    still.shell.settings().reduced_motion = true;
    still.press({.key = Key::n2, .shift = true});
    still.rest();
    REQUIRE(still.drawn("zoom.canvas"));
    CHECK_FALSE(still.drawn("zoom.fly"));
}
