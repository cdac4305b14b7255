// The two type families at every size of the look, rasterised for one scale by FreeType.
#pragma once

#include "render/surface.h"

struct ImFont;

namespace pentamesh {

// Rebuilds the atlas of the current ImGui context for a scale. Error where a file cannot be read.
void build_fonts(const FontFiles& files, float scale);
// Called in every frame before anything is drawn.
void keep_figures_tabular();
// The raster nearest to a size, and the factor by which it is to be drawn (1 where it is exact). Never null
// after build_fonts.
struct FontAtSize {
    ImFont* font = nullptr;
    float pixels = 0;  // height to draw it at
};
[[nodiscard]] FontAtSize font_at(Face face, float size);

}  // namespace pentamesh
