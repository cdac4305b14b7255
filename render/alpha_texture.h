// Textures of our own that Dear ImGui's shader can draw: white, with one byte of opacity a pixel.
#pragma once

#include <cstdint>

namespace pentamesh {

// Fills the texture that is bound.
void set_alpha_texture(int width, int height, const std::uint8_t* alpha);

}  // namespace pentamesh
