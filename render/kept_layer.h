// Parts of the window that do not change: drawn once on a texture as large as the window, then copied from
// it.
#pragma once

#include "render/surface.h"

namespace pentamesh {

// The texture's generation in the current surface: it grows when the content is lost (new size or scale).
// 0: no texture, since the surface does not draw every frame or the driver has none. Makes the texture where
// there is none: needs a current OpenGL context.
[[nodiscard]] std::uint64_t kept_generation();
// A canvas that draws part `r` of the window on the texture, over `ground`.
[[nodiscard]] Canvas kept_canvas(const FrameInfo& info, Rect r, Color ground);
// Shows part `r` of the texture in this frame, behind everything that the frame draws.
void show_kept(const FrameInfo& info, Rect r);

// How much a canvas has drawn so far: with drawn_since it compares a part's drawing in two frames.
struct DrawMark {
    int vertices = 0;
    std::size_t grids = 0;
};
[[nodiscard]] DrawMark drawn_so_far(const Canvas& canvas);
// A hash of everything drawn after the mark.
[[nodiscard]] std::uint64_t drawn_since(const Canvas& canvas, const DrawMark& mark);

}  // namespace pentamesh
