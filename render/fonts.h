// These are Dear ImGui's own fonts, which only text fields use: a few sizes of each face, of which the
// nearest is taken. The text of a Canvas comes from GlyphCache.
#pragma once

#include "render/surface.h"

struct ImFont;

namespace pentamesh {

// Rebuilds the atlas of the current context for a scale. Throws Error where a file cannot be read.
void build_fonts(const FontFiles& files, float scale);
[[nodiscard]] ImFont* font_at(Face face, float size);

}  // namespace pentamesh
