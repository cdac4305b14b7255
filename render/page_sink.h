// What a page must be able to draw: every primitive of the canvas comes down to these.
#pragma once

#include "render/canvas.h"
#include "render/type_faces.h"

#include <span>

namespace pentamesh {

// A glyph at its pen, on the baseline.
struct PlacedGlyph {
    GlyphRef glyph;
    Vec2 pen;
    char32_t character = 0;
};

class PageSink {
  public:
    virtual ~PageSink() = default;
    virtual void fill(std::span<const Vec2> polygon, Color color) = 0;
    virtual void fill_rect(Rect r, Color color, float radius) = 0;
    // Many rectangles of one colour, as one shape.
    virtual void fill_rects(std::span<const Rect> rects, Color color) = 0;
    virtual void stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) = 0;
    // Separate lines of one colour as one shape: points 2k to 2k + 1.
    virtual void stroke_pairs(std::span<const Vec2> points, Color color, float width) = 0;
    virtual void text(std::span<const PlacedGlyph> glyphs, float size, Color color) = 0;
    virtual void push_clip(Rect r) = 0;
    virtual void pop_clip() = 0;
    [[nodiscard]] virtual const TypeFaces& faces() const = 0;
};
[[nodiscard]] PageSink& sink_of(Page& page);

}  // namespace pentamesh
