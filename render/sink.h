// A canvas draws on a sink: the screen or a page. Coordinates are logical
// pixels.
#pragma once

#include "render/canvas.h"
#include "render/page.h"
#include "render/type_faces.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Draws on a page: every primitive of the canvas is reduced to a few that Cairo has.

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

// Behind a Page stands a sink that keeps the primitives that it is given.

struct Page::Impl : PageSink {
    virtual void next() {}
    virtual int outline(std::string_view, const PagePlace&, int) { return 0; }
    virtual void link(Rect, const PagePlace&) {}
    virtual void link(Rect, std::string_view) {}
    virtual void begin_piece(std::string_view, std::string_view) {}
    virtual void end_piece() {}
    virtual void begin_inset(Vec2, float) {}
    virtual void end_inset() {}
    [[nodiscard]] virtual std::string finish() = 0;
};
[[nodiscard]] std::unique_ptr<Page::Impl> make_svg_page(const PageSpec& spec);
// Makes PDF, PNG and outlines. Throws Error of kind io where the build has no Cairo.
[[nodiscard]] std::unique_ptr<Page::Impl> make_cairo_page(const PageSpec& spec);

// Draws into a Dear ImGui draw list. One texture has the white texel, the line widths, the patterns and the
// glyphs. So a list is one draw call as long as that texture has room.

class ScreenSink final : public Sink {
  public:
    // `scale` is the number of physical pixels per logical pixel.
    ScreenSink(ImDrawList& list, float scale) : list_(list), scale_(scale) {}
    void rect(Rect r, Color fill, float radius) override;
    void frame(Rect r, Color color, float width, float radius) override;
    void pattern(Rect r, Pattern pattern, Color color) override;
    void stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) override;
    void polygon(std::span<const Vec2> convex, Color fill) override;
    void circle(Vec2 center, float radius, Color fill) override;
    void text(Vec2 pen, std::string_view utf8, const TextStyle& style) override;
    void cells(const CellGrid& grid) override;
    void push_clip(Rect r) override;
    void pop_clip() override;

  private:
    [[nodiscard]] float snap(float logical) const;
    [[nodiscard]] Rect pixels(Rect r) const;  // on whole pixels, never thinner than one

    ImDrawList& list_;
    float scale_;
};

// Collects shapes on their way into an SVG file: those with the same attributes become one path, so that a
// picture of thousands of blocks is small. Shapes that overlap stay in order.

// Returns hundredths of a pixel: a file keeps a coordinate to this precision.
[[nodiscard]] std::int64_t svg_hundredths(float v);
void put_svg_hundredths(std::string& out, std::int64_t n);  // 1234 -> "12.34", 50 -> ".5"

// Builds the `d` of a path, where each point is relative to the one before.
class SvgPath {
  public:
    void move(Vec2 to);
    void line(Vec2 to);
    void close();
    [[nodiscard]] const std::string& text() const { return d_; }

  private:
    std::string d_;
    std::int64_t x_ = 0, y_ = 0, begun_x_ = 0, begun_y_ = 0;
    void put_two(std::int64_t a, std::int64_t b);
};

class SvgShapes {
  public:
    explicit SvgShapes(std::string& body) : body_(body) {}
    // Adds one of several outlines that are filled in the same way. `opaque` ones may overlap one another.
    void fill(std::span<const Vec2> outline, const std::string& attributes, bool opaque);
    // Adds lines that are drawn in the same way.
    void stroke(std::span<const Vec2> points, bool closed, const std::string& attributes, float width,
                bool opaque);
    // Adds pairs of points, a line each.
    void stroke_pairs(std::span<const Vec2> points, const std::string& attributes, float width);
    // Adds an element as it is.
    void element(std::string text, Rect covers);
    // Writes all shapes that were given.
    void flush();

  private:
    struct Group {
        std::string attributes;  // of a path; empty: `element` is all
        SvgPath path{};
        std::string element{};
        std::vector<Rect> covers{};
    };
    std::string& body_;
    std::vector<Group> groups_;  // in the order in which they are drawn
    std::size_t boxes_ = 0;
    // Returns the group for shapes of this kind that cover `box`.
    SvgPath& path_for(const std::string& attributes, Rect box, bool opaque);
    void make_room();
};

}  // namespace pentamesh
