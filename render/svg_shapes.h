// Shapes on their way into an SVG file: those that look alike become one path, so that a picture of thousands
// of blocks is small. The order of what overlaps stays.
#pragma once

#include "render/canvas.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Hundredths of a pixel: what a file keeps of a coordinate.
[[nodiscard]] std::int64_t svg_hundredths(float v);
void put_svg_hundredths(std::string& out, std::int64_t n);  // 1234 -> "12.34", 50 -> ".5"

// The `d` of a path, each point said from the one before.
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
    // One of some outlines that are filled alike. `opaque` ones may overlap one another.
    void fill(std::span<const Vec2> outline, const std::string& attributes, bool opaque);
    // Lines that are drawn alike.
    void stroke(std::span<const Vec2> points, bool closed, const std::string& attributes, float width,
                bool opaque);
    // Pairs of points, a line each.
    void stroke_pairs(std::span<const Vec2> points, const std::string& attributes, float width);
    // An element by itself.
    void element(std::string text, Rect covers);
    // Writes all that was given.
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
    // The group that shapes of this kind which cover `box` go into.
    SvgPath& path_for(const std::string& attributes, Rect box, bool opaque);
    void make_room();
};

}  // namespace pentamesh
