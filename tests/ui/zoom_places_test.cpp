#include "app/ui/views/zoom/view.h"
#include "core/io/presets.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pentamesh;
using namespace pentamesh::ui;
using pentamesh::test::near;

namespace {

PlacedNest nest_for(const char* preset, double aspect) {
    const Plan plan = Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan(preset);
    return place_boxes(nest_of(plan, build_mesh(plan)), aspect);
}
bool is_inside(const NestBox& inner, const NestBox& outer) {
    return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.w <= outer.x + outer.w + 1e-12
           && inner.y + inner.h <= outer.y + outer.h + 1e-12 && inner.w > 0 && inner.h > 0;
}
bool apart(double a, double a_length, double b, double b_length) {
    return a + a_length <= b + 1e-12 || b + b_length <= a + 1e-12;
}
constexpr const char* kPlacedPresets[] = {"mesh-8",    "zoom-1024",       "llama-3.1-405b-16k",
                                          "hsdp-64",   "single-gpu",      "deepseek-v3-2048",
                                          "moe-nvl72", "llama-3-8b-fsdp", "llama-3.1-405b-131k"};

}  // namespace

TEST_CASE("a rank's box lies in the boxes of all it belongs to, and siblings do not overlap") {
    for (const char* preset : kPlacedPresets) {
        CAPTURE(preset);
        for (const double aspect : {0.6, 2.0, 4.0}) {
            const PlacedNest n = nest_for(preset, aspect);
            NestPath path = path_of_rank(n, n.mesh.world - 1);
            path.insert(path.end(), {1, 0, 0});  // 0 may be the embedding, which has nothing in it
            const NestPath legal = legal_path(n, path);
            CHECK(legal == path);
            for (std::size_t k = 1; k <= path.size(); ++k)
                CHECK(
                    is_inside(box_of(n, std::span(path).first(k)), box_of(n, std::span(path).first(k - 1))));
            for (std::size_t k = 0; k < path.size(); ++k) {
                const auto parent = std::span(path).first(k);
                const NestBox box = box_of(n, parent);
                for (const std::int64_t lead : {std::int64_t{0}, path[k]}) {
                    const PlacedChildren c = placed_children(n, parent, box, lead);
                    for (std::int64_t i = 1; i < std::min<std::int64_t>(c.count, 40); ++i) {
                        const NestBox a = child_box(c, box, i - 1), b = child_box(c, box, i);
                        CHECK(is_inside(b, box));
                        CHECK((apart(a.x, a.w, b.x, b.w) || apart(a.y, a.h, b.y, b.h)));
                    }
                }
            }
        }
    }
}

TEST_CASE("a grid holds every child for any count") {
    for (const std::int64_t count : {1, 2, 3, 7, 8, 16, 61, 128, 131072})
        for (const double w : {0.1, 1.0, 7.0}) {
            const NestGrid g = nest_grid(w, 1, count);
            CHECK(g.cols * g.rows >= count);
            CHECK((g.rows - 1) * g.cols < count);
            // A gap is as wide upright as across, and leaves most of a place to its child.
            CHECK(g.pitch_x - g.w == near(g.pitch_y - g.h, 1e-6));
            CHECK(std::min(g.w / g.pitch_x, g.h / g.pitch_y) > 0.8);
        }
}

TEST_CASE("of many boxes one is large, whichever it is, and the map beside it has all") {
    const PlacedNest n = nest_for("llama-3.1-405b-16k", 1.6);
    REQUIRE(n.levels.size() == 3);
    CHECK(n.enlarged == std::vector<bool>{true, true, false});  // 128 replicas, 16 stages; 8 GPUs are few
    const NestBox all = box_of(n, {});
    const PlacedChildren first = placed_children(n, {}, all, 0), last = placed_children(n, {}, all, 127);
    const NestBox large = child_box(first, all, 0);
    CHECK(large.w * large.h > all.w * all.h / 2);
    CHECK(child_box(last, all, 127).x == large.x);
    CHECK(child_box(last, all, 0).w < large.w / 10);
    for (const std::int64_t i : {0, 1, 64, 127}) {
        const NestBox cell = grid_box(first.grid, all, i);
        CHECK(is_inside(cell, all));
        CHECK(apart(cell.x, cell.w, large.x, large.w));
    }
    // A path's own boxes are the large ones, so that a flight ends at the same size wherever it goes.
    const NestBox near = box_of(n, std::vector<std::int64_t>{0, 0}),
                  far = box_of(n, std::vector<std::int64_t>{127, 15});
    CHECK(near.w == far.w);
    CHECK(near.x == far.x);
}
