// Compares pictures with earlier ones: the views as a person last checked them, and their words. Next to each
// picture lies its text, one run a line. PENTAMESH_REFRESH_PICTURES=1 writes anew the ones that differ; look
// at each before committing it (tests/README.md).
#include "app/ui/kit/version.h"
#include "app/ui/shell/picture.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/plan/factors.h"
#include "render/page.h"
#include "render/png.h"
#include "tests/ui/driver.h"
#include "tests/ui/gallery.h"
#include "tests/ui/golden_compare.h"

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
    const char* page = "";
};
constexpr Golden kGolden[] = {
    {"dashboard-mesh-8-dark", "mesh-8", "dashboard", ThemeId::dark, 3},
    {"dashboard-16k-light", "llama-3.1-405b-16k", "dashboard", ThemeId::light, 4099},
    {"mesh-zoom-1024-light", "zoom-1024", "mesh", ThemeId::light, 130},
    {"loaf-mesh-8-dark", "mesh-8", "shards", ThemeId::dark, -1},
    {"loaf-deepseek-light", "deepseek-v3-2048", "shards", ThemeId::light, 70},
    {"shards-70b-dark", "llama-3-70b-3d", "shards", ThemeId::dark, 11, "parameters"},
    {"shards-deepseek-light", "deepseek-v3-2048", "shards", ThemeId::light, 70, "parameters"},
    {"memory-70b-dark", "llama-3-70b-3d", "memory", ThemeId::dark, -1},
    {"memory-zero-dark", "llama-3-8b-fsdp", "memory", ThemeId::dark, -1, "sheds"},
    {"timeline-deepseek-dark", "deepseek-v3-2048", "timeline", ThemeId::dark, -1},
    {"zoom-1024-dark", "zoom-1024", "zoom", ThemeId::dark, -1},
    {"zoom-405b-rank-light", "llama-3.1-405b-16k", "zoom", ThemeId::light, 4099},
    {"map-deepseek-light", "deepseek-v3-2048", "map", ThemeId::light, -1},
    {"map-race-light", "llama-3.1-405b-16k", "map", ThemeId::light, -1, "wires"},
    {"comm-70b-high-contrast", "llama-3-70b-3d", "comm", ThemeId::high_contrast, -1},
    {"step-405b-light", "llama-3.1-405b-16k", "step", ThemeId::light, -1},
    {"tensors-deepseek-dark", "deepseek-v3-2048", "tensors", ThemeId::dark, -1},
    {"layer-70b-dark", "llama-3-70b-3d", "layer", ThemeId::dark, -1},
    {"review-70b-light", "llama-3-70b-3d", "review", ThemeId::light, -1},
    {"search-mesh-8-dark", "mesh-8", "search", ThemeId::dark, -1},
    {"compare-none-light", "mesh-8", "compare", ThemeId::light, -1},
};

PictureRequest request_of(const Golden& g) {
    PictureRequest r;
    r.view = g.view;
    r.page = g.page;
    r.size = {1120, 630};
    r.theme = g.theme;
    r.rank = g.rank;
    r.page = g.page;
    return r;
}

const std::filesystem::path kTree(SOURCE_DIR);

struct Drawn {
    Image image;
    std::string text;
};

// The release that the pictures say, in which they were begun: a later one changes none of them.
constexpr std::string_view kVersionInPictures = "Pentamesh 0.1.0";

// Compares with the files of that name; in a refresh those that differ are written. They are also written to
// the build folder.
void compare(const std::string& name, const Drawn& now) {
    const std::string file = (kTree / "tests/golden/pictures" / name).string();
    const bool refresh = std::getenv("PENTAMESH_REFRESH_PICTURES") != nullptr;
    if (refresh && !std::filesystem::exists(file + ".png"))
        write_file(file + ".png", encode_png(now.image, {}));
    if (refresh && !std::filesystem::exists(file + ".txt")) write_file(file + ".txt", now.text);
    const TileReport tiles = compare_tiles(now.image, decode_png(read_file(file + ".png")));
    const std::string words = text_difference(read_file(file + ".txt"), now.text);
    if (tiles.bad == 0 && words.empty()) return;
    if (refresh) {
        write_file(file + ".png", encode_png(now.image, {}));
        write_file(file + ".txt", now.text);
        MESSAGE("written anew: ", file, ".png");
        return;
    }
    const std::filesystem::path out(PICTURES_OUT);
    std::filesystem::create_directories(out);
    write_file((out / (name + ".png")).string(), encode_png(now.image, {}));
    write_file((out / (name + ".txt")).string(), now.text);
    INFO("what is drawn now: ", (out / (name + ".png")).string());
    INFO("worst tile at ", tiles.worst_x, ", ", tiles.worst_y, ": ", 100 * tiles.worst, " % of its pixels");
    CHECK(tiles.bad == 0);
    INFO("text, - as it was, + as it is:\n", words);
    CHECK(words.empty());
}

}  // namespace

TEST_CASE("views look as they did and say what they said when they were last looked at") {
    const OtherVersion version(kVersionInPictures);
    const Presets presets(kTree / "presets");
    const FontFiles fonts = find_fonts(kTree / "assets");
    for (const Golden& g : kGolden) {
        CAPTURE(g.name);
        std::vector<TextRun> runs;
        PictureRequest request = request_of(g);
        request.text_runs = &runs;
        const Image image = decode_png(make_picture(presets, presets.plan(g.plan), request, "png", fonts));
        compare(g.name, {image, text_lines(runs)});
    }
}

TEST_CASE("every widget in every state looks as it did when it was last looked at") {
    for (const ThemeId theme : {ThemeId::dark, ThemeId::light}) {
        const char* name = theme == ThemeId::dark ? "gallery-dark" : "gallery-light";
        CAPTURE(name);
        const GalleryPicture drawn = draw_gallery(theme);
        compare(name, {drawn.image, text_lines(drawn.runs)});
    }
}

TEST_CASE("two plans beside each other look as they did when they were last looked at") {
    const OtherVersion version(kVersionInPictures);
    const Presets presets(kTree / "presets");
    std::vector<TextRun> runs;
    PictureRequest request;
    request.view = "compare";
    request.size = {1280, 720};
    request.text_runs = &runs;
    const Plan plan = presets.plan("llama-3-70b-3d");
    request.compared = {with_factor(plan, Axis::tp, 4, true)};
    const Image image = decode_png(make_picture(presets, plan, request, "png", find_fonts(kTree / "assets")));
    compare("compare-70b-dark", {image, text_lines(runs)});
}

TEST_CASE("a lesson looks as it did and says what it said when it was last looked at") {
    const OtherVersion version(kVersionInPictures);
    Driver d("mesh-8", {1120, 630});
    d.surface.record_text(true);
    d.shell.settings().theme = ThemeId::light;
    d.shell.open_lesson(kTree / "assets/lessons/01-two-walls.md");
    d.settle();
    compare("lesson-two-walls-light", {d.surface.read(), text_lines(d.surface.text_runs())});
}

TEST_CASE("one tile that differs by a quarter, or one digit, is found") {
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

    const std::string was = text_lines({{{10, 40}, "66.1 GiB"}, {{10.4f, 20}, "rank 3"}, {{10, 40}, "×"}});
    CHECK(was == "10 20 rank 3\n10 40 66.1 GiB\n10 40 ×\n");
    CHECK(text_difference(was, "10 40 ×\n11 21 rank 3\n10 40 66.1 GiB\n").empty());
    CHECK(text_difference(was, "10 20 rank 3\n10 40 66.2 GiB\n10 40 ×\n")
          == "- 10 40 66.1 GiB\n+ 10 40 66.2 GiB\n");
    CHECK(text_difference(was, "10 20 rank 3\n10 43 66.1 GiB\n10 40 ×\n")
          == "- 10 40 66.1 GiB\n+ 10 43 66.1 GiB\n");
    CHECK(text_difference(was, was + "10 40 ×\n") == "+ 10 40 ×\n");
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
