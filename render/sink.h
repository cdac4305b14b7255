// A canvas draws on a sink: the screen (screen_sink.h) or a page (page_sink.h). Coordinates are logical
// pixels.
#pragma once

#include "render/canvas.h"

#include <span>
#include <string_view>

namespace pentamesh {

class Sink {
  public:
    virtual ~Sink() = default;
    virtual void rect(Rect r, Color fill, float radius) = 0;
    virtual void frame(Rect r, Color color, float width, float radius) = 0;  // a solid line inside of `r`
    virtual void pattern(Rect r, Pattern pattern, Color color) = 0;          // not Pattern::solid
    virtual void stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) = 0;
    virtual void polygon(std::span<const Vec2> convex, Color fill) = 0;
    virtual void circle(Vec2 center, float radius, Color fill) = 0;
    // `pen` is the place where the first glyph begins, on the baseline.
    virtual void text(Vec2 pen, std::string_view utf8, const TextStyle& style) = 0;
    virtual void cells(const CellGrid& grid) = 0;
    virtual void push_clip(Rect r) = 0;
    virtual void pop_clip() = 0;
};

// The lengths of a dash and of the gap behind it, for a line of this width: 6 and 4 at 2. A dot is a circle
// as wide as the line, 4 from the next at 2.
struct DashLengths {
    float on = 0, off = 0;
};
[[nodiscard]] constexpr DashLengths lengths_of(Dash dash, float width) {
    return dash == Dash::dashed ? DashLengths{4 + width, 2 + width} : DashLengths{0.1f, 1.9f + width};
}
// Returns the outline of a rectangle with round corners, clockwise.
[[nodiscard]] std::vector<Vec2> rounded_outline(Rect r, float radius);

}  // namespace pentamesh
