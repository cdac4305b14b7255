#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/sharding/placement.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

Nest nest_for(const char* preset) {
    const Plan plan = Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan(preset);
    return nest_of(plan, build_mesh(plan));
}
constexpr const char* kPresets[] = {"mesh-8",    "zoom-1024",       "llama-3.1-405b-16k",
                                    "hsdp-64",   "single-gpu",      "deepseek-v3-2048",
                                    "moe-nvl72", "llama-3-8b-fsdp", "llama-3.1-405b-131k"};

}  // namespace

TEST_CASE("the teaching example nests 16 replicas of 8 stages of 8 tensor ranks") {
    const Nest n = nest_for("zoom-1024");
    REQUIRE(n.levels.size() == 3);
    CHECK(n.levels[0].kind == NestKind::replica);
    CHECK(n.levels[0].count == 16);
    CHECK(n.levels[0].gpus == 64);
    CHECK(n.levels[1].kind == NestKind::stage);
    CHECK(n.levels[1].count == 8);
    CHECK(n.levels[2].kind == NestKind::tp);
    CHECK(n.levels[2].count == 8);
    CHECK(product_text(n) == "16 replicas × 8 stages × 8 tp = 1,024 GPUs");
    const NestPath path{3, 5, 2};
    CHECK(first_rank_of(n, path) == 3 * 64 + 5 * 8 + 2);
    CHECK(step_label(n, path) == "tp 2");
}

TEST_CASE("the levels' counts multiply to the world, and every rank is in one box") {
    for (const char* preset : kPresets) {
        CAPTURE(preset);
        const Nest n = nest_for(preset);
        std::int64_t product = 1;
        for (const NestLevel& l : n.levels) product *= l.count;
        CHECK(product == n.mesh.world);
        const std::int64_t step = std::max<std::int64_t>(1, n.mesh.world / 97);
        for (std::int64_t r = 0; r < n.mesh.world; r += step) {
            const NestPath path = path_of_rank(n, r);
            CHECK(first_rank_of(n, path) == r);
            CHECK(legal_path(n, path) == path);
        }
    }
}

TEST_CASE("inside a GPU are its layers and their matrices") {
    const Nest n = nest_for("zoom-1024");
    NestPath path = path_of_rank(n, 0);
    const NestChildren layers = children_of(n, path);
    CHECK(layers.kind == NestKind::layer);
    CHECK(layers.items.front().label == "embedding");
    CHECK(layers.items[1].label == "layer 0");
    CHECK(layers.count == 1 + 10);  // 80 layers over 8 stages, and the embedding
    path.push_back(1);
    CHECK(tensor_at(n, path) == -1);
    CHECK(children_of(n, path).count == 7);  // q, k, v, output, gate, up, down
    path.push_back(0);
    CHECK(step_label(n, path) == "attention.q");
    CHECK(n.tensors[tensor_at(n, path)].id == TensorId::attention_q);
    CHECK(children_of(n, path).count == 0);
}

TEST_CASE("the embedding and the head have one matrix each") {
    const Nest n = nest_for("zoom-1024");
    for (const bool last : {false, true}) {
        NestPath path = path_of_rank(n, last ? n.mesh.world - 1 : 0);
        const NestChildren layers = children_of(n, path);
        path.push_back(last ? layers.count - 1 : 0);
        CHECK(step_label(n, path) == (last ? "head" : "embedding"));
        CHECK(children_of(n, path).count == 1);
    }
}

TEST_CASE("folded for the experts, the same ranks nest as edp, stages, ep and etp, with each expert group in "
          "a box") {
    for (const char* preset : {"moe-nvl72", "mixtral-8x7b-ep", "deepseek-v3-2048"}) {
        CAPTURE(preset);
        const Plan plan = Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan(preset);
        const Mesh mesh = build_mesh(plan);
        const Nest n = nest_of(plan, mesh, Fold::experts);
        REQUIRE(n.fold == Fold::experts);
        std::int64_t product = 1;
        for (const NestLevel& l : n.levels) product *= l.count;
        CHECK(product == mesh.world);
        const auto ep = std::find_if(n.levels.begin(), n.levels.end(),
                                     [](const NestLevel& l) { return l.kind == NestKind::ep; });
        REQUIRE(ep != n.levels.end());
        CHECK(ep->group == GroupKind::ep);
        CHECK(ep->count == mesh.expert[static_cast<std::size_t>(Axis::ep)].size);
        const auto depth = static_cast<std::size_t>(ep - n.levels.begin());
        const std::int64_t step = std::max<std::int64_t>(1, mesh.world / 61);
        for (std::int64_t r = 0; r < mesh.world; r += step) {
            const NestPath path = path_of_rank(n, r);
            CHECK(first_rank_of(n, path) == r);
            // The ranks that differ only at this level are the rank's expert group, as the mesh has it.
            std::vector<std::int64_t> box;
            for (std::int64_t i = 0; i < ep->count; ++i) {
                NestPath other = path;
                other[depth] = i;
                box.push_back(first_rank_of(n, other));
            }
            CHECK(box == group_members(mesh, GroupKind::ep, r));
        }
    }
    CHECK(nest_for("zoom-1024").fold == Fold::dense);
    const Plan dense = Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan("zoom-1024");
    CHECK(nest_of(dense, build_mesh(dense), Fold::experts).fold == Fold::dense);
}

TEST_CASE("a layer's bytes are those of its matrices and norms, and all layers' are those of the memory") {
    for (const char* preset :
         {"zoom-1024", "llama-3.1-405b-16k", "mixtral-8x7b-ep", "hsdp-64", "moe-nvl72"}) {
        CAPTURE(preset);
        const Plan plan = Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan(preset);
        const Evaluation e = evaluate(plan, {.timeline = false});
        const Nest n = nest_of(plan, e.mesh);
        NestPath path = path_of_rank(n, 0);
        double all = 0;
        for (const NestItem& item : children_of(n, path).items) all += item.bytes;
        CHECK(all == near(e.memory.stage[0].parameters, 1e-9));
        path.push_back(1);
        double matrices = 0;
        for (const NestItem& item : children_of(n, path).items) matrices += item.bytes;
        CHECK(matrices > 0);
        CHECK(matrices <= children_of(n, path_of_rank(n, 0)).items[1].bytes);
    }
}

TEST_CASE("a piece says on how many GPUs the same part is, and into how many parts the tensor is cut") {
    for (const char* preset : {"mesh-8", "hsdp-64", "mixtral-8x7b-ep", "llama-3-70b-3d", "gpt-175b-a100"}) {
        CAPTURE(preset);
        const Nest n = nest_for(preset);
        const std::int64_t rank = n.mesh.world / 3;
        for (int i = 0; i < static_cast<int>(n.kept.size()); ++i) {
            const Placement& p = n.kept[i];
            const NestPiece piece = piece_of(n, i, rank);
            if (!piece.kept.held || p.place == Place::embedding || p.place == Place::head) continue;
            CAPTURE(name_of(p.id));
            std::int64_t same = 0;
            for (std::int64_t r = 0; r < n.mesh.world; ++r) {
                if (dense_coordinates(n.mesh, r)[Axis::pp] != dense_coordinates(n.mesh, rank)[Axis::pp])
                    continue;
                const Part other = part_of(n.plan, n.mesh, p, r);
                if (other.held && other.box == piece.kept.box && other.flat == piece.kept.flat) ++same;
            }
            CHECK(piece.copies == same);
            const double whole = static_cast<double>(p.shape[0] * p.shape[1] * p.shape[2]);
            CHECK(static_cast<double>(piece.kept.numbers * piece.parts) == near(whole, 1e-2));
        }
    }
}

TEST_CASE("a path is kept as far as it exists when the plan changes") {
    const Nest big = nest_for("zoom-1024"), small = nest_for("mesh-8");
    CHECK(legal_path(big, NestPath{3, 5, 2}) == NestPath{3, 5, 2});
    CHECK(legal_path(small, NestPath{1, 5, 2}) == NestPath{1});
    CHECK(legal_path(big, NestPath{99}).empty());
}

// "Who shards this expert, who holds its copies?": boxes are called as `groups` and the Mesh call them.
TEST_CASE("under HSDP the experts' boxes have the names of the parts of edp") {
    Plan plan = Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan("hsdp-64");
    plan.model = Presets(std::filesystem::path(SOURCE_DIR) / "presets").model("qwen3-30b-a3b");
    plan.layout.tp = plan.layout.cp = plan.layout.pp = 1;
    plan.layout.etp = 1;
    plan.layout.ep = 8;
    plan.layout.dp_shard = 16;
    plan.layout.dp_replicate = 4;
    plan.cluster.gpus = 64;
    const Mesh mesh = build_mesh(plan);
    const Nest n = nest_of(plan, mesh, Fold::experts);
    std::vector<std::string> names, groups;
    for (const NestLevel& l : n.levels) {
        names.emplace_back(name_of(l.kind));
        groups.emplace_back(name_of(l.group));
    }
    CHECK(names == std::vector<std::string>{"edp_replicate", "edp_shard", "ep"});
    CHECK(names == groups);
    const auto expert =
        std::find_if(n.kept.begin(), n.kept.end(), [](const Placement& p) { return p.expert; });
    REQUIRE(expert != n.kept.end());
    CHECK(axis_name(*expert, Axis::dp_shard) == "edp_shard");
    CHECK(axis_name(*expert, Axis::dp_replicate) == "edp_replicate");
    // With one part there is one name.
    plan.layout.dp_shard = 64;
    plan.layout.dp_replicate = 1;
    const Mesh whole = build_mesh(plan);
    const Nest one = nest_of(plan, whole, Fold::experts);
    REQUIRE(one.levels.size() == 2);
    CHECK(name_of(one.levels[0].kind) == "edp");
    CHECK(one.levels[0].count == 8);
}
