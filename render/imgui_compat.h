// The one place that knows how Dear ImGui changed between 1.86 and 1.92.
#pragma once

#include "render/input.h"

#include <cstdint>
#include <span>

struct ImDrawList;
struct ImFont;
struct ImFontAtlas;

namespace pentamesh {

// Feeds synthetic input to the current context before NewFrame; positions are multiplied by `scale`.
void feed_input(const SyntheticInput& input, Vec2 size, float scale, double seconds_since_last);
// Where the platform backend reports keys by its own codes, nothing; called once after the backend has
// started.
void prepare_synthetic_keys();

// The field of that label in the current window gets the keyboard when it is drawn next.
[[nodiscard]] bool takes_keyboard(const char* label);
// Before NewFrame: a key that went down and up again since the last frame is down for this one, with the
// modifiers that were held then. Since 1.87 Dear ImGui's own queue sees to that.
void press_struck_keys();
[[nodiscard]] bool any_key_down();
// Whether the current context keeps input back for the next frames: since 1.87 it takes a press and its
// release one frame after the other.
[[nodiscard]] bool input_kept_back();

// Empties the atlas of the current context and has FreeType rasterise what is then added to it.
void begin_fonts(ImFontAtlas& atlas);
inline constexpr int kAtlasWidth = 2048;  // texels, a few of which it keeps for itself
// Builds the atlas with a region of that size in it for glyphs of our own. False where it cannot be built, or
// has no room for the region.
[[nodiscard]] bool finish_fonts(ImFontAtlas& atlas, int region_width, int region_height);
// After finish_fonts in a context whose renderer has drawn before: the texture follows.
void refresh_font_texture();

// Our region of the current context's atlas; from 1.92 on it can move within a frame, so ask again.
struct AtlasRegion {
    int x = 0, y = 0, width = 0, height = 0;  // texels
    float u = 1, v = 1;                       // of one texel
};
[[nodiscard]] AtlasRegion atlas_region();
// Puts `alpha` (rows top down) at (x, y) of our region. Needs a current OpenGL context.
void upload_to_atlas(int x, int y, int width, int height, const std::uint8_t* alpha);

// Empties a list of our own for drawing in this frame within these pixels.
void start_list(ImDrawList& list, float x0, float y0, float x1, float y1);
// Draws such lists on the framebuffer that is bound, as large as the window.
void draw_lists(std::span<ImDrawList* const> lists);

// Draws with an OpenGL texture of our own until pop_texture.
void push_texture(ImDrawList& list, unsigned name);
void pop_texture(ImDrawList& list);
[[nodiscard]] float height_of(const ImFont& font);  // pixels, as it was added
void push_font(ImFont& font);

}  // namespace pentamesh
