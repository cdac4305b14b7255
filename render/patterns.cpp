#include "render/patterns.h"

#include "render/alpha_texture.h"

#include <algorithm>
#include <cmath>
#include <glad/gl.h>

namespace pentamesh {

namespace {

// Share of a pixel that lies within `half` of a line `distance` from its centre.
float coverage(float distance, float half) {
    return std::clamp(half + 0.5f - distance, 0.0f, 1.0f);
}

// How much of the pattern covers pixel (x, y) of a tile. Lines: x + y = 0 and, crossed, x - y = 0, modulo
// the side.
float covered(Pattern pattern, float x, float y, float side, float scale) {
    const auto to_line = [&](float c) {
        const float m = c - std::floor(c / side) * side;
        return std::min(m, side - m) / std::sqrt(2.0f);
    };
    switch (pattern) {
    case Pattern::hatched: return coverage(to_line(x + y), scale / 2);
    case Pattern::cross_hatched:
        return std::max(coverage(to_line(x + y), scale / 2), coverage(to_line(x - y), scale / 2));
    case Pattern::dotted: return coverage(std::hypot(x - side / 2, y - side / 2), kPatternDotRadius * scale);
    case Pattern::solid: break;
    }
    return 1;
}

}  // namespace

int PatternTiles::side(float scale) {
    return std::max(2, static_cast<int>(std::lround(kPatternStep * scale)));
}

void PatternTiles::reset() {
    for (unsigned& t : texture_) {
        if (t != 0) glDeleteTextures(1, &t);
        t = 0;
    }
}

unsigned PatternTiles::texture(Pattern pattern, float scale) {
    unsigned& name = texture_[static_cast<std::size_t>(pattern)];
    if (name != 0) return name;
    const int n = side(scale);
    std::vector<std::uint8_t> alpha;
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x)
            alpha.push_back(static_cast<std::uint8_t>(
                std::lround(255
                            * covered(pattern, static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f,
                                      static_cast<float>(n), scale))));
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    set_alpha_texture(n, n, alpha.data(), true);
    return name;
}

}  // namespace pentamesh
