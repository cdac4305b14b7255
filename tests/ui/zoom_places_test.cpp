#include "app/ui/views/zoom/zoom_places.h"
#include "core/io/presets.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

PlacedNest nest_for(const char* preset, double aspect) {
    const Plan plan = Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan(preset);
    return place_boxes(nest_of(plan, build_mesh(plan)), aspect);
}
bool is_inside(const NestBox& inner, const NestBox& outer) {
    return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.w <= outer.x + outer.w + 1e-12
           && inner.y + inner.h <= outer.y + outer.h + 1e-12 && inner.w > 0 && inner.h > 0;
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
                const PlacedChildren c = placed_children(n, parent, box);
                for (std::int64_t i = 1; i < std::min<std::int64_t>(c.count, 40); ++i) {
                    const NestBox a = child_box(c, box, i - 1), b = child_box(c, box, i);
                    CHECK(is_inside(b, box));
                    CHECK((a.x + a.w <= b.x + 1e-12 || a.y + a.h <= b.y + 1e-12));
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
            CHECK(g.w > 0);
            CHECK(g.h > 0);
        }
}
