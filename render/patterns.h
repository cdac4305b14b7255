// Hatching and dots as tiles, so that a pattern costs four vertices however large its rectangle is.
#pragma once

#include "render/canvas.h"

namespace pentamesh {

inline constexpr float kPatternStep = 4;  // logical pixels from line to line, along x
inline constexpr float kPatternDotRadius = 0.7f;

class PatternTiles {
  public:
    PatternTiles() = default;
    ~PatternTiles() { reset(); }
    PatternTiles(const PatternTiles&) = delete;
    PatternTiles& operator=(const PatternTiles&) = delete;
    void reset();  // the scale changes
    // OpenGL name of a tile, made at first need; a tile is side(scale) physical pixels wide and high.
    [[nodiscard]] unsigned texture(Pattern pattern, float scale);
    [[nodiscard]] static int side(float scale);

  private:
    std::array<unsigned, 4> texture_{};  // by Pattern
};

}  // namespace pentamesh
