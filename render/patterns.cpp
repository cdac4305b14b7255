#include "render/patterns.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {

namespace {

// Returns the share of a pixel that lies within `half` of a line `distance` from its centre.
float coverage(float distance, float half) {
    return std::clamp(half + 0.5f - distance, 0.0f, 1.0f);
}

// Returns the same share for a line at 45 degrees, exact in area: the share of a pixel's diagonal square on
// one side of a line that passes its centre at `distance`, at both edges of the line.
float diagonal_coverage(float distance, float half) {
    const auto below = [](float at) {
        const float reach = std::max(0.0f, std::sqrt(0.5f) - std::abs(at));
        return at < 0 ? reach * reach : 1 - reach * reach;
    };
    return below(distance + half) - below(distance - half);
}

// Returns how much of pixel (x, y) of a tile the pattern covers. Its lines are x + y = 0 and, crossed, x - y
// = 0, modulo the side.
float covered(Pattern pattern, float x, float y, float side, float scale) {
    const auto to_line = [&](float c) {
        const float m = c - std::floor(c / side) * side;
        return std::min(m, side - m) / std::sqrt(2.0f);
    };
    switch (pattern) {
    case Pattern::hatched: return diagonal_coverage(to_line(x + y), scale / 2);
    case Pattern::cross_hatched:
        return std::max(diagonal_coverage(to_line(x + y), scale / 2),
                        diagonal_coverage(to_line(x - y), scale / 2));
    case Pattern::dotted: return coverage(std::hypot(x - side / 2, y - side / 2), kPatternDotRadius * scale);
    case Pattern::solid: break;
    }
    return 1;
}

}  // namespace

int pattern_side(float scale) {
    return std::max(2, static_cast<int>(std::lround(kPatternStep * scale)));
}

int pattern_span(float scale) {
    constexpr int kAbout = 256;  // most rectangles need one picture then
    const int side = pattern_side(scale);
    return std::max(1, kAbout / side) * side;
}

std::vector<std::uint8_t> pattern_picture(Pattern pattern, float scale) {
    const int side = pattern_side(scale), n = pattern_span(scale) + side;
    std::vector<std::uint8_t> alpha;
    alpha.reserve(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) {
            const auto px = static_cast<float>(x % side) + 0.5f, py = static_cast<float>(y % side) + 0.5f;
            const float share = covered(pattern, px, py, static_cast<float>(side), scale);
            alpha.push_back(static_cast<std::uint8_t>(std::lround(255 * share)));
        }
    return alpha;
}

}  // namespace pentamesh
