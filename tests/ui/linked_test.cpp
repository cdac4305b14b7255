// A selection in one view is highlighted in the others.
#include "core/teach/glossary.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// Returns the brightness of the middle of a GPU's cell, 0 to 765, in a mesh that fills the window.
int brightness(Driver& d, std::int64_t rank) {
    const MeshViewState& mesh = d.shell.views().mesh;
    CellGrid grid = seen(*mesh.layout, mesh.camera, mesh.cells);
    const Vec2 at = cell_position(grid, rank) + Vec2{grid.cell.x * 0.2f, grid.cell.y * 0.8f};
    d.frame();
    const Image image = d.surface.read();
    const auto i = (static_cast<std::size_t>(at.y) * static_cast<std::size_t>(image.width)
                    + static_cast<std::size_t>(at.x))
                   * 4;
    return image.pixels[i] + image.pixels[i + 1] + image.pixels[i + 2];
}

// Returns the pixels of a part of the window.
std::vector<std::uint8_t> pixels_in(Driver& d, Rect r) {
    d.frame();
    const Image image = d.surface.read();
    std::vector<std::uint8_t> out;
    for (int y = static_cast<int>(r.y); y < static_cast<int>(r.bottom()); ++y) {
        const auto row = image.pixels.begin() + (y * image.width + static_cast<int>(r.x)) * 4;
        out.insert(out.end(), row, row + static_cast<int>(r.w) * 4);
    }
    return out;
}

Vec2 where_gpu_is(Driver& d, std::int64_t rank) {
    const MeshViewState& mesh = d.shell.views().mesh;
    const CellGrid grid = seen(*mesh.layout, mesh.camera, mesh.cells);
    return cell_position(grid, rank) + grid.cell * 0.5f;
}

}  // namespace

TEST_CASE("rows of the mesh's table and its GPUs mark each other, with the mouse and with a click") {
    Driver d("mesh-8", {1600, 1000});
    d.press({Key::n2});
    REQUIRE(d.click("view.data", static_cast<std::uint64_t>(ViewId::mesh)));
    REQUIRE(d.drawn("mesh.cells"));  // the picture stands below its table
    const auto row = [&](std::uint64_t i) { return *d.shell.ui_state().rect_of("data.mesh", i); };
    const auto over = [&](Vec2 at) {
        d.move(at);
        d.rest();
    };
    const Vec2 away{800, 4};
    const std::string replicas = caption_of(d.plan(), d.shell.evaluation(), GroupKind::dp_replicate).where;
    over(away);
    CHECK_FALSE(says(d, replicas));
    const Rect cells = d.shell.views().mesh.cells;
    const auto still = pixels_in(d, cells);
    over(row(3).center());  // tp, cp, dp_shard, dp_replicate
    CHECK(says(d, replicas));
    CHECK(d.shell.selection().all_axes);
    CHECK(d.shell.views().mesh.cells == cells);
    CHECK(pixels_in(d, cells) != still);
    over(row(1).center());  // cp is off
    CHECK(pixels_in(d, cells) == still);
    REQUIRE(d.click("data.mesh", 3));
    CHECK(d.shell.selection().group == GroupKind::dp_replicate);
    CHECK_FALSE(d.shell.selection().all_axes);

    REQUIRE(d.click("data.part", 1));  // a row for each group; tp's are first
    over(away);
    const Rect first = row(0), second = row(1);
    const auto quiet = pixels_in(d, second.inset(-8, 0)), first_quiet = pixels_in(d, first.inset(-8, 0));
    over(where_gpu_is(d, 3));  // of ranks 2 and 3
    CHECK(pixels_in(d, second.inset(-8, 0)) != quiet);
    CHECK(pixels_in(d, first.inset(-8, 0)) == first_quiet);
    REQUIRE(d.click("data.mesh", 1));
    CHECK(d.shell.selection().rank == 2);
    CHECK(d.shell.selection().group == GroupKind::tp);
}

TEST_CASE("a stage that is picked in Memory lights its GPUs in the mesh and dims the others") {
    Driver d("llama-3-70b-3d");
    const std::int64_t own = d.shell.evaluation().mesh.dense[Axis::pp].stride * 2;  // first of stage 2
    const int before_own = brightness(d, own), before_other = brightness(d, 0);
    REQUIRE(d.click("memory.stage", 2));
    d.move({2, 2});
    d.settle();
    CHECK(brightness(d, own) == before_own);
    CHECK(brightness(d, 0) < before_other);
    d.press({Key::escape});
    CHECK(brightness(d, 0) == before_other);
}

TEST_CASE("a GPU that is picked lights its stage's bar and row and its rows among calls, and its tensors are "
          "listed") {
    Driver d("llama-3-70b-3d");
    const Mesh& mesh = d.shell.evaluation().mesh;
    const std::int64_t rank = mesh.dense[Axis::pp].stride + 3;
    Hover none, next;
    const auto scene = [&] {
        return Scene{.plan = d.plan(),
                     .evaluation = d.shell.evaluation(),
                     .presets = d.presets,
                     .selection = d.shell.selection(),
                     .hover = none,
                     .next_hover = next};
    };
    CHECK(stage_of_rank(mesh, rank) == 1);
    d.shell.selection().pick_rank(rank);
    CHECK(chosen_stage(scene()) == 1);
    CHECK(is_highlighted(scene(), 1));
    CHECK_FALSE(is_highlighted(scene(), 0));
    CHECK(chosen_rank(scene()) == rank);
    // The middle stages hold neither the embedding nor the head.
    d.press({.key = Key::n3, .shift = true});
    CHECK(says(d, "that a GPU of stage 1 keeps"));
    CHECK(says(d, "On other stages: embedding, head"));
    d.shell.selection().pick_rank(-1);
    d.shell.selection().stage = 0;
    d.frame();
    CHECK(says(d, "that a GPU of stage 0 keeps"));
    d.press({Key::n6});
    CHECK(says(d, "faint: calls that stage 0 does not make"));
    d.shell.selection() = {};
    d.frame();
    CHECK_FALSE(says(d, "faint"));
}

TEST_CASE("the mouse over a GPU lights its stage in Memory, and picking a GPU forgets the stage before") {
    Driver d("llama-3-70b-3d");
    const MeshViewState& view = d.shell.views().mesh;
    const std::int64_t rank = d.shell.evaluation().mesh.dense[Axis::pp].stride * 3;
    REQUIRE(d.click("memory.stage", 0));
    const CellGrid grid = seen(*view.layout, view.camera, view.cells);
    d.click_at(cell_position(grid, rank) + grid.cell * 0.5f);
    CHECK(d.shell.selection().rank == rank);
    CHECK(d.shell.selection().stage == -1);
}

TEST_CASE(
    "a selected call stays that call when an edit changes the list, and goes where it is made no more") {
    Driver d("zoom-1024");
    d.press({Key::n6});
    d.shell.selection().operation = 8;
    d.shell.selection().topic = Selection::Topic::operation;
    d.settle();
    const auto call = [&] {
        const int i = d.shell.selection().operation;
        return i < 0 ? std::string()
                     : std::string(
                         words_of(d.shell.evaluation().comm.operations[static_cast<std::size_t>(i)].what));
    };
    const std::string picked = call();
    const int before = d.shell.selection().operation;
    REQUIRE_FALSE(picked.empty());
    Plan p = d.plan();
    p.layout.sequence_parallel = false;
    d.shell.edit_plan(p, "no sequence parallelism");
    d.settle();
    CHECK(call() == picked);
    CHECK(d.shell.selection().operation != before);  // the list is another
    *p.layout.dp_replicate *= p.layout.tp, p.layout.tp = 1;
    d.shell.edit_plan(p, "no tensor parallelism");
    d.settle();
    CHECK(d.shell.selection().operation == -1);
}

TEST_CASE("what is selected is selected again when an impossible edit is taken back") {
    Driver d("llama-3-70b-3d");
    d.press({.key = Key::n6});
    REQUIRE(click_call(d, 2));
    d.press({.key = Key::n6});
    const Selection before = d.shell.selection();
    REQUIRE(before.operation >= 0);
    Plan impossible = d.plan();
    impossible.layout.tp = 7;
    d.shell.edit_plan(impossible, "tp 7");
    d.settle();
    REQUIRE_FALSE(d.shell.evaluation().valid);
    impossible.layout.tp = 5;
    d.shell.edit_plan(impossible, "tp 5");
    d.settle();
    for (int i = 0; i < 2; ++i) d.press({.key = Key::z, .ctrl = true});
    REQUIRE(d.shell.evaluation().valid);
    CHECK(d.shell.selection() == before);
}

TEST_CASE("a selected block of the timeline stays the same pass of the same micro-batch") {
    Driver d("llama-3-70b-3d");
    const auto order = [&]() -> const Order& { return d.shell.evaluation().timeline.order; };
    d.shell.selection().op = static_cast<std::ptrdiff_t>(order().begin[2]) + 2;
    d.shell.selection().topic = Selection::Topic::op;
    d.settle();
    const Op op = order().ops[static_cast<std::size_t>(d.shell.selection().op)];
    REQUIRE(op.chunk == 0);
    Plan p = d.plan();
    p.layout.schedule = Schedule::gpipe, p.layout.virtual_stages = 1;
    d.shell.edit_plan(p, "another schedule");
    d.settle();
    const std::ptrdiff_t now = d.shell.selection().op;
    REQUIRE(now >= 0);
    CHECK(order().ops[static_cast<std::size_t>(now)] == op);
    CHECK(static_cast<std::size_t>(now) >= order().begin[2]);
    CHECK(static_cast<std::size_t>(now) < order().begin[3]);
}
