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
    out.words = row_words(out.mesh, domain, out.layout.row_nodes);
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
        CHECK(r.words.find("a node a stage") != std::string::npos);
    }
    CHECK(rows_of(plan, {890, 330}).words == "a row is a replica, a node a stage");
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
