// Pictures of glyphs on textures, made when a text first needs them: exact at every size, a quarter of a
// pixel from where they belong. The patterns lie beside them on the first texture, so that bars, their
// hatching and their labels are one draw call.
#pragma once

#include "render/canvas.h"
#include "render/type_faces.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace pentamesh {

struct GlyphSlot {
    std::int16_t left = 0, top = 0;  // as in GlyphBitmap
    std::uint16_t width = 0, height = 0;
    std::uint16_t x = 0, y = 0;  // on its page
    std::int16_t page = -1;  // 0: the atlas of Dear ImGui, above: textures of our own, -1: nothing to draw
};

// Needs a current OpenGL context whenever it is used.
class GlyphCache {
  public:
    explicit GlyphCache(const TypeFaces& faces) : faces_(&faces) {}
    ~GlyphCache();
    GlyphCache(const GlyphCache&) = delete;
    GlyphCache& operator=(const GlyphCache&) = delete;

    // The atlas was built anew, or more was drawn than is worth keeping: forgets everything.
    void reset();
    void start_frame();
    // `sub`: quarter of a pixel, 0 to 3.
    [[nodiscard]] GlyphSlot get(const GlyphRef& glyph, float em, int sub);
    // The picture of a pattern (pattern_picture), always on page 0.
    [[nodiscard]] GlyphSlot pattern(Pattern pattern, float scale);
    // Name of the OpenGL texture of a page above 0; such pages are kOwnPage pixels a side.
    [[nodiscard]] unsigned texture(int page) const { return pages_[static_cast<std::size_t>(page)].texture; }
    static constexpr int kOwnPage = 1024;

  private:
    struct Shelf {
        int y = 0, height = 0, x = 0;
    };
    struct Page {
        unsigned texture = 0;
        int width = 0, height = 0, used = 0;
        std::vector<Shelf> shelves;
    };
    [[nodiscard]] GlyphSlot make(const GlyphRef& glyph, float em, int sub);
    [[nodiscard]] bool place(Page& page, int width, int height, GlyphSlot& slot) const;
    void first_page(float scale);
    void add_page();

    const TypeFaces* faces_;
    std::unordered_map<std::uint64_t, GlyphSlot> slots_;
    std::vector<Page> pages_;
    std::array<GlyphSlot, 4> patterns_{};  // by Pattern
    GlyphBitmap bitmap_;
};

}  // namespace pentamesh
