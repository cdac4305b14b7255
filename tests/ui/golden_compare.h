// Compares a picture with the one that a person checked: tile by tile, and word by word.
#pragma once

#include "render/surface.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Returns the share of pixels that differ by more than anti-aliasing or another font rasteriser explains; 1
// where sizes differ.
[[nodiscard]] double different(const Image& a, const Image& b);

struct TileReport {
    int tiles = 0, bad = 0;        // of 16 x 16 pixels; bad: more than a fifth of its pixels differs
    int worst_x = 0, worst_y = 0;  // top-left pixel of the worst
    double worst = 0;              // share of its pixels
};
[[nodiscard]] TileReport compare_tiles(const Image& a, const Image& b);

// Returns one line a run, "x y text", from the top down.
[[nodiscard]] std::string text_lines(const std::vector<TextRun>& runs);
// Returns "- " lines of `golden` that are missing and "+ " lines that are new; empty without differences. A
// run may be one pixel from its earlier place.
[[nodiscard]] std::string text_difference(std::string_view golden, std::string_view now);

}  // namespace pentamesh::ui
