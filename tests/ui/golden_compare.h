// A picture against the one that was looked at: tile by tile, and word by word.
#pragma once

#include "render/surface.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Share of pixels that differ by more than anti-aliasing or another font rasteriser explains; 1: other sizes.
[[nodiscard]] double different(const Image& a, const Image& b);

struct TileReport {
    int tiles = 0, bad = 0;        // of 16 x 16 pixels; bad: more than a fifth of its pixels differs
    int worst_x = 0, worst_y = 0;  // top-left pixel of the worst
    double worst = 0;              // share of its pixels
};
[[nodiscard]] TileReport compare_tiles(const Image& a, const Image& b);

// One line a run, "x y text", from the top down.
[[nodiscard]] std::string text_lines(const std::vector<TextRun>& runs);
// "- " lines of `golden` that are missing and "+ " lines that are new; empty: none. A run may stand one pixel
// from where it stood.
[[nodiscard]] std::string text_difference(std::string_view golden, std::string_view now);

}  // namespace pentamesh::ui
