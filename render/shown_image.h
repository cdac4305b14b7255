// Shows an image in the window: a picture's preview. It is drawn only on the screen, not on pages.
#pragma once

#include "render/surface.h"

#include <cstdint>

namespace pentamesh {

// Shows the image within `r`, as large as that has room for, at the top of its middle; returns its rectangle.
// One image is kept in the surface's texture by its `key` (not 0) until another key is shown. It needs a
// current OpenGL context.
Rect show_image(Canvas& canvas, Rect r, const Image& image, std::uint64_t key);

}  // namespace pentamesh
