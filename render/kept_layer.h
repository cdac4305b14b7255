// Parts of the window that stay as they are: drawn once on a layer as large as the window, and from then on
// shown from there, each as one rectangle.
#pragma once

#include "render/surface.h"

namespace pentamesh {

// Of the current surface. Grows whenever what is on the layer is lost (another size or scale). 0: there is no
// layer, since the surface does not draw every frame, or the driver has none to give. Makes it: ask where
// something is to be kept, with a current OpenGL context.
[[nodiscard]] std::uint64_t layer_generation();
// A canvas that draws part `r` of the window on the layer, at the end of this frame, over `ground`.
[[nodiscard]] Canvas layer_canvas(const FrameInfo& info, Rect r, Color ground);
// Shows that part of the layer, behind whatever this frame draws in the window; all parts in one draw call.
void show_layer(const FrameInfo& info, Rect r);

// What a canvas has drawn so far, to compare what comes after it with another frame's.
struct DrawMark {
    int vertices = 0;
    std::size_t grids = 0;
};
[[nodiscard]] DrawMark drawn_so_far(const Canvas& canvas);
// Of everything drawn after the mark: the same for the same picture in the same place.
[[nodiscard]] std::uint64_t drawn_since(const Canvas& canvas, const DrawMark& mark);

}  // namespace pentamesh
