// This is the one place that knows the two releases of Dear ImGui that the program is built with: 1.86, which
// Debian 12 has, and the pinned 1.91.9b.
#pragma once

#include "render/input.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

struct ImDrawList;
struct ImFontAtlas;

namespace pentamesh {

// Feeds synthetic input to the current context before NewFrame; positions are multiplied by `scale`.
void feed_input(const SyntheticInput& input, Vec2 size, float scale, double seconds_since_last);
// Does nothing where the platform backend reports keys by its own codes; it is called once after the backend
// has started.
void prepare_synthetic_keys();

// Returns true if Enter went down, for any receiver.
[[nodiscard]] bool enter_went_down();
// Comes before NewFrame: a key that went down and up again since the last frame is down for this one, with
// the modifiers that were held then. Since 1.87 Dear ImGui's own queue does that.
void hold_quick_keys();
// Comes between the backend's NewFrame and Dear ImGui's: these buttons of the mouse are down. `at`: where the
// mouse was when one of them changed, in the backend's coordinates; `now`: where it is.
void set_buttons(const std::array<bool, 3>& down, const std::optional<Vec2>& at, Vec2 now);
[[nodiscard]] bool any_key_down();
// Returns true if the current context keeps input back for the next frames: since 1.87 it takes a press and
// its release one frame after the other.
[[nodiscard]] bool input_kept_back();

// Empties Dear ImGui's atlas, which only text fields use, for fonts that FreeType rasterises.
void begin_fonts(ImFontAtlas& atlas);
// The texture follows after fonts were added in a context whose renderer has drawn before.
void refresh_font_texture();

// From here on the list draws with GlyphCache's first page, in this frame.
void use_own_texture(ImDrawList& list);
// Draws with another OpenGL texture until pop_texture.
void push_texture(ImDrawList& list, unsigned name);
void pop_texture(ImDrawList& list);

// Empties a list of our own for drawing in this frame within these pixels.
void start_list(ImDrawList& list, float x0, float y0, float x1, float y1);
// Draws such lists on the framebuffer that is bound, which is as large as the window.
void draw_lists(std::span<ImDrawList* const> lists);

}  // namespace pentamesh
