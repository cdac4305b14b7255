// Draws on a page: every primitive of the canvas is reduced to a few that Cairo has.
#pragma once

#include "render/sink.h"
#include "render/type_faces.h"

namespace pentamesh {

// Places a glyph at its pen, on the baseline.
struct PlacedGlyph {
    GlyphRef glyph;
    Vec2 pen;
    char32_t character = 0;
};

class PageSink : public Sink {
  public:
    void frame(Rect r, Color color, float width, float radius) override;
    void pattern(Rect r, Pattern pattern, Color color) override;
    void circle(Vec2 center, float radius, Color fill) override;
    void text(Vec2 pen, std::string_view utf8, const TextStyle& style) override;
    void cells(const CellGrid& grid) override;

    [[nodiscard]] virtual const TypeFaces& faces() const = 0;

  protected:
    virtual void glyphs(std::span<const PlacedGlyph> run, float size, Color color) = 0;
    // Fills many rectangles of one colour, as one shape.
    virtual void fill_rects(std::span<const Rect> rects, Color color) = 0;
    // Draws separate lines of one colour, as one shape: points 2k to 2k + 1.
    virtual void stroke_pairs(std::span<const Vec2> points, Color color, float width) = 0;
};
[[nodiscard]] PageSink& sink_of(Page& page);

}  // namespace pentamesh
