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
    g.lit_id = 0;
    g.ground = {0, 0, 0, 255};
    g.dim = 0.5f;
    const Image image = picture({120, 120}, 1, [&](Canvas& c) { c.cells(g); });
    const Vec2 lit = cell_position(g, 0), dim = cell_position(g, 1);
    CHECK(pixel(image, static_cast<int>(lit.x) + 1, static_cast<int>(lit.y) + 1) == g.palette[0]);
    const Color half = mix(g.palette[1], g.ground, 0.5f);
    const Color got = pixel(image, static_cast<int>(dim.x) + 1, static_cast<int>(dim.y) + 1);
    CHECK(std::abs(got.r - half.r) <= 1);
    CHECK(std::abs(got.g - half.g) <= 1);
}
