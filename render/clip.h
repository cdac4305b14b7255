// What of a place is seen: controls that are scrolled out of their panel take no mouse.
#pragma once

#include "render/canvas.h"

namespace pentamesh {

// Whether something drawn at this point now would be seen. Always true where nothing is drawn but a page.
[[nodiscard]] bool inside_clip(const Canvas& canvas, Vec2 at);
// How many clips are pushed on the screen's list; 0 where nothing is drawn but a page.
[[nodiscard]] int clip_depth(const Canvas& canvas);

}  // namespace pentamesh
