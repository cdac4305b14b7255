// A texture that is white everywhere, with one byte a pixel as its opacity.
#pragma once

#include <cstdint>

namespace pentamesh {

// All of it clear. OpenGL's name of it.
[[nodiscard]] unsigned make_alpha_texture(int side);
// Opacities, rows top down, at a place of it.
void put_alpha(unsigned texture, int x, int y, int width, int height, const std::uint8_t* alpha);

}  // namespace pentamesh
