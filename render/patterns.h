// Hatching and dots as pictures that repeat, so that a pattern costs a few vertices however large its
// rectangle is.
#pragma once

#include "render/canvas.h"

#include <cstdint>
#include <vector>

namespace pentamesh {

inline constexpr float kPatternStep = 4;  // logical pixels from line to line, along x
inline constexpr float kPatternDotRadius = 0.7f;

// Physical pixels after which a pattern repeats, along x and y.
[[nodiscard]] int pattern_side(float scale);
// Physical pixels that one picture of a pattern covers, from any phase: a multiple of the side.
[[nodiscard]] int pattern_span(float scale);
// The picture: span + side pixels square, one byte of opacity each. Not for Pattern::solid.
[[nodiscard]] std::vector<std::uint8_t> pattern_picture(Pattern pattern, float scale);

}  // namespace pentamesh
