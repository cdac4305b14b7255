// An image in the window: a picture's preview. It is drawn on the screen alone, not on pages.
#pragma once

#include "render/surface.h"

#include <cstdint>

namespace pentamesh {

// Within `r`, as large as that has room for, at the top of its middle; returns where. One image is kept in
// the surface's texture by its `key` (not 0) until another key is shown. Needs a current OpenGL context.
Rect show_image(Canvas& canvas, Rect r, const Image& image, std::uint64_t key);

}  // namespace pentamesh
