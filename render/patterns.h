// Hatching and dots are pictures that repeat, so that a pattern costs a few vertices however large its
// rectangle is.
#pragma once

#include "render/canvas.h"

#include <cstdint>
#include <vector>

namespace pentamesh {

inline constexpr float kPatternStep = 4;  // logical pixels from line to line, along x
inline constexpr float kPatternDotRadius = 0.7f;

// Returns the number of physical pixels after which a pattern repeats, along x and y.
[[nodiscard]] int pattern_side(float scale);
// Returns the number of physical pixels that one picture of a pattern covers, from any phase: a multiple of
// the side.
[[nodiscard]] int pattern_span(float scale);
// Returns the picture: span + side pixels square, one byte of opacity each. It is not for Pattern::solid.
[[nodiscard]] std::vector<std::uint8_t> pattern_picture(Pattern pattern, float scale);

}  // namespace pentamesh
