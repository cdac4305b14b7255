// Views draw on a Canvas. Coordinates, sizes and widths are logical pixels (96 per inch at scale 1); the
// canvas multiplies by its scale, so a view is laid out once for every sharpness. It draws to the screen (an
// ImDrawList) and, where a page is attached, the same primitives to it (SVG, PDF).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

struct ImDrawList;

namespace pentamesh {

struct Vec2 {
    float x = 0, y = 0;
    friend Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
    friend Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
    friend Vec2 operator*(Vec2 a, float k) { return {a.x * k, a.y * k}; }
    bool operator==(const Vec2&) const = default;
};

// Returns `at`, held between the two; `least` where the room is so small that `most` lies below it.
template <typename T>
[[nodiscard]] constexpr T held_between(T at, std::type_identity_t<T> least, std::type_identity_t<T> most) {
    return most <= least || at < least ? least : at > most ? most : at;
}

struct Rect {
    float x = 0, y = 0, w = 0, h = 0;
    [[nodiscard]] float right() const { return x + w; }
    [[nodiscard]] float bottom() const { return y + h; }
    [[nodiscard]] Vec2 min() const { return {x, y}; }
    [[nodiscard]] Vec2 max() const { return {x + w, y + h}; }
    [[nodiscard]] Vec2 center() const { return {x + w / 2, y + h / 2}; }
    [[nodiscard]] bool contains(Vec2 p) const { return p.x >= x && p.x < x + w && p.y >= y && p.y < y + h; }
    [[nodiscard]] Rect inset(float d) const { return {x + d, y + d, w - 2 * d, h - 2 * d}; }
    [[nodiscard]] Rect inset(float dx, float dy) const { return {x + dx, y + dy, w - 2 * dx, h - 2 * dy}; }
    [[nodiscard]] bool empty() const { return w <= 0 || h <= 0; }
    bool operator==(const Rect&) const = default;

    // Takes a strip off this rectangle and returns it.
    Rect cut_top(float d) {
        Rect r{x, y, w, d};
        y += d;
        h -= d;
        return r;
    }
    Rect cut_bottom(float d) {
        h -= d;
        return {x, y + h, w, d};
    }
    Rect cut_left(float d) {
        Rect r{x, y, d, h};
        x += d;
        w -= d;
        return r;
    }
    Rect cut_right(float d) {
        w -= d;
        return {x + w, y, d, h};
    }
};

// Colours are sRGB with straight alpha.
struct Color {
    std::uint8_t r = 0, g = 0, b = 0, a = 255;
    [[nodiscard]] constexpr Color alpha(float k) const {
        return {r, g, b, static_cast<std::uint8_t>(static_cast<float>(a) * k + 0.5f)};
    }
    bool operator==(const Color&) const = default;
};
[[nodiscard]] constexpr Color rgb(std::uint32_t hex) {
    return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
            static_cast<std::uint8_t>(hex), 255};
}
// Returns `a` where k = 0 and `b` where k = 1.
[[nodiscard]] Color mix(Color a, Color b, float k);
// Returns the contrast ratio of WCAG 2.1 (1 to 21) of two opaque colours.
[[nodiscard]] double contrast(Color a, Color b);

enum class Dash : std::uint8_t { solid, dashed, dotted };
// `sparse` is hatched with thinner lines, wider apart: for large surfaces.
enum class Pattern : std::uint8_t { solid, hatched, cross_hatched, dotted, sparse };
inline constexpr std::size_t kPatterns = 5;
enum class Face : std::uint8_t { regular, semibold, mono };
enum class Align : std::uint8_t { left, center, right };

struct TextStyle {
    Face face = Face::regular;
    float size = 13;  // 11, 11.5, 12, 13, 14, 16, 20, 28 are rasterised; others are scaled from the nearest
    Color color;
    float tracking = 0;  // extra distance between letters
    // Returns the same style in another colour.
    [[nodiscard]] TextStyle in(Color other) const { return {face, size, other, tracking}; }
};

// Describes a grid of same-size cells, one per rank, which is drawn in one call. The shader finds each
// pixel's cell and its colour from strides, so 131,072 cells cost what 8 do.
struct CellGrid {
    // Boxes are nested, innermost first: rank -> index in the box of level i is (rank / product of inner
    // sizes) % size; it stands at (index % cols, index / cols) * pitch. The outermost level may be partly
    // filled.
    struct Level {
        std::int32_t size = 1, cols = 1;
        float pitch_x = 0, pitch_y = 0;
    };
    // The id of a cell is the sum of ((rank / stride) % size) * weight; its colour is palette[id %
    // palette_size].
    struct Digit {
        std::int32_t stride = 1, size = 1, weight = 0;
    };
    std::int32_t first = 0, count = 0;  // instances: `count` of them, rank first + k * step
    std::int32_t step = 1;              // > 1: boxes merged, one cell stands for `step` ranks
    Vec2 origin;
    Vec2 cell;  // size of a cell
    std::array<Level, 4> level{};
    int levels = 1;
    std::array<Digit, 6> digit{};
    int digits = 0;
    std::array<Color, 64> palette{};
    int palette_size = 1;
    std::int32_t highlighted_id = -1;  // >= 0: cells of another id are mixed with `ground` by `dim`
    Color ground;
    float dim = 0.75f;
};
// Returns the top-left corner of a rank's cell, by the same arithmetic as the shader.
[[nodiscard]] Vec2 cell_position(const CellGrid& grid, std::int64_t rank);
[[nodiscard]] inline Rect cell_rect(const CellGrid& grid, std::int64_t rank) {
    const Vec2 at = cell_position(grid, rank);
    return {at.x, at.y, grid.cell.x, grid.cell.y};
}
[[nodiscard]] std::int64_t cell_id(const CellGrid& grid, std::int64_t rank);
// Returns the rank whose cell holds p, -1 where no cell does. It takes constant time.
[[nodiscard]] std::int64_t cell_at(const CellGrid& grid, Vec2 p);

class Page;  // page.h: SVG or PDF

class Canvas {
  public:
    // `list` may be null: the canvas then draws only to the page, and still measures text.
    Canvas(ImDrawList* list, float scale, Page* page = nullptr);

    void rect(Rect r, Color fill, float radius = 0);
    void frame(Rect r, Color color, float width = 1, float radius = 0, Dash dash = Dash::solid);
    // Fills a rectangle, and frames it.
    void box(Rect r, Color fill, Color line, float width = 1, float radius = 0) {
        rect(r, fill, radius);
        frame(r, line, width, radius);
    }
    // Hatched lines stand at 45 degrees, 4 apart; dots stand 4 apart. Where the alpha of `ground` is 0,
    // nothing is drawn behind the pattern.
    void pattern(Rect r, Pattern p, Color color, Color ground = {0, 0, 0, 0});
    void line(Vec2 a, Vec2 b, Color color, float width = 1, Dash dash = Dash::solid);
    void polyline(std::span<const Vec2> points, Color color, float width = 1, bool closed = false,
                  Dash dash = Dash::solid);
    void curve(Vec2 a, Vec2 control_a, Vec2 control_b, Vec2 b, Color color, float width = 1,
               Dash dash = Dash::solid);
    void polygon(std::span<const Vec2> convex, Color fill);
    void polygon(std::initializer_list<Vec2> convex, Color fill) {
        polygon(std::span(convex.begin(), convex.end()), fill);
    }
    void polyline(std::initializer_list<Vec2> points, Color color, float width = 1, bool closed = false,
                  Dash dash = Dash::solid) {
        polyline(std::span(points.begin(), points.end()), color, width, closed, dash);
    }
    void circle(Vec2 center, float radius, Color fill);
    void ring(Vec2 center, float radius, Color color, float width = 1);

    // `at` is the top-left of the line box (line height = size * 1.25 rounded); returns the advance.
    float text(Vec2 at, std::string_view utf8, const TextStyle& style);
    // Draws in a box: aligned, centred vertically, cut with an ellipsis when too long. Returns true when it
    // was cut.
    bool text_in(Rect box, std::string_view utf8, const TextStyle& style, Align align = Align::left);
    // Draws text wrapped at words; returns the height used. Where `line_height` is 0, the style's is used.
    float paragraph(Rect box, std::string_view utf8, const TextStyle& style, float line_height = 0);
    [[nodiscard]] float text_width(std::string_view utf8, const TextStyle& style) const;
    [[nodiscard]] float paragraph_height(float width, std::string_view utf8, const TextStyle& style,
                                         float line_height = 0) const;

    // Returns the lines that paragraph() draws, as they are wrapped.
    [[nodiscard]] std::vector<std::string_view> wrapped(float width, std::string_view utf8,
                                                        const TextStyle& style) const;

    void cells(const CellGrid& grid);

    void push_clip(Rect r);  // intersected with the current clip
    void pop_clip();
    // Clips while it lives.
    class Clip {
      public:
        Clip(Canvas& canvas, Rect r) : canvas_(canvas) { canvas_.push_clip(r); }
        ~Clip() { canvas_.pop_clip(); }
        Clip(const Clip&) = delete;
        Clip& operator=(const Clip&) = delete;

      private:
        Canvas& canvas_;
    };
    [[nodiscard]] Clip clip(Rect r) { return {*this, r}; }

    [[nodiscard]] float scale() const { return scale_; }
    [[nodiscard]] ImDrawList* list() const { return list_; }
    [[nodiscard]] Page* page() const { return page_; }

  private:
    template <typename Draw>
    void each(Draw&& draw) const;  // sink: the page's, the screen's
    void stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash);
    float put(Vec2 at, std::string_view utf8, const TextStyle& style);  // in no other words
    void draw_text(Vec2 pen, std::string_view utf8, const TextStyle& style);

    ImDrawList* list_;
    float scale_;
    Page* page_;
};

// Controls that are scrolled out of their panel take no mouse: these functions say which part of a place is
// seen.

// Returns true if something drawn at this point now would be seen. It is always true where only a page is
// drawn.
[[nodiscard]] bool inside_clip(const Canvas& canvas, Vec2 at);
// Returns the number of clips that are pushed on the screen's list; 0 where only a page is drawn.
[[nodiscard]] int clip_depth(const Canvas& canvas);

// A line of text may not end at every blank.

// Returns true if the blank at this place of a text stands between a number and its unit: "7.25 s", "38 %".
[[nodiscard]] bool before_unit(std::string_view text, std::size_t blank);

// Hatching and dots are pictures that repeat, so that a pattern costs a few vertices however large its
// rectangle is.

inline constexpr float kPatternDotRadius = 0.7f;

// Returns the logical pixels from line to line along x, and the width of a line.
[[nodiscard]] constexpr float pattern_step(Pattern pattern) {
    return pattern == Pattern::sparse ? 7 : 4;
}
[[nodiscard]] constexpr float pattern_line(Pattern pattern) {
    return pattern == Pattern::sparse ? 0.9f : 1.0f;
}
// Returns the number of physical pixels after which a pattern repeats, along x and y.
[[nodiscard]] int pattern_side(Pattern pattern, float scale);
// Returns the number of physical pixels that one picture of a pattern covers, from any phase: a multiple of
// the side.
[[nodiscard]] int pattern_span(Pattern pattern, float scale);
// Returns the picture: span + side pixels square, one byte of opacity each. It is not for Pattern::solid.
[[nodiscard]] std::vector<std::uint8_t> pattern_picture(Pattern pattern, float scale);

}  // namespace pentamesh
