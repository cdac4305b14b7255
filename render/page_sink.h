// What a page must be able to draw: every primitive of the canvas comes down to these.
#pragma once

#include "render/canvas.h"

#include <span>
#include <string_view>

namespace pentamesh {

class PageSink {
  public:
    virtual ~PageSink() = default;
    virtual void fill(std::span<const Vec2> polygon, Color color) = 0;
    virtual void fill_rect(Rect r, Color color, float radius) = 0;
    virtual void stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) = 0;
    // `at`: left end of the baseline.
    virtual void text(Vec2 at, std::string_view utf8, const TextStyle& style) = 0;
    virtual void push_clip(Rect r) = 0;
    virtual void pop_clip() = 0;
};
[[nodiscard]] PageSink& sink_of(Page& page);

}  // namespace pentamesh
