// Controls that are scrolled out of their panel take no mouse: these functions say which part of a place is
// seen.
#pragma once

#include "render/canvas.h"

namespace pentamesh {

// Returns true if something drawn at this point now would be seen. It is always true where only a page is
// drawn.
[[nodiscard]] bool inside_clip(const Canvas& canvas, Vec2 at);
// Returns the number of clips that are pushed on the screen's list; 0 where only a page is drawn.
[[nodiscard]] int clip_depth(const Canvas& canvas);

}  // namespace pentamesh
