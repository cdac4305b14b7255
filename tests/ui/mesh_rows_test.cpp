#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_layout.h"

#include "core/io/presets.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

struct Rows {
    Mesh mesh;
    std::vector<RowPeriod> periods{};
    MeshLayout layout{};
    std::string words{};
};

Rows rows_of(const Plan& plan, Vec2 room) {
    Rows out{.mesh = build_mesh(plan)};
    const Cluster& c = plan.cluster;
    const std::int64_t domain = domain_of(c, 0), pod = c.tiers.size() > 2 ? domain_of(c, 1) : 0;
    out.periods = row_periods(out.mesh, domain, pod);
    out.layout = lay_out_mesh(room, c.gpus, domain, pod, 1, out.periods);
    out.words = row_words(out.mesh, domain, out.layout.row_nodes, plan.layout.zero == 3);
    return out;
}

Plan preset(const char* id) {
    return Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan(id);
}

}  // namespace

TEST_CASE("a row of the mesh is a period of the layout, and never the width of the window") {
    const Plan plan = preset("llama-3.1-405b-16k");  // tp 8 in a node, pp 16 over 16 nodes, dp_shard outside
    for (const float width : {700.0f, 890.0f, 1200.0f, 2000.0f}) {
        CAPTURE(width);
        const Rows r = rows_of(plan, {width, 330});
        CHECK(std::find(r.periods.begin(), r.periods.end(), RowPeriod{16, true}) != r.periods.end());
        CHECK(r.layout.row_nodes % 16 == 0);
        CHECK(r.words.find("replica") != std::string::npos);
        CHECK(r.words.find("a column a stage") != std::string::npos);
    }
    CHECK(rows_of(plan, {890, 330}).words == "a row is a replica, all of the model, a column a stage");
}

TEST_CASE("a data-parallel rank is called a replica only where it has all parameters") {
    Plan plan = preset("llama-3.1-405b-16k");  // tp 8, pp 16: 128 GPUs a data-parallel rank
    const Mesh mesh = build_mesh(plan);
    CHECK(row_words(mesh, 8, 16, false) == "a row is a replica, all of the model, a column a stage");
    CHECK(row_words(mesh, 8, 16, true) == "a row is a data-parallel rank, a column a stage");
    CHECK(row_words(mesh, 8, 64, true) == "a row is 4 data-parallel ranks, a column a stage");
    plan.layout.dp_shard = 4, plan.layout.dp_replicate = 32;  // HSDP: a replica is four of them
    const Mesh hybrid = build_mesh(plan);
    CHECK(row_words(hybrid, 8, 64, true) == "a row is a replica, all of the model, a column a stage");
    CHECK(row_words(hybrid, 8, 128, true) == "a row is 2 replicas, each all of the model, a column a stage");
    CHECK(row_words(hybrid, 8, 32, true) == "a row is 2 data-parallel ranks, a column a stage");
}

TEST_CASE(
    "a small picture of a large mesh has the same rows as the view, and says what a cell is as it is seen") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("deepseek-v3-2048");
    const Evaluation e = evaluate(plan);
    Selection selection;
    selection.choose(GroupKind::dp_shard);
    const Hover none;
    Hover next;
    const Scene scene{.plan = plan,
                      .evaluation = e,
                      .presets = presets,
                      .selection = selection,
                      .hover = none,
                      .next_hover = next};
    const MeshLayout small = lay_out_mesh(scene, {240, 70}, 1);
    CHECK(small.row_nodes % 16 == 0);  // dp_shard 128 over 16 nodes: a row holds whole stages
    CHECK(small.words.find("a cell is a node") != std::string::npos);
    const MeshLayout large = lay_out_mesh(scene, {700, 400}, 1, 2);
    CHECK(large.row_nodes % 16 == 0);
    const bool nodes = std::min(large.grid.cell.x, large.grid.cell.y) * 2 < kLeastGpuCell;
    CHECK((large.words.find("a cell is a node") != std::string::npos) == nodes);
    CHECK(large.extent.x * 2 <= 700.5f);
}

TEST_CASE("with pp outermost a row is a stage, or holds whole stages") {
    Plan plan = preset("llama-3.1-405b-16k");
    plan.layout.order = {Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp};
    plan.layout.dp_shard = 16, plan.layout.pp = 8, plan.layout.dp_replicate = 1;
    plan.cluster.gpus = 1024;
    const Rows r = rows_of(plan, {890, 330});
    CHECK(r.layout.row_nodes % 8 == 0);
    CHECK(r.words.find("stage") != std::string::npos);
}

TEST_CASE("a layout inside one fast domain has no period, and a row says nothing") {
    const Rows r = rows_of(preset("llama-3-8b-fsdp"), {890, 330});
    for (const RowPeriod& p : r.periods) CHECK(p.nodes > 1);
    Plan small = preset("llama-3-8b-fsdp");
    small.layout.dp_shard = 8, small.cluster.gpus = 8;
    CHECK(rows_of(small, {890, 330}).periods.empty());
}

TEST_CASE(
    "cells of GPUs are large enough to be one, else a cell is a node, and none of them leaves the room") {
    for (const char* id : {"mesh-8", "llama-3-70b-3d", "deepseek-v3-2048", "llama-3.1-405b-16k"})
        for (const Vec2 room : {Vec2{620, 130}, Vec2{890, 330}, Vec2{1900, 1000}}) {
            CAPTURE(std::string(id));
            CAPTURE(room.x);
            const MeshLayout l = rows_of(preset(id), room).layout;
            CHECK(l.extent.x <= room.x + 0.5f);
            CHECK(l.extent.y <= room.y + 0.5f);
            if (!l.merged) CHECK(std::min(l.grid.cell.x, l.grid.cell.y) >= kLeastGpuCell);
            CHECK(std::min(l.node.full.x, l.node.full.y) >= 3);
            // Every GPU is found where it stands.
            for (const std::int64_t rank : {std::int64_t{0}, l.node.size * l.node.count / 2, l.node.size - 1})
                CHECK(cell_at(l.grid, cell_position(l.grid, rank) + l.grid.cell * 0.5f) == rank);
        }
}

TEST_CASE("a group of neighbours inside a node stands in a tile, and two tiles never overlap") {
    const MeshLayout l = lay_out_mesh({1200, 600}, 8, 4, 0, 1, {}, 2);
    REQUIRE(l.tile.size == 2);
    REQUIRE(l.tile.count == 4);
    const Rect a = box_rect(l.tile, 0, l.grid, 1), b = box_rect(l.tile, 1, l.grid, 1);
    CHECK((a.right() <= b.x || a.bottom() <= b.y));
    for (const std::int64_t rank : {0, 1}) CHECK(a.contains(cell_position(l.grid, rank)));
    CHECK(b.contains(cell_position(l.grid, 2)));
    const Rect node = box_rect(l.node, 0, l.grid, 1);
    CHECK((node.contains(a.min()) && node.contains(b.max() - Vec2{1, 1})));
}

TEST_CASE("the tiles of a node that is drawn as one cell are parts of it") {
    const std::array<RowPeriod, 1> rows{RowPeriod{8, true}};
    const MeshLayout l = lay_out_mesh({310, 130}, 256, 8, 0, 1, rows, 4);
    REQUIRE(l.merged);
    REQUIRE(l.tile.size == 4);
    const Rect a = box_rect(l.tile, 0, l.grid, 1), b = box_rect(l.tile, 1, l.grid, 1),
               node = box_rect(l.node, 0, l.grid, 1);
    CHECK((a.right() <= b.x + 0.01f || a.bottom() <= b.y + 0.01f));
    CHECK(a.w * a.h + b.w * b.h < node.w * node.h * 1.01f);
    CHECK(b.bottom() <= node.bottom() + 0.01f);
    for (const std::int64_t rank : {3, 4}) CHECK((rank == 3 ? a : b).contains(cell_position(l.grid, rank)));
    // Three of eight are neither a part of a row nor whole rows: they have no box.
    CHECK(lay_out_mesh({310, 130}, 252, 12, 0, 1, rows, 3).tile.size == 1);
}
