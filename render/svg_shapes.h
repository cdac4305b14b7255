// Collects shapes on their way into an SVG file: those with the same attributes become one path, so that a
// picture of thousands of blocks is small. Shapes that overlap stay in order.
#pragma once

#include "render/canvas.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

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
