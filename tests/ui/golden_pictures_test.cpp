// Compares the pixels of a few pictures with earlier ones that a person checked: cells, solids, patterns, all
// widgets, text. What a picture says and where it says it is compared by marks_test.cpp, for every page.
// PENTAMESH_REFRESH_PICTURES=1 writes anew the pictures that differ; look at each before committing it
// (tests/README.md). Text is set in the monospaced font, whose letters no version has changed much.
#include "app/ui/shell/picture.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "render/page.h"
#include "render/png.h"
#include "tests/ui/driver.h"
#include "tests/ui/gallery.h"
#include "tests/ui/golden_compare.h"

#include <cmath>
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
    {"mesh-zoom-1024-light", "zoom-1024", "mesh", ThemeId::light, 130},
    {"loaf-deepseek-light", "deepseek-v3-2048", "shards", ThemeId::light, 70},
    {"timeline-deepseek-dark", "deepseek-v3-2048", "timeline", ThemeId::dark, -1},
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

const std::filesystem::path kTree(SOURCE_DIR);

// Compares with the file of that name; in a refresh one that differs is written. It is also written to the
// build folder.
void compare(const std::string& name, const Image& now) {
    const std::string file = (kTree / "tests/golden/pictures" / (name + ".png")).string();
    const bool refresh = std::getenv("PENTAMESH_REFRESH_PICTURES") != nullptr;
    if (refresh && !std::filesystem::exists(file)) write_file(file, encode_png(now, {}));
    const TileReport tiles = compare_tiles(now, decode_png(read_file(file)));
    if (tiles.bad == 0) return;
    if (refresh) {
        write_file(file, encode_png(now, {}));
        MESSAGE("written anew: ", file);
        return;
    }
    const std::filesystem::path out(PICTURES_OUT);
    std::filesystem::create_directories(out);
    write_file((out / (name + ".png")).string(), encode_png(now, {}));
    INFO("what is drawn now: ", (out / (name + ".png")).string());
    INFO("worst tile at ", tiles.worst_x, ", ", tiles.worst_y, ": ", 100 * tiles.worst, " % of its pixels");
    CHECK_MESSAGE(tiles.bad == 0, name);
}

// Draws words in the three faces, at each size that is rasterised and at two scales.
Image text_specimen(const FontFiles& fonts) {
    constexpr Vec2 kSize{520, 300};
    Offscreen surface(kSize, 1.5f, fonts);
    surface.frame({}, 0, [](const FrameInfo& info) {
        Canvas c = frame_canvas(info);
        const Theme& t = theme_of(ThemeId::dark);
        c.rect({0, 0, info.size.x, info.size.y}, t.window);
        float y = 6;
        for (const float size : {11.0f, 12.0f, 13.0f, 14.0f, 16.0f, 20.0f, 28.0f}) {
            float x = 8;
            for (const Face face : {Face::regular, Face::semibold, Face::mono})
                x += c.text({x, y}, "Mesh 8 × 1,024", {face, size, t.text, 0}) + 8;
            y += std::round(size * 1.25f) + 6;
        }
        c.text({8, y}, "tracked, secondary", {Face::regular, 11, t.secondary, 1});
    });
    return surface.read();
}

}  // namespace

TEST_CASE(
    "cells, solids, patterns, curves and the whole window look as they did when they were last looked at") {
    const Presets presets(kTree / "presets");
    for (const Golden& g : kGolden) {
        CAPTURE(g.name);
        compare(g.name,
                decode_png(make_picture(presets, presets.plan(g.plan), request_of(g), "png", mark_fonts())));
    }
}

TEST_CASE("every widget in every state looks as it did when it was last looked at") {
    compare("gallery-dark", draw_gallery(ThemeId::dark).image);
}

TEST_CASE("text in the window's own fonts looks as it did when it was last looked at") {
    const FontFiles fonts = find_fonts(kTree / "assets");
    constexpr std::string_view kRegular =
        "a7e791e8f5a0";  // of the file of Inter 4.0 beta 7, which the picture has
    if (!sha256_of(read_file(fonts.regular)).starts_with(kRegular)) {
        MESSAGE("skipped: the picture text-inter was made with Inter 4.0 beta 7, and ",
                fonts.regular.string(), " is another version");
        return;
    }
    compare("text-inter", text_specimen(fonts));
}

TEST_CASE("one tile that differs by a quarter is found") {
    const Image plain{64, 40, std::vector<std::uint8_t>(std::size_t{64} * 40 * 4, 128)};
    const auto painted = [&](int width, int height) {
        Image image = plain;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                image.pixels[static_cast<std::size_t>((y + 16) * 64 + x + 32) * 4 + 1] = 255;
        return image;
    };
    CHECK(compare_tiles(plain, plain).bad == 0);
    CHECK(compare_tiles(plain, plain).tiles == 4 * 3);
    CHECK(compare_tiles(plain, painted(16, 3)).bad == 0);
    const TileReport found = compare_tiles(plain, painted(16, 4));
    CHECK(found.bad == 1);
    CHECK(found.worst == 0.25);
    CHECK(found.worst_x == 32);
    CHECK(found.worst_y == 16);
    CHECK(compare_tiles(plain, Image{8, 8, std::vector<std::uint8_t>(256)}).bad == 1);
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
        Plan plan = parse_plan(*inside, "picture", presets);
        CHECK(plan.scene.view == "dashboard");  // it opens as the picture shows it
        plan.scene = {};
        CHECK(plan == presets.plan("hsdp-64"));
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
    CHECK(different(one, half) < 0.035);  // signs of a pixel's width have other edges
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
