// Compares a picture with the one that a person checked: tile by tile.
#pragma once

#include "render/surface.h"

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

}  // namespace pentamesh::ui
