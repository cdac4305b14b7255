#include "render/page.h"
#include "surface_fixture.h"

#include <doctest/doctest.h>
#include <functional>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

constexpr Color kInk{20, 30, 40, 255};
const std::string kPlan = "{\"format\": \"pentamesh.plan/1\", \"name\": \"]]> </metadata> Σ\"}\n";

std::string page(PageFormat format, const std::string& plan = kPlan) {
    Page p(format, {400, 300}, fonts(), "A & B <plan>", plan);
    Canvas c(nullptr, 1, &p);
    CellGrid g;
    g.count = 64;
    g.cell = {4, 4};
    g.origin = {10, 100};
    g.level[0] = {64, 16, 5, 5};
    g.digit[0] = {1, 8, 1};
    g.digits = 1;
    g.palette_size = 8;
    for (std::uint8_t i = 0; i < 8; ++i) g.palette[i] = {i, i, i, 255};
    c.rect({10, 10, 50, 20}, kInk, 4);
    c.push_clip({0, 0, 400, 200});
    c.cells(g);
    c.pattern({100, 10, 60, 40}, Pattern::cross_hatched, kInk, {240, 240, 240, 255});
    c.pattern({170, 10, 60, 40}, Pattern::dotted, kInk);
    c.pop_clip();
    c.curve({10, 200}, {50, 150}, {90, 250}, {130, 200}, kInk, 1, Dash::dashed);
    c.ring({200, 200}, 20, kInk);
    c.text({10, 60}, "Reduce-scatter 405.9 GB → ∈ 漢", {Face::regular, 13, kInk, 0});
    c.text({10, 80}, "bad \xff bytes", {Face::mono, 11.5f, kInk, 0.5f});
    return p.finish();
}

}  // namespace

TEST_CASE("A page has the same bytes every time, and gives back the plan inside") {
    if (!pages_available()) return;
    for (const PageFormat format : {PageFormat::svg, PageFormat::pdf}) {
        const std::string first = page(format);
        CHECK((page(format) == first));
        CHECK(first.size() > 2000);
        CHECK((read_embedded(first) == kPlan));
        CHECK((page(format, "other") != first));
    }
    const bool titled = page(PageFormat::svg).find("A &amp; B &lt;plan&gt;") != std::string::npos;
    CHECK(titled);
    std::string misleading = "<svg></svg>";
    embed_in_svg(misleading, "metadata id=\"pentamesh.plan\"", {"{}"});
    CHECK(read_embedded(misleading) == "{}");
}

TEST_CASE("A PDF says its language and has words for its figures, also where one ground hides another") {
    if (!pages_available()) return;
    PageSpec spec{PageFormat::pdf, {400, 300}, load_faces(fonts()), "two grounds", {}, 1, nullptr};
    spec.language = "de";
    Page p(spec);
    Canvas c(nullptr, 1, &p);
    for (int i = 0; i < 2; ++i) {
        c.rect({0, 0, 400, 300}, {255, 255, 255, 255});
        p.begin_piece("H1");
        c.text({10, 60}, "Heading", {Face::regular, 13, kInk, 0});
        p.end_piece();
        c.rect({0, 0, 400, 300}, {250, 250, 250, 255});
        c.text({10, 80}, "loose words", {Face::regular, 13, kInk, 0});
        p.begin_piece("Figure", "Aβ𝛿");
        c.rect({0, 0, 400, 300}, {240, 240, 240, 255});
        p.end_piece();
        if (i == 0) p.next();
    }
    const std::string pdf = p.finish();
    CHECK(pdf.find("/Marked true") != std::string::npos);
    CHECK(pdf.find("/Lang (de)") != std::string::npos);
    CHECK(pdf.find("/S /P\n") != std::string::npos);
    const std::size_t first = pdf.find("/Alt <FEFF004103B2D835DEFF>");
    REQUIRE(first != std::string::npos);
    CHECK(pdf.find("/Alt <FEFF004103B2D835DEFF>", first + 1) != std::string::npos);
    CHECK(pdf.find("/S /H1") != pdf.rfind("/S /H1"));
}

TEST_CASE("Nothing is found in bytes that no page wrote, however they were changed") {
    if (!pages_available()) return;
    // As Python's ElementTree writes it, and with the same part of a file named twice.
    CHECK(read_embedded("<ns0:svg><ns0:metadata id=\"pentamesh.plan\">e30=</ns0:metadata></ns0:svg>")
          == "{}");
    const std::string nested =
        "<svg><metadata id=\"pentamesh.plan <metadata id=\"pentamesh.plan\">e30=</metadata></svg>";
    CHECK(read_all_embedded(nested).size() == 1);
    CHECK(read_all_embedded("%PDF-1.4\nstream\nabc\n% pentamesh.plan 0 3 0 3 0 3\n").size() == 1);
    CHECK_FALSE(read_embedded("").has_value());
    CHECK_FALSE(read_embedded("<svg></svg>").has_value());
    CHECK_FALSE(read_embedded("%PDF-1.4\n% pentamesh.plan 99999999999 5\n").has_value());
    CHECK_FALSE(read_embedded("%PDF-1.4\n% pentamesh.plan 0 99999\nstream\nabc").has_value());
    const std::string pdf = page(PageFormat::pdf);
    for (std::size_t n = 0; n < pdf.size(); n += 97) static_cast<void>(read_embedded(pdf.substr(0, n)));
}

TEST_CASE("A page measures text as the screen does") {
    if (!pages_available()) return;
    const TextStyle style{Face::semibold, 14, kInk, 0.4f};
    float screen = 0;
    picture({50, 20}, 1.5f, [&](Canvas& c) { screen = c.text_width("1,024 groups of 8", style); });
    Page p(PageFormat::svg, {100, 100}, fonts(), "", "");
    CHECK(Canvas(nullptr, 1, &p).text_width("1,024 groups of 8", style) == screen);
}

TEST_CASE("Shapes that look alike are one path of an SVG, and what overlaps keeps its order") {
    const auto paths = [](const std::string& svg) {
        std::size_t n = 0;
        for (std::size_t at = 0; (at = svg.find("<path", at)) != std::string::npos; ++at) ++n;
        return n;
    };
    constexpr Color kRed{200, 0, 0, 255}, kGreen{0, 200, 0, 255};
    const auto drawn = [&](float apart) {
        Page p(PageFormat::svg, {8000, 100}, fonts(), "", "");
        Canvas c(nullptr, 1, &p);
        for (int i = 0; i < 400; ++i) {  // a red block and a green one on its middle, side by side or over it
            const auto x = static_cast<float>(i) * 20;
            c.rect({x, 0, 10, 10}, kRed);
            c.rect({x + apart, 0, 5, 10}, kGreen);
        }
        return p.finish();
    };
    CHECK(paths(drawn(10)) == 2);
    const std::string over = drawn(2);  // each green one lies on a red one
    CHECK(paths(over) == 2);            // of which none lies on a green one
    CHECK(over.find("#c80000") < over.find("#00c800"));
    Page p(PageFormat::svg, {100, 100}, fonts(), "", "");
    Canvas c(nullptr, 1, &p);
    c.rect({0, 0, 50, 50}, kRed);
    c.rect({10, 0, 50, 50}, kGreen);
    c.rect({20, 0, 50, 50}, kRed);  // over the green one: not drawn with the first
    c.rect({60, 60, 5, 5}, kRed.alpha(0.5f));
    c.rect({62, 60, 5, 5}, kRed.alpha(0.5f));  // shows through: not in one path
    CHECK(paths(p.finish()) == 5);
}

TEST_CASE("A hundred thousand cells are a few shapes on a page") {
    if (!pages_available()) return;
    Page p(PageFormat::pdf, {800, 600}, fonts(), "", "");
    CellGrid g;
    g.count = 100000;
    g.cell = {1, 1};
    g.level[0] = {100000, 400, 1.5f, 1.5f};
    g.palette_size = 1;
    Canvas(nullptr, 1, &p).cells(g);
    CHECK(p.finish().size() < 2000000);
}

TEST_CASE("A page draws only inside its clip") {
    if (!pages_available()) return;
    const auto drawn = [](const std::function<void(Canvas&)>& draw) {
        Page p(PageFormat::png, {40, 40}, fonts(), "clip", "");
        Canvas c(nullptr, 1, &p);
        c.rect({0, 0, 40, 40}, {255, 255, 255, 255});
        draw(c);
        c.rect({36, 36, 2, 2}, kInk);  // outside of the clip, which has ended
        return p.finish();
    };
    const std::string clipped = drawn([](Canvas& c) {
        c.push_clip({0, 0, 20, 40});
        c.rect({5, 5, 30, 30}, kInk);
        c.pop_clip();
    });
    const std::string small = drawn([](Canvas& c) { c.rect({5, 5, 15, 30}, kInk); });
    const std::string large = drawn([](Canvas& c) { c.rect({5, 5, 30, 30}, kInk); });
    const bool cut = clipped == small, changed = clipped != large;
    CHECK(cut);
    CHECK(changed);
}
