// Pictures are as high as their content, name what is left out, and have no bar and no switch.
#include "app/ui/kit/format.h"
#include "app/ui/shell/files.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/table.h"
#include "core/base/files.h"
#include "core/base/number.h"
#include "core/evaluate.h"
#include "render/page.h"
#include "render/png.h"
#include "tests/ui/driver.h"

#include <algorithm>
#include <array>
#include <regex>
#include <string>

namespace pentamesh::ui {

namespace {

struct Pictured {
    Image image;
    std::string text;
    [[nodiscard]] bool says(const std::string& words) const { return text.find(words) != std::string::npos; }
};

Pictured picture_of(const char* plan, const char* view, Vec2 size, float type = 1) {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    PictureRequest r;
    r.view = view;
    r.size = size;
    r.text = type;
    r.theme = ThemeId::light;
    std::vector<TextRun> runs;
    r.text_runs = &runs;
    Pictured out;
    out.image = decode_png(make_picture(presets, presets.plan(plan), r, "png",
                                        find_fonts(std::filesystem::path(SOURCE_DIR) / "assets")));
    for (const TextRun& t : runs) out.text += t.text + "\n";
    return out;
}

}  // namespace

TEST_CASE("a picture whose height is left open has every row of its table") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Evaluation e = evaluate(presets.plan("llama-3.1-405b-16k"));
    const Pictured p = picture_of("llama-3.1-405b-16k", "comm", {900, 0});
    CHECK(p.image.width == 900);
    CHECK(p.image.height > 900);
    CHECK_FALSE(p.says("more row"));
    for (const Operation& o : e.comm.operations) {
        const std::string_view words = words_of(o.what);
        const std::string first(words.substr(0, words.find(' ')));
        CAPTURE(first);
        CHECK(p.says(first));
    }
    CHECK(p.says("updated parameters"));
    // Content that fits needs no more height.
    CHECK(picture_of("mesh-8", "tensors", {1600, 0}).image.height == 900);
}

TEST_CASE("each view is a page of SVG and of PDF that opens as its plan, with all text within its edges") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("llama-3-70b-3d");
    const FontFiles fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    const std::regex text(
        R"re(<text x="(-?[0-9.]+)" y="(-?[0-9.]+)"[^>]*?(?: textLength="([0-9.]+)")?[^>]*>)re");
    for (int i = 0; i < kViewCount; ++i) {
        PictureRequest r;
        r.view = std::string(view_of(static_cast<ViewId>(i)).name);
        r.size = {1600, 900};
        r.theme = ThemeId::light;
        CAPTURE(r.view);
        for (const char* ending : {"svg", "pdf"}) {
            if (ending == std::string("pdf") && !pages_available()) continue;
            const std::string file = make_picture(presets, plan, r, ending, fonts);
            const Incoming in = read_incoming(file, r.view, presets);
            CHECK(in.kind == IncomingKind::plan_inside);
            CHECK(in.plan.layout == plan.layout);
            if (ending == std::string("pdf")) continue;
            std::size_t seen = 0;
            for (std::sregex_iterator it(file.begin(), file.end(), text), end; it != end; ++it, ++seen) {
                const auto number = [&](std::size_t k) { return parse_double((*it)[k].str()).value_or(0); };
                CHECK(number(1) >= 0);
                CHECK(number(1) + number(3) <= 1600.5);
                CHECK(number(2) <= 900);
            }
            CHECK(seen > 20);
        }
    }
}

TEST_CASE("a picture of calls has a row for each axis, and closes calls of one size to have it") {
    const Pictured p = picture_of("llama-3-70b-3d", "comm", {1280, 720});
    CHECK(p.says("10 of one size"));
    CHECK(p.says("send-recv"));
    CHECK_FALSE(p.says("more row"));
}

TEST_CASE("larger type keeps a picture's pixels, and shows less of a table") {
    const Pictured usual = picture_of("llama-3.1-405b-16k", "comm", {1200, 600}),
                   large = picture_of("llama-3.1-405b-16k", "comm", {1200, 600}, 1.5f);
    CHECK(large.image.width == 1200);
    CHECK(large.image.height == 600);
    CHECK(std::count(large.text.begin(), large.text.end(), '\n')
          < std::count(usual.text.begin(), usual.text.end(), '\n'));
    CHECK_THROWS_AS(picture_of("mesh-8", "comm", {1200, 600}, 10), Error);
    CHECK_THROWS_AS(picture_of("mesh-8", "comm", {210, 160}, 2), Error);
}

TEST_CASE("a picture that is too low for a table ends with how many rows it leaves out") {
    const Pictured p = picture_of("llama-3.1-405b-16k", "comm", {900, 420});
    CHECK(p.image.height == 420);
    CHECK(p.says(" more rows"));
    CHECK_FALSE(p.says("updated parameters"));
}

TEST_CASE(
    "a low picture of Compare ends with how many reasons it leaves out; of open height it has them all") {
    const Pictured low = picture_of("llama-3-8b-fsdp", "compare", {1280, 720}, 1.5f);
    CHECK(low.says("\ncompute\n"));
    CHECK(low.says("… and 4 more"));
    CHECK_FALSE(low.says("\nslowed by traffic\n"));
    CHECK_FALSE(low.says("TIMELINES ON ONE TIME AXIS"));
    const Pictured open = picture_of("llama-3-8b-fsdp", "compare", {1280, 0}, 1.5f);
    for (const char* words : {"slowed by traffic", "data parallel exposed", "optimizer", "step",
                              "WHAT DIFFERS", "TIMELINES ON ONE TIME AXIS"})
        CHECK_MESSAGE(open.says("\n" + std::string(words) + "\n"), words);
    CHECK_FALSE(open.says("… and "));
}

TEST_CASE("a picture shows what is chosen and names no switch; bars carry their figures") {
    const Pictured p = picture_of("llama-3-70b-3d", "memory", {1600, 900});
    CHECK_FALSE(p.says("stages\n"));
    CHECK_FALSE(p.says("saved\n"));
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Evaluation e = evaluate(presets.plan("llama-3-70b-3d"));
    for (const StageMemory& s : e.memory.stage) CHECK(p.says(memory_text(s.activations)));
}

TEST_CASE("a picture of the window is drawn at once while a search runs beside it") {
    Driver d("deepseek-v3-2048", {1600, 1000}, 1, {}, {}, {}, true);
    d.until([&] { return d.shell.views().search.found && d.shell.views().search.found->running; });
    PictureRequest r;
    r.screen = d.shell.screen();
    REQUIRE(r.screen->views.search.found->running);
    const Image image = decode_png(make_picture(d.presets, d.plan(), r, "png",
                                                find_fonts(std::filesystem::path(SOURCE_DIR) / "assets")));
    CHECK(image.width == 1600);
    CHECK(image.height == 900);
    CHECK(d.shell.views().search.found->running);  // the window's own goes on
}

}  // namespace pentamesh::ui
