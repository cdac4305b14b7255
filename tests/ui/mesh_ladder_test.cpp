// A cluster that is too large for one picture is drawn as rungs; small nodes stand joined; shares of pods add
// up.
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_large.h"
#include "app/ui/views/mesh/view.h"

#include "core/io/presets.h"
#include "core/mesh/places.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

Plan plan_of(const char* id) {
    return Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan(id);
}

// 42 pods of 24 replicas, and one of 16: a group of dp_shard has 1,024 GPUs.
Plan large_plan() {
    Plan plan = plan_of("llama-3.1-405b-16k");
    plan.layout.dp_shard = 1024;
    plan.cluster.gpus = 131072;
    plan.training.global_batch = 16384;
    return plan;
}

}  // namespace

TEST_CASE("the members of a group below a rank are counted as the list of them says") {
    for (const char* id : {"llama-3.1-405b-16k", "llama-3.1-405b-131k", "deepseek-v3-2048", "moe-nvl72"}) {
        CAPTURE(std::string(id));
        const Plan plan = plan_of(id);
        const Evaluation e = evaluate(plan);
        for (int k = 0; k < kGroupKindCount; ++k) {
            const MeshAxis axis = mesh_axis({}, plan, e, static_cast<GroupKind>(k));
            if (axis.degree <= 1) continue;
            CAPTURE(k);
            for (const std::int64_t rank : {std::int64_t{0}, std::int64_t{35}, e.mesh.world - 3}) {
                const std::vector<std::int64_t> members = group_members(e.mesh, axis.kind, rank);
                for (const std::int64_t end :
                     {std::int64_t{0}, std::int64_t{1}, std::int64_t{36}, std::int64_t{129}, e.mesh.world / 3,
                      e.mesh.world - 1, e.mesh.world})
                    CHECK(members_below(axis, rank, end)
                          == std::count_if(members.begin(), members.end(),
                                           [end](std::int64_t m) { return m < end; }));
            }
        }
    }
}

TEST_CASE(
    "nodes that are too small to be told apart stand joined, and none is drawn with a gap below 3 pixels") {
    const Plan plan = large_plan();
    const Mesh mesh = build_mesh(plan);
    const std::int64_t domain = domain_of(plan.cluster, 0), pod = domain_of(plan.cluster, 1);
    const auto periods = row_periods(mesh, domain, pod);
    for (const Vec2 room : {Vec2{620, 200}, Vec2{900, 340}, Vec2{1160, 480}, Vec2{1900, 1000}}) {
        CAPTURE(room.x);
        const MeshLayout l = lay_out_mesh(room, plan.cluster.gpus, domain, pod, 1, periods, 8);
        CHECK(l.row_nodes % 16 == 0);
        CHECK(l.extent.x <= room.x + 0.5f);
        CHECK(l.extent.y <= room.y + 0.5f);
        CellGrid cells = seen(l, {}, {0, 0, room.x, room.y});
        merge_small_cells(l, cells, 1);
        const CellGrid::Level& nodes = cells.level[1];
        // A cell is large enough, or it touches the one below it.
        CHECK((cells.cell.y >= 3 || cells.cell.y >= nodes.pitch_y - 1e-3f));
        CHECK((cells.cell.x >= 3 || cells.cell.x >= nodes.pitch_x - 1e-3f));
        CHECK(l.joined() == (l.node.full.x < 3 || l.node.full.y < 3));
        // Every GPU is found where it stands.
        for (const std::int64_t rank : {std::int64_t{0}, std::int64_t{70000}, plan.cluster.gpus - 1})
            CHECK(cell_at(l.grid, cell_position(l.grid, rank) + l.grid.cell * 0.5f) == rank);
    }
    CHECK(lay_out_mesh({620, 200}, plan.cluster.gpus, domain, pod, 1, periods, 8).joined());
    CHECK_FALSE(lay_out_mesh({1900, 1000}, plan.cluster.gpus, domain, pod, 1, periods, 8).joined());
}

TEST_CASE("131,072 GPUs are a ladder of a node, a replica, a pod and the cluster, and each rung is clicked") {
    Driver d("llama-3.1-405b-16k", {1600, 1000});
    d.press({.key = Key::n2});
    CHECK_FALSE(d.shell.views().mesh.ladder.shown());  // one strip is enough for 16,384
    d.shell.open_plan(large_plan());
    d.settle();
    const MeshViewState& mesh = d.shell.views().mesh;
    REQUIRE(mesh.ladder.shown());
    for (const char* words : {"8 GPUs, number 0", "One of 1,024 replicas, enlarged",
                              "24 replicas, 3,072 GPUs", "The cluster, 43 pods",
                              "dp_shard group of rank 0, 1,024 GPUs: 24 in each of 42 pods and 16 in one"})
        CHECK_MESSAGE(says(d, words), std::string(words));

    // A node of the strip, a GPU of the node, a node of the pod, a GPU of the cluster.
    const std::int64_t domain = 8;
    const Evaluation& e = d.shell.evaluation();
    Hover none, next;
    const Scene scene{.plan = d.plan(),
                      .evaluation = e,
                      .presets = d.presets,
                      .selection = d.shell.selection(),
                      .hover = none,
                      .next_hover = next};
    d.click_at(strip_node(mesh.ladder.strip, mesh.ladder.tile, period_of(scene, 0), 4).center());
    CHECK(d.shell.selection().rank == 4 * domain);
    const CellGrid gpus = node_grid(mesh.ladder.node, domain);
    d.click_at(cell_position(gpus, 3) + gpus.cell * 0.5f);
    CHECK(d.shell.selection().rank == 35);
    CHECK(says(d, "dp_shard group of rank 35"));
    const CellGrid pod = seen(*mesh.pod_layout, {}, mesh.ladder.pod);
    const std::int64_t in_pod = 16 * domain * 5 + 2 * domain;  // stage 2 of replica 5
    d.click_at(cell_position(pod, in_pod) + pod.cell * 0.5f);
    CHECK(d.shell.selection().rank == in_pod + 3);  // tensor rank 3 as before
    const CellGrid cluster = seen(*mesh.layout, mesh.camera, mesh.cells);
    const std::int64_t far = 3072 * 20 + 777;
    d.click_at(cell_position(cluster, far) + cluster.cell * 0.5f);
    // Rows of less than a pixel share one: the next row is as near.
    const std::int64_t row = cluster.cell.y < 1 ? mesh.layout->row_nodes : 0;
    CHECK(std::abs(d.shell.selection().rank / domain - far / domain) <= row);
    CHECK(says(d, "Pod 20"));

    // The shares of all pods are the whole group.
    const MeshAxis axis = mesh_axis(theme_of(ThemeId::dark), d.plan(), e, GroupKind::dp_shard);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < 43; ++i) sum += members_in(axis, far, i * 3072, (i + 1) * 3072);
    CHECK(sum == 1024);

    // Arrows walk, and a lost node is picked on a rung.
    const std::int64_t before = d.shell.selection().rank;
    d.press({Key::right});
    CHECK(d.shell.selection().rank == before + 1);
    d.press({.key = Key::f, .ctrl = true});
    d.click_at(strip_node(mesh.ladder.strip, mesh.ladder.tile, period_of(scene, d.shell.selection().rank),
                          (d.shell.selection().rank / (16 * domain)) * 16)
                   .center());
    CHECK(mesh.lost_node == d.shell.selection().rank / domain);
}

TEST_CASE("a ladder stands only where its rungs have room, and a pinned plan says what changed") {
    Driver d("llama-3.1-405b-16k", {1600, 1000});
    d.press({.key = Key::n2});
    d.press({.key = Key::d, .ctrl = true});  // pin
    d.shell.open_plan(large_plan());
    d.settle();
    REQUIRE(d.shell.views().mesh.ladder.shown());
    CHECK(d.shell.views().mesh.ladder.node.bottom() <= d.shell.views().mesh.ladder.node_costs.y + 1);
    CHECK(d.shell.views().mesh.ladder.pod.right() < d.shell.views().mesh.ladder.cluster.x);
    Driver small("llama-3.1-405b-16k", {900, 600});
    small.press({.key = Key::n2});
    small.shell.open_plan(large_plan());
    small.settle();
    CHECK_FALSE(small.shell.views().mesh.ladder.shown());
    CHECK(small.drawn("mesh.cells"));
}
