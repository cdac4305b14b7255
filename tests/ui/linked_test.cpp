// What is picked in one view is lit in the others.
#include "tests/ui/press.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// How bright the middle of a GPU's cell is, 0 to 765. Of a mesh that fills the window.
int brightness(Driver& d, std::int64_t rank) {
    const MeshViewState& mesh = d.shell.views().mesh;
    CellGrid grid = seen(mesh.layout, mesh.camera, mesh.cells);
    const Vec2 at = cell_position(grid, rank) + Vec2{grid.cell.x * 0.2f, grid.cell.y * 0.8f};
    d.frame();
    const Image image = d.surface.read();
    const auto i = (static_cast<std::size_t>(at.y) * static_cast<std::size_t>(image.width)
                    + static_cast<std::size_t>(at.x))
                   * 4;
    return image.pixels[i] + image.pixels[i + 1] + image.pixels[i + 2];
}

}  // namespace

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

TEST_CASE("a GPU that is picked lights its stage's bar and row, and its rows among tensors and calls") {
    Driver d("llama-3-70b-3d");
    const Mesh& mesh = d.shell.evaluation().mesh;
    const std::int64_t rank = mesh.dense[Axis::pp].stride + 3;
    Hover none, next;
    const auto scene = [&] {
        return Scene{d.plan(), d.shell.evaluation(), d.presets, d.shell.selection(), none, next};
    };
    CHECK(stage_of_rank(mesh, rank) == 1);
    d.shell.selection().pick_rank(rank);
    CHECK(chosen_stage(scene()) == 1);
    CHECK(is_lit(scene(), 1));
    CHECK_FALSE(is_lit(scene(), 0));
    CHECK(chosen_rank(scene()) == rank);
    // The middle stages hold neither the embedding nor the head.
    d.press({Key::n0});
    CHECK(says(d, "faint: none of it on rank " + std::to_string(rank)));
    d.shell.selection().pick_rank(-1);
    d.shell.selection().stage = 0;
    d.frame();
    CHECK(says(d, "faint: none of it on stage 0"));
    d.press({Key::n7});
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
    const CellGrid grid = seen(view.layout, view.camera, view.cells);
    d.click_at(cell_position(grid, rank) + grid.cell * 0.5f);
    CHECK(d.shell.selection().rank == rank);
    CHECK(d.shell.selection().stage == -1);
}
