// The one place that knows how Dear ImGui changed between 1.86 and 1.92.
#pragma once

#include "render/input.h"

struct ImFont;

namespace pentamesh {

// Feeds synthetic input to the current context before NewFrame; positions are multiplied by `scale`.
void feed_input(const SyntheticInput& input, Vec2 size, float scale, double seconds_since_last);
// Where the platform backend reports keys by its own codes, nothing; called once after the backend has
// started.
void prepare_synthetic_keys();

// Fonts. Until 1.91 an atlas is rasterised once, at the sizes added; since 1.92 glyphs are rasterised when
// they are first drawn, and at any size.
void rasterise_with_freetype();  // of the current context's atlas, before fonts are added
[[nodiscard]] bool rasterise();  // after they were added; false: could not
void upload_fonts();             // to the renderer, after they were rasterised anew
[[nodiscard]] float font_height(const ImFont& font);  // the size that it was added at, pixels
[[nodiscard]] float font_ascent(ImFont& font, float height);
// All digits as wide as the widest, so that figures stand still while they change. Within a frame; doing it
// again changes nothing, and since 1.92 it must be done in every frame, or the atlas may drop what was
// changed.
void make_tabular(ImFont& font);

}  // namespace pentamesh
