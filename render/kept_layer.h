// Parts of the window that do not change are drawn once on a texture as large as the window, then copied from
// it.
#pragma once

#include "render/surface.h"

#include <cstdint>

namespace pentamesh {

// Returns the texture's generation in the current surface: it grows when the content is lost (new size or
// scale). It is 0 where there is no texture, since the surface does not draw every frame or the driver has
// none. Makes the texture if it is missing, which needs a current OpenGL context.
[[nodiscard]] std::uint64_t kept_generation();
// Returns a canvas that draws part `r` of the window on the texture, over `ground`.
[[nodiscard]] Canvas kept_canvas(const FrameInfo& info, Rect r, Color ground);
// Shows part `r` of the texture in this frame, behind everything that the frame draws.
void show_kept(const FrameInfo& info, Rect r);

// Says how much a canvas has drawn so far: with drawn_since it compares a part's drawing in two frames.
struct DrawMark {
    int vertices = 0;
    std::size_t grids = 0;
};
[[nodiscard]] DrawMark drawn_so_far(const Canvas& canvas);
// Returns a hash of everything drawn after the mark.
[[nodiscard]] std::uint64_t drawn_since(const Canvas& canvas, const DrawMark& mark);

// Shows an image in the window: a picture's preview. It is drawn only on the screen, not on pages.

// Shows the image within `r`, as large as that has room for, at the top of its middle; returns its rectangle.
// One image is kept in the surface's texture by its `key` (not 0) until another key is shown. It needs a
// current OpenGL context.
Rect show_image(Canvas& canvas, Rect r, const Image& image, std::uint64_t key);

}  // namespace pentamesh
