// Three type faces say which glyph a character is, how far it advances, and how it looks at a size. Distances
// are in ems and never hinted, so a text has the same width at every scale and on a page.
#pragma once

#include "render/surface.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

struct FT_FaceRec_;

namespace pentamesh {

inline constexpr int kFaceCount = 3;

struct GlyphRef {
    Face face = Face::regular;  // a face that has the character: another than the wanted one where that lacks
                                // it
    std::uint32_t index = 0;
    float advance = 0;  // ems
};

struct GlyphBitmap {
    int left = 0, top = 0;  // of the bitmap against the pen: right of it, above the baseline
    int width = 0, height = 0;
    std::vector<std::uint8_t> alpha;  // rows top down
};

class TypeFaces {
  public:
    // Throws Error (kind io) naming the file that cannot be read.
    explicit TypeFaces(const FontFiles& files);
    ~TypeFaces();
    TypeFaces(const TypeFaces&) = delete;
    TypeFaces& operator=(const TypeFaces&) = delete;

    // Returns the glyph of a character. Digits are the font's tabular forms, as wide as each other.
    [[nodiscard]] GlyphRef glyph(Face face, char32_t character) const;
    // Returns the distance from the middle of a line box down to the baseline, in ems: the middle of ascent
    // and descent of the regular face, for all faces, so that they share a baseline.
    [[nodiscard]] float baseline_below_middle() const;
    // Draws the glyph `em` pixels high, its pen `sub_x` (0 to 1) right of a pixel's edge. Overwrites `out`.
    void rasterise(const GlyphRef& glyph, float em, float sub_x, GlyphBitmap& out) const;
    [[nodiscard]] FT_FaceRec_* freetype(Face face) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Takes the first character off `rest` and returns it; U+FFFD for bytes that are no UTF-8.
[[nodiscard]] char32_t take_character(std::string_view& rest);

}  // namespace pentamesh
