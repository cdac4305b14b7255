// Canvases draw with these textures. The first has a white texel, lines of each width and the patterns; all
// of them have glyphs, rasterised when a text first needs them, at each size and quarter of a pixel.
#pragma once

#include "render/canvas.h"
#include "render/type_faces.h"

#include <array>
#include <cstdint>
#include <imgui.h>
#include <unordered_map>
#include <vector>

namespace pentamesh {

struct GlyphSlot {
    std::int16_t left = 0, top = 0;  // as in GlyphBitmap
    std::uint16_t width = 0, height = 0;
    std::uint16_t x = 0, y = 0;  // on its page
    std::int16_t page = -1;      // -1: nothing to draw
};

// It needs a current OpenGL context whenever it is used.
class GlyphCache {
  public:
    explicit GlyphCache(const TypeFaces& faces) : faces_(&faces) {}
    ~GlyphCache();
    GlyphCache(const GlyphCache&) = delete;
    GlyphCache& operator=(const GlyphCache&) = delete;

    // Deletes all pages. Nothing that was drawn with them may be submitted afterwards.
    void reset();
    // Makes the first page for this scale if it is missing; resets before if there are too many pages.
    void start_frame(float scale);
    // `sub` is the quarter of a pixel, 0 to 3.
    [[nodiscard]] GlyphSlot get(const GlyphRef& glyph, float em, int sub);
    // Returns the picture of a pattern (pattern_picture), which lies on page 0.
    [[nodiscard]] GlyphSlot pattern(Pattern pattern) const {
        return patterns_[static_cast<std::size_t>(pattern)];
    }
    // Returns OpenGL's name of a page's texture, kPageSide pixels a side.
    [[nodiscard]] unsigned texture(int page) const { return pages_[page].texture; }
    static constexpr int kPageSide = 2048;
    // Lines of 0 to kWidestLine whole pixels lie on page 0, as Dear ImGui bakes them: row n has n white
    // texels and a clear one on each side. These are the texture coordinates of the row's two ends.
    static constexpr int kWidestLine = IM_DRAWLIST_TEX_LINES_WIDTH_MAX;
    using LineRows = std::array<ImVec4, kWidestLine + 1>;
    [[nodiscard]] const LineRows& line_rows() const { return lines_; }
    // Returns the texture coordinates of the middle of the white texels.
    [[nodiscard]] Vec2 white() const { return white_; }

  private:
    struct Shelf {
        int y = 0, height = 0, x = 0;
    };
    struct Page {
        unsigned texture = 0;
        int used = 0;
        std::vector<Shelf> shelves;
    };
    [[nodiscard]] GlyphSlot make(const GlyphRef& glyph, float em, int sub);
    [[nodiscard]] static bool place(Page& page, int width, int height, GlyphSlot& slot);
    void add_page();
    void add_first_page(float scale);
    // Uploads opacities (rows top down) to a part of the last page.
    GlyphSlot put(int width, int height, const std::uint8_t* alpha);

    const TypeFaces* faces_;
    std::unordered_map<std::uint64_t, GlyphSlot> slots_;
    std::vector<Page> pages_;
    std::array<GlyphSlot, 4> patterns_{};  // by Pattern
    LineRows lines_{};
    Vec2 white_;
    GlyphBitmap bitmap_;
};

// These are Dear ImGui's own fonts, which only text fields use: a few sizes of each face, of which the
// nearest is taken. The text of a Canvas comes from GlyphCache.

// Rebuilds the atlas of the current context for a scale. Throws Error where a file cannot be read.
void build_fonts(const FontFiles& files, float scale);
[[nodiscard]] ImFont* font_at(Face face, float size);

}  // namespace pentamesh
