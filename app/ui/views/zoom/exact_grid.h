// Draws a count as boxes that can be counted: each box and each gap is a whole number of device pixels.
#pragma once

#include "render/canvas.h"

#include <cstdint>

namespace pentamesh::ui {

// Says which boxes are wanted; lengths are logical pixels.
struct BoxShape {
    float least_w = 5, least_h = 5;  // a smaller box is not drawn
    double aspect = 1.5;             // the best width over height
    enum class Rows : std::uint8_t { any, one_column, one_row } rows = Rows::any;
};

// Boxes of one size stand row by row from the top left; lengths are device pixels.
struct ExactGrid {
    std::int64_t count = 0;  // of the things that are drawn
    std::int64_t each = 1;   // things that one box stands for; the last box may stand for fewer
    std::int64_t boxes = 0;
    std::int64_t cols = 1, rows = 1;
    std::int64_t x = 0, y = 0, w = 0, h = 0, gap = 1;  // of the first box
    float scale = 1;                                   // device pixels per logical pixel

    // Returns the place of a box, in logical pixels.
    [[nodiscard]] Rect box(std::int64_t i) const;
    // Returns the box that stands for a thing.
    [[nodiscard]] Rect box_of(std::int64_t thing) const { return box(thing / each); }
    // Returns the place of all boxes, in logical pixels.
    [[nodiscard]] Rect outline() const;
    // Returns the box at a point in logical pixels; -1 between boxes and outside of them.
    [[nodiscard]] std::int64_t at(Vec2 point) const;
};
// Fills `room` (logical pixels) with boxes. Where it has no room for a box for each thing, a box stands for
// as many as divide the count, if such a number is near; there are no more than 4,096 boxes. `boxes` is 0
// where there is no room for one.
[[nodiscard]] ExactGrid exact_grid(Rect room, float scale, std::int64_t count, const BoxShape& shape);

}  // namespace pentamesh::ui
