#include "render/canvas.h"
#include "surface_fixture.h"
#include "tests/near.h"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

constexpr Color kWhite{255, 255, 255, 255};

double brightness(const Image& image) {
    double sum = 0;
    for (std::size_t i = 0; i < image.pixels.size(); i += 4) sum += image.pixels[i];
    return sum / 255;
}

void everything(Canvas& c) {
    const TextStyle style{Face::regular, 13, kWhite, 0};
    c.rect({10, 10, 50, 20}, rgb(0xe69f00), 6);
    c.frame({70, 10, 50, 20}, rgb(0x56b4e9), 1, 3, Dash::dashed);
    c.pattern({10, 40, 50, 20}, Pattern::hatched, kWhite);
    c.pattern({70, 40, 50, 20}, Pattern::dotted, kWhite, rgb(0x262d38));
    c.line({10, 70}, {120, 90}, kWhite, 1.5f, Dash::dotted);
    c.curve({10, 100}, {40, 60}, {80, 140}, {120, 100}, rgb(0xd55e00), 2);
    c.circle({140, 50}, 8, rgb(0x12a37c));
    c.ring({140, 80}, 8, rgb(0xcc79a7));
    c.text({10, 110}, "405.9 B · 16,384 × ≤ √ σ", style);
    c.paragraph({10, 130, 130, 60}, "Every group of 8 lies inside NVLink; 4 per layer.", style);
}

}  // namespace

TEST_CASE("The same frame twice gives the same bytes, also after other sizes and scales") {
    const Image first = picture({160, 200}, 1, everything);
    CHECK(picture({160, 200}, 1, everything).pixels == first.pixels);
    picture({300, 100}, 1.75f, everything);
    CHECK(picture({160, 200}, 1, everything).pixels == first.pixels);
    CHECK(drawn(first).w > 100);
}

TEST_CASE("Two surfaces live beside each other") {
    const Image before = picture({160, 200}, 1, everything);
    {
        Offscreen other({80, 60}, 2, fonts());
        other.frame({}, 0, [](const FrameInfo& info) { frame_canvas(info).rect({0, 0, 80, 60}, kWhite); });
        CHECK(picture({160, 200}, 1, everything).pixels == before.pixels);
        const Image image = other.read();
        CHECK(image.width == 160);
        CHECK(pixel(image, 80, 60) == kWhite);
    }
    CHECK(picture({160, 200}, 1, everything).pixels == before.pixels);
}

TEST_CASE("A rectangle fills exactly its pixels, at every scale") {
    for (const float scale : {1.0f, 1.5f, 2.0f, 3.0f}) {
        const Image image = picture({60, 60}, scale, [](Canvas& c) { c.rect({10, 20, 30, 14}, kWhite); });
        CHECK(drawn(image) == Rect{10 * scale, 20 * scale, 30 * scale, 14 * scale});
        CHECK(brightness(image) == near(30 * 14 * scale * scale));
    }
}

TEST_CASE("Neighbouring rectangles neither overlap nor leave a gap") {
    const Image image = picture({103, 10}, 1, [](Canvas& c) {
        for (int i = 0; i < 10; ++i)
            c.rect({static_cast<float>(i) * 10.3f, 0, 10.3f, 10}, Color{255, 255, 255, 128});
    });
    for (int x = 0; x < 103; ++x) CHECK(pixel(image, x, 5).r == pixel(image, 0, 5).r);
}

TEST_CASE("A drawn text is as wide as it was measured") {
    for (const Face face : {Face::regular, Face::semibold, Face::mono})
        for (const float size : {11.0f, 11.5f, 13.0f, 17.3f, 28.0f})
            for (const float scale : {1.0f, 1.25f, 2.0f}) {
                // Both ends have the same side bearing: that of 'H'.
                const TextStyle style{face, size, kWhite, 0};
                float once = 0, twice = 0;
                const auto wide = [&](const char* text, float& measured) {
                    return drawn(picture({800, 50}, scale,
                                         [&](Canvas& c) {
                                             measured = c.text_width(text, style);
                                             c.text({8, 8}, text, style);
                                         }))
                               .w
                           / scale;
                };
                const float a = wide("H", once), b = wide("H and 1,234 GB/s of ×16 linksH", twice);
                CHECK(b - a == near(twice - once, 0.001 + 1.5 / (scale * (twice - once))));
            }
}

TEST_CASE("Widths do not depend on the scale, and figures are all as wide") {
    const TextStyle style{Face::regular, 13, kWhite, 0};
    float at_one = 0, at_two = 0, ones = 0, eights = 0;
    picture({100, 20}, 1, [&](Canvas& c) {
        at_one = c.text_width("reduce-scatter + all-gather, 4 per layer", style);
        ones = c.text_width("111", style);
        eights = c.text_width("808", style);
    });
    picture({100, 20}, 2,
            [&](Canvas& c) { at_two = c.text_width("reduce-scatter + all-gather, 4 per layer", style); });
    CHECK(at_one == at_two);
    CHECK(at_one > 200);
    CHECK(ones == near(eights));
}

TEST_CASE("Scale 2 is the same layout: every block of four pixels is about as bright as the one pixel") {
    const Image one = picture({160, 200}, 1, everything), two = picture({160, 200}, 2, everything);
    REQUIRE(two.width == 320);
    CHECK(brightness(two) / 4 == near(brightness(one), 0.06));
    // Coarse cells of 8 x 8 logical pixels, so that sharpness does not count.
    for (int by = 0; by < 25; ++by)
        for (int bx = 0; bx < 20; ++bx) {
            double a = 0, b = 0;
            for (int y = 0; y < 8; ++y)
                for (int x = 0; x < 8; ++x) a += pixel(one, bx * 8 + x, by * 8 + y).g;
            for (int y = 0; y < 16; ++y)
                for (int x = 0; x < 16; ++x) b += pixel(two, bx * 16 + x, by * 16 + y).g;
            CHECK(std::abs(a / 64 - b / 256) < 40);
        }
}

TEST_CASE("A text that is too long is cut and ends in an ellipsis inside its box") {
    const TextStyle style{Face::regular, 13, kWhite, 0};
    bool cut = false, whole = true;
    const Image image = picture({200, 40}, 1, [&](Canvas& c) {
        cut = c.text_in({20, 10, 80, 20}, "a very long title that does not fit", style);
        whole = c.text_in({120, 10, 80, 20}, "short", style);
    });
    CHECK(cut);
    CHECK_FALSE(whole);
    for (int y = 0; y < 40; ++y)
        for (int x = 101; x < 118; ++x) CHECK(pixel(image, x, y).r == 0);
}

TEST_CASE("A line does not end between a number and its unit") {
    const std::string text = "takes 7.25 s, or 38 % of 5 steps";
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == ' ' && before_unit(text, i)) kept.push_back(text.substr(i + 1, 1));
    CHECK(kept == std::vector<std::string>{"s", "%"});
    CHECK_FALSE(before_unit("7 ", 1));
    CHECK_FALSE(before_unit(" s", 0));
}

TEST_CASE("A paragraph is as high as it says, and a word wider than the room is broken") {
    const TextStyle style{Face::regular, 13, kWhite, 0};
    const char* text = "one two three\nfour\n\nFiveSixSevenEightNineTenElevenTwelve";
    picture({300, 300}, 1, [&](Canvas& c) {
        const float h = c.paragraph_height(80, text, style);
        CHECK(c.paragraph({0, 0, 80, 300}, text, style) == h);
        CHECK(h >= 16 * 6);
        CHECK(c.paragraph_height(0, "abc", style) == 16 * 3);  // no room at all: a letter a line
    });
}

TEST_CASE("Bytes that are no UTF-8, and characters that no font has, are drawn and measured") {
    const TextStyle style{Face::mono, 13, kWhite, 1};
    struct Case {
        const char* text;
        int characters;
    };
    for (const auto& [bound_text, characters] :
         {Case{"\xff\xfe\xc3", 3}, Case{"\xe2\x82", 2}, Case{"\xf0\x9f\x98\x80", 1}, Case{"漢字 עברית", 8},
          Case{"\x01\x1f\x7f", 3}}) {
        const auto& text = bound_text;
        float w = 0;
        picture({200, 40}, 1, [&](Canvas& c) {
            w = c.text({4, 4}, text, style);
            CHECK(c.text_width(text, style) == w);
            c.text_in({4, 20, 30, 16}, text, style);
        });
        CHECK(w == near(static_cast<float>(characters) * (0.6f * 13 + 1), 1e-5));  // all in the mono face
    }
}

TEST_CASE("A hatched rectangle costs by the picture, not by the line, and only where it is seen") {
    Offscreen surface({800, 600}, 1, fonts());
    const auto cost = [&](Rect r) {
        surface.frame({}, 0, [&](const FrameInfo& info) {
            for (const Pattern p :
                 {Pattern::hatched, Pattern::cross_hatched, Pattern::dotted, Pattern::sparse})
                frame_canvas(info).pattern(r, p, kWhite);
        });
        return surface.last_cost().vertices;
    };
    const int one = cost({0, 0, 10, 10});
    CHECK(one == 4 * 4);
    CHECK(cost({0, 0, 200, 200}) == one);
    CHECK(cost({0, 0, 800, 600}) <= 16 * one);
    CHECK(cost({-1e6f, -1e6f, 2e6f, 2e6f}) <= 25 * one);
}

TEST_CASE("Hatching covers as much of a rectangle as its lines do, and continues in the next") {
    const Image image = picture({80, 80}, 1, [](Canvas& c) {
        c.pattern({0, 0, 80, 80}, Pattern::hatched, kWhite);
    });
    // Lines 1 wide, 4 / sqrt(2) apart.
    CHECK(brightness(image) / 6400 == near(std::sqrt(2.0) / 4, 0.01));
    const Image sparse = picture({70, 70}, 1, [](Canvas& c) {
        c.pattern({0, 0, 70, 70}, Pattern::sparse, kWhite);
    });
    CHECK(brightness(sparse) / 4900 == near(0.9 * std::sqrt(2.0) / 7, 0.01));
    const Image split = picture({80, 80}, 1, [](Canvas& c) {
        c.pattern({0, 0, 33, 80}, Pattern::hatched, kWhite);
        c.pattern({33, 0, 47, 80}, Pattern::hatched, kWhite);
    });
    CHECK(split.pixels == image.pixels);
}

TEST_CASE("A dashed frame is drawn along all four of its edges") {
    const Image image = picture({60, 60}, 1, [](Canvas& c) {
        c.frame({10, 10, 40, 40}, kWhite, 2, 0, Dash::dashed);
    });
    const auto drawn_in = [&](Rect r) {
        int n = 0;
        for (int y = static_cast<int>(r.y); y < static_cast<int>(r.bottom()); ++y)
            for (int x = static_cast<int>(r.x); x < static_cast<int>(r.right()); ++x)
                n += pixel(image, x, y).r > 128 ? 1 : 0;
        return n;
    };
    // A dash of 6 and a gap of 5: of the 60 pixels of each, about half.
    for (const Rect edge :
         {Rect{15, 10, 30, 2}, Rect{48, 15, 2, 30}, Rect{15, 48, 30, 2}, Rect{10, 15, 2, 30}}) {
        CHECK(drawn_in(edge) > 10);
        CHECK(drawn_in(edge) < 50);
    }
}

TEST_CASE("A dashed line that a zoom made enormous costs what is seen of it") {
    Offscreen surface({200, 100}, 1, fonts());
    surface.frame({}, 0, [&](const FrameInfo& info) {
        frame_canvas(info).line({-1e7f, 50}, {1e7f, 50}, kWhite, 1, Dash::dotted);
    });
    CHECK(surface.last_cost().vertices < 2000);
    CHECK(drawn(surface.read()).w > 190);
}

TEST_CASE("A polyline of more points than Dear ImGui's indices count is drawn to its end") {
    std::vector<Vec2> points;
    for (int i = 0; i < 100000; ++i)
        points.push_back({static_cast<float>(i) / 1000 + 10, 20 + (i % 2 == 0 ? 0.0f : 10.0f)});
    const Image image = picture({120, 60}, 1, [&](Canvas& c) { c.polyline(points, kWhite); });
    CHECK(drawn(image).right() >= 109);
}

TEST_CASE("Positions that are no numbers draw nothing and end") {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    for (const float bad : {nan, inf, -inf}) {
        const Image image = picture({50, 50}, 1, [&](Canvas& c) {
            c.rect({bad, 0, 10, 10}, kWhite);
            c.rect({0, 0, bad, 10}, kWhite);
            c.frame({0, bad, 10, 10}, kWhite, 1, 2, Dash::dashed);
            c.pattern({0, 0, 10, bad}, Pattern::hatched, kWhite);
            c.line({bad, 0}, {10, 10}, kWhite, 1, Dash::dashed);
            c.text({bad, 0}, "text", {Face::regular, 13, kWhite, 0});
        });
        CHECK(drawn(image).empty());
    }
}

TEST_CASE("Sizes from nothing to 8K can be drawn") {
    for (const Vec2 size : {Vec2{0, 0}, Vec2{1, 1}, Vec2{640, 480}, Vec2{7680, 4320}}) {
        const Image image = picture(size, 1, everything);
        CHECK(image.width == std::max(1, static_cast<int>(size.x)));
    }
    CHECK(picture({640, 480}, 3, everything).width == 1920);
}

TEST_CASE("Contrast is that of WCAG 2.1") {
    CHECK(contrast(rgb(0x000000), rgb(0xffffff)) == near(21));
    CHECK(contrast(rgb(0x777777), rgb(0xffffff)) == near(4.48, 0.001));
    CHECK(contrast(rgb(0xe69f00), rgb(0xe69f00)) == near(1));
}
