// Textures that are white everywhere and have one byte a pixel as their opacity.
#pragma once

#include <cstdint>

namespace pentamesh {

// Returns OpenGL's name of a new texture that is transparent everywhere.
[[nodiscard]] unsigned make_alpha_texture(int side);
// Writes opacities, rows top down, to a part of the texture.
void put_alpha(unsigned texture, int x, int y, int width, int height, const std::uint8_t* alpha);

}  // namespace pentamesh
