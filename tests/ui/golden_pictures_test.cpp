// Pictures against pictures: what the views looked like when somebody last looked at them.
// PENTAMESH_REFRESH_PICTURES=1 writes them anew; look at each before committing it.
#include "app/ui/shell/picture.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "render/page.h"
#include "render/png.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

struct Golden {
    const char* name;
    const char* plan;
    const char* view;
    ThemeId theme;
    std::int64_t rank;
};
constexpr Golden kGolden[] = {
    {"dashboard-mesh-8-dark", "mesh-8", "dashboard", ThemeId::dark, 3},
    {"dashboard-16k-light", "llama-3.1-405b-16k", "dashboard", ThemeId::light, 4099},
    {"mesh-zoom-1024-light", "zoom-1024", "mesh", ThemeId::light, 130},
    {"shards-70b-dark", "llama-3-70b-3d", "shards", ThemeId::dark, 11},
    {"shards-deepseek-light", "deepseek-v3-2048", "shards", ThemeId::light, 70},
    {"memory-70b-dark", "llama-3-70b-3d", "memory", ThemeId::dark, -1},
    {"timeline-deepseek-dark", "deepseek-v3-2048", "timeline", ThemeId::dark, -1},
    {"zoom-1024-dark", "zoom-1024", "zoom", ThemeId::dark, -1},
    {"zoom-405b-rank-light", "llama-3.1-405b-16k", "zoom", ThemeId::light, 4099},
    {"map-deepseek-light", "deepseek-v3-2048", "map", ThemeId::light, -1},
    {"comm-70b-high-contrast", "llama-3-70b-3d", "comm", ThemeId::high_contrast, -1},
};

PictureRequest request_of(const Golden& g) {
    PictureRequest r;
    r.view = g.view;
    r.size = {1120, 630};
    r.theme = g.theme;
    r.rank = g.rank;
    return r;
}

// Share of pixels that differ by more than anti-aliasing or another font rasteriser explains.
double different(const Image& a, const Image& b) {
    if (a.width != b.width || a.height != b.height) return 1;
    std::size_t bad = 0;
    for (std::size_t i = 0; i < a.pixels.size(); i += 4) {
        int worst = 0;
        for (std::size_t k = 0; k < 3; ++k)
            worst = std::max(worst, std::abs(a.pixels[i + k] - b.pixels[i + k]));
        bad += worst > 48 ? 1 : 0;
    }
    return static_cast<double>(bad) / (static_cast<double>(a.pixels.size()) / 4);
}

}  // namespace

TEST_CASE("views look as they did when they were last looked at") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const FontFiles fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    const bool refresh = std::getenv("PENTAMESH_REFRESH_PICTURES") != nullptr;
    for (const Golden& g : kGolden) {
        CAPTURE(g.name);
        const std::string file = std::string(SOURCE_DIR) + "/tests/golden/pictures/" + g.name + ".png";
        const Image now =
            decode_png(make_picture(presets, presets.plan(g.plan), request_of(g), "png", fonts));
        if (refresh) {
            write_file(file, encode_png(now, {}));
            continue;
        }
        CHECK(different(now, decode_png(read_file(file))) < 0.02);
    }
}

TEST_CASE("the same plan gives the same bytes, with the plan inside") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const FontFiles fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    for (const char* ending : {"png", "svg", "pdf"}) {
        CAPTURE(ending);
        if (std::string(ending) != "png" && !pages_available()) continue;
        PictureRequest r;
        r.size = {900, 600};
        r.view = "review";
        const std::string a = make_picture(presets, presets.plan("hsdp-64"), r, ending, fonts);
        const std::string b = make_picture(presets, presets.plan("hsdp-64"), r, ending, fonts);
        CHECK(a == b);
        const auto inside =
            std::string(ending) == "png" ? read_png_text(a, "pentamesh.plan") : read_embedded(a);
        REQUIRE(inside);
        CHECK(parse_plan(*inside, "picture", presets) == presets.plan("hsdp-64"));
    }
}

TEST_CASE("a picture at scale 2 is the same layout at double sharpness") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const FontFiles fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    PictureRequest r;
    r.size = {1120, 630};
    const Image one = decode_png(make_picture(presets, presets.plan("mesh-8"), r, "png", fonts));
    r.scale = 2;
    const Image two = decode_png(make_picture(presets, presets.plan("mesh-8"), r, "png", fonts));
    REQUIRE(two.width == 2 * one.width);
    Image half{one.width, one.height, std::vector<std::uint8_t>(one.pixels.size())};
    for (int y = 0; y < one.height; ++y)
        for (int x = 0; x < one.width; ++x)
            for (std::size_t k = 0; k < 4; ++k) {
                int sum = 0;
                for (int dy = 0; dy < 2; ++dy)
                    for (int dx = 0; dx < 2; ++dx)
                        sum += two.pixels[(static_cast<std::size_t>(2 * y + dy)
                                               * static_cast<std::size_t>(two.width)
                                           + static_cast<std::size_t>(2 * x + dx))
                                              * 4
                                          + k];
                half.pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(one.width)
                             + static_cast<std::size_t>(x))
                                * 4
                            + k] = static_cast<std::uint8_t>(sum / 4);
            }
    CHECK(different(one, half) < 0.03);
}

TEST_CASE("a view or an ending that is not there is refused with the ones that are") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const FontFiles fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    PictureRequest r;
    r.view = "kitchen";
    CHECK_THROWS_WITH_AS((void)make_picture(presets, presets.plan("mesh-8"), r, "png", fonts),
                         doctest::Contains("dashboard"), Error);
    r.view = "mesh";
    CHECK_THROWS_WITH_AS((void)make_picture(presets, presets.plan("mesh-8"), r, "gif", fonts),
                         doctest::Contains(".svg"), Error);
}
