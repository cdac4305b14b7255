#include "surface_fixture.h"

#include <doctest/doctest.h>
#include <random>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

CellGrid nodes_and_racks() {
    CellGrid g;
    g.count = 4 * 6 * 5 - 7;
    g.origin = {10, 12};
    g.cell = {4, 3};
    g.level[0] = {4, 2, 6, 5};
    g.level[1] = {6, 3, 14, 13};
    g.level[2] = {5, 2, 50, 30};
    g.levels = 3;
    g.digit[0] = {1, 4, 1};
    g.digit[1] = {12, 5, 4};
    g.digits = 2;
    g.palette_size = 20;
    for (int i = 0; i < 20; ++i)
        g.palette[static_cast<std::size_t>(i)] = {static_cast<std::uint8_t>(40 + 10 * i),
                                                  static_cast<std::uint8_t>(250 - 7 * i),
                                                  static_cast<std::uint8_t>(3 * i), 255};
    return g;
}

CellGrid random_grid(std::mt19937& random) {
    const auto in = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    CellGrid g;
    g.levels = in(1, 4);
    g.origin = {static_cast<float>(in(-100, 100)) * 0.37f, static_cast<float>(in(-100, 100)) * 0.51f};
    g.cell = {1 + static_cast<float>(in(0, 80)) * 0.1f, 1 + static_cast<float>(in(0, 80)) * 0.1f};
    Vec2 box = g.cell;
    std::int64_t all = 1;
    for (int i = 0; i < g.levels; ++i) {
        auto& l = g.level[static_cast<std::size_t>(i)];
        l.size = in(1, 12);
        l.cols = in(1, l.size);
        l.pitch_x = box.x + static_cast<float>(in(0, 30)) * 0.1f;
        l.pitch_y = box.y + static_cast<float>(in(0, 30)) * 0.1f;
        box = {l.pitch_x * static_cast<float>(l.cols),
               l.pitch_y * static_cast<float>((l.size + l.cols - 1) / l.cols)};
        all *= l.size;
    }
    g.count = static_cast<std::int32_t>(all);
    return g;
}

}  // namespace

TEST_CASE("cell_at finds the rank whose cell was placed there") {
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
        const CellGrid g = random_grid(random);
        for (std::int64_t rank = 0; rank < g.count; rank += 1 + g.count / 40) {
            const Vec2 at = cell_position(g, rank);
            REQUIRE(cell_at(g, at + g.cell * 0.5f) == rank);
            REQUIRE(cell_at(g, at + g.cell * 0.02f) == rank);
            REQUIRE(cell_at(g, at + g.cell * 0.98f) == rank);
        }
    }
}

TEST_CASE("Between cells, outside, and at positions that are no numbers there is no rank") {
    const CellGrid g = nodes_and_racks();
    CHECK(cell_at(g, {9, 12}) == -1);
    CHECK(cell_at(g, {10 + 5, 12}) == -1);  // cells are 4 wide, 6 apart
    CHECK(cell_at(g, {10, 12 + 4}) == -1);
    CHECK(cell_at(g, cell_position(g, g.count) + Vec2{1, 1}) == -1);
    CHECK(cell_at(g, {1e30f, 1e30f}) == -1);
    CHECK(cell_at(g, {std::nanf(""), 20}) == -1);
}

TEST_CASE("A level of one box needs no pitch") {
    CellGrid g;
    g.levels = 2;
    g.level[0] = {1, 1, 0, 0};
    g.level[1] = {4, 4, 10, 0};
    g.cell = {8, 8};
    g.count = 4;
    CHECK(cell_at(g, {25, 3}) == 2);
}

TEST_CASE("Every cell is drawn in its palette colour at its place, at scale 1 and 2") {
    const CellGrid g = nodes_and_racks();
    for (const float scale : {1.0f, 2.0f}) {
        const Image image = picture({120, 120}, scale, [&](Canvas& c) { c.cells(g); });
        for (std::int64_t rank = 0; rank < g.count; ++rank) {
            const Vec2 middle = (cell_position(g, rank) + g.cell * 0.5f) * scale;
            const Color wanted = g.palette[static_cast<std::size_t>(cell_id(g, rank) % g.palette_size)];
            REQUIRE(pixel(image, static_cast<int>(middle.x), static_cast<int>(middle.y)) == wanted);
        }
        const Vec2 last = (cell_position(g, g.count) + g.cell * 0.5f) * scale;
        CHECK(pixel(image, static_cast<int>(last.x), static_cast<int>(last.y)) == Color{0, 0, 0, 255});
    }
}

// Every pixel must be as the cells' places say: nothing is cut off, nothing is drawn beyond.
TEST_CASE("A run of cells is drawn whole: some ranks, every third of them, cells below a pixel, a zoom in") {
    struct Case {
        const char* what;
        std::int32_t first, step, count;
        float size;
        Vec2 cell;
    };
    for (const Case& k : {Case{"all", 0, 1, 113, 1, {4, 3}}, Case{"from the middle", 37, 1, 40, 1, {4, 3}},
                          Case{"every third", 5, 3, 30, 1, {4, 3}}, Case{"one", 112, 1, 1, 1, {4, 3}},
                          Case{"below a pixel", 0, 1, 113, 0.15f, {0.5f, 0.5f}},
                          Case{"larger than the picture", 1, 1, 93, 7.3f, {30, 22}}}) {
        CAPTURE(std::string(k.what));
        CellGrid g = nodes_and_racks();
        g.first = k.first, g.step = k.step, g.count = k.count;
        g.cell = k.cell;
        for (auto& l : g.level) l.pitch_x *= k.size, l.pitch_y *= k.size;
        const Image image = picture({120, 120}, 1, [&](Canvas& c) { c.cells(g); });
        std::vector<bool> wanted(std::size_t{120} * 120);
        for (std::int64_t i = 0; i < k.count; ++i) {
            const Vec2 at = cell_position(g, k.first + i * k.step);
            const auto low = [](float v) { return static_cast<int>(std::floor(v + 0.5f)); };
            const int x0 = low(at.x), y0 = low(at.y), x1 = std::max(low(at.x + g.cell.x), x0 + 1),
                      y1 = std::max(low(at.y + g.cell.y), y0 + 1);
            for (int y = std::max(0, y0); y < std::min(120, y1); ++y)
                for (int x = std::max(0, x0); x < std::min(120, x1); ++x)
                    wanted[static_cast<std::size_t>(y) * 120 + static_cast<std::size_t>(x)] = true;
        }
        int wrong = 0, highlighted = 0;
        for (int y = 0; y < 120; ++y)
            for (int x = 0; x < 120; ++x) {
                const bool is = !(pixel(image, x, y) == Color{0, 0, 0, 255});
                highlighted += is ? 1 : 0;
                wrong +=
                    is != wanted[static_cast<std::size_t>(y) * 120 + static_cast<std::size_t>(x)] ? 1 : 0;
            }
        CHECK(wrong == 0);
        CHECK(highlighted > 0);
    }
}

TEST_CASE("Cells honour the clip, and what is drawn after them is as before") {
    const CellGrid g = nodes_and_racks();
    const Color white{255, 255, 255, 255};
    const Image image = picture({120, 120}, 1, [&](Canvas& c) {
        c.push_clip({10, 12, 20, 20});
        c.cells(g);
        c.pop_clip();
        c.rect({100, 100, 10, 10}, white);
    });
    CHECK(drawn(picture({120, 120}, 1,
                        [&](Canvas& c) {
                            c.push_clip({10, 12, 20, 20});
                            c.cells(g);
                            c.pop_clip();
                        }))
              .right()
          <= 30);
    CHECK(pixel(image, 105, 105) == white);
}

TEST_CASE("Unlit cells are mixed with the ground") {
    CellGrid g = nodes_and_racks();
    g.highlighted_id = 0;
    g.ground = {0, 0, 0, 255};
    g.dim = 0.5f;
    const Image image = picture({120, 120}, 1, [&](Canvas& c) { c.cells(g); });
    const Vec2 highlighted = cell_position(g, 0), dim = cell_position(g, 1);
    CHECK(pixel(image, static_cast<int>(highlighted.x) + 1, static_cast<int>(highlighted.y) + 1)
          == g.palette[0]);
    const Color half = mix(g.palette[1], g.ground, 0.5f);
    const Color got = pixel(image, static_cast<int>(dim.x) + 1, static_cast<int>(dim.y) + 1);
    CHECK(std::abs(got.r - half.r) <= 1);
    CHECK(std::abs(got.g - half.g) <= 1);
}
