#include "core/io/presets.h"
#include "core/sharding/placement.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pentamesh;

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

TEST_CASE("inside a GPU are its layers, their blocks and one projection for queries, keys and values") {
    const Nest n = nest_for("zoom-1024");
    NestPath path = path_of_rank(n, 0);
    const NestChildren layers = children_of(n, path);
    CHECK(layers.kind == NestKind::layer);
    CHECK(layers.items.front().label == "embedding");
    CHECK(layers.items[1].label == "layer 0");
    CHECK(layers.count == 1 + 10);  // 80 layers over 8 stages, and the embedding
    path.insert(path.end(), {1, 0, 0});
    CHECK(step_label(n, std::span(path).first(5)) == "attention");
    CHECK(step_label(n, path) == "wqkv");
    CHECK(tensors_at(n, path).size() == 3);
    CHECK(children_of(n, path).count == 0);
}

TEST_CASE("the embedding and the head are one matrix each, with their cut, and have no blocks") {
    const Nest n = nest_for("zoom-1024");
    for (const bool last : {false, true}) {
        NestPath path = path_of_rank(n, last ? n.mesh.world - 1 : 0);
        const NestChildren layers = children_of(n, path);
        path.push_back(last ? layers.count - 1 : 0);
        CHECK(step_label(n, path) == (last ? "head" : "embedding"));
        CHECK(is_matrix(layers, path.back()));
        CHECK_FALSE(is_matrix(layers, 1));
        REQUIRE(tensors_at(n, path).size() == 1);
        CHECK(children_of(n, path).count == 0);
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

TEST_CASE("a layer with experts has them as a block, and larger than its attention") {
    const Nest n = nest_for("mixtral-8x7b-ep");
    NestPath path = path_of_rank(n, 0);
    path.push_back(1);
    const NestChildren blocks = children_of(n, path);
    REQUIRE(blocks.count == 3);
    CHECK(blocks.items[0].label == "attention");
    CHECK(blocks.items[2].label == "experts");
    CHECK(blocks.items[2].weight > blocks.items[0].weight);
}

TEST_CASE("a path is kept as far as it exists when the plan changes") {
    const Nest big = nest_for("zoom-1024"), small = nest_for("mesh-8");
    CHECK(legal_path(big, NestPath{3, 5, 2}) == NestPath{3, 5, 2});
    CHECK(legal_path(small, NestPath{1, 5, 2}) == NestPath{1});
    CHECK(legal_path(big, NestPath{99}).empty());
}
