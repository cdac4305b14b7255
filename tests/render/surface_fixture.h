// All cases that draw share one surface: an OpenGL context takes longer to make than a frame.
#pragma once

#include "render/surface.h"

#include <cstdint>
#include <functional>

namespace pentamesh::test {

inline const FontFiles& fonts() {
    static const FontFiles files = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    return files;
}

// Returns the picture of one frame of `draw` on a canvas over the whole surface.
inline Image picture(Vec2 size, float scale, const std::function<void(Canvas&)>& draw) {
    static Offscreen surface({64, 64}, 1, fonts());
    static double time_s = 0;
    surface.resize(size, scale);
    surface.frame({}, time_s += 1.0 / 60, [&](const FrameInfo& info) {
        Canvas canvas = frame_canvas(info);
        draw(canvas);
    });
    return surface.read();
}

inline Color pixel(const Image& image, int x, int y) {
    const auto at =
        (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x))
        * 4;
    return {image.pixels[at], image.pixels[at + 1], image.pixels[at + 2], image.pixels[at + 3]};
}

// Returns the smallest rectangle of pixels that are not black, {0, 0, 0, 0} where all are.
inline Rect drawn(const Image& image) {
    int x0 = image.width, y0 = image.height, x1 = -1, y1 = -1;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const Color c = pixel(image, x, y);
            if (c.r + c.g + c.b == 0) continue;
            x0 = std::min(x0, x);
            y0 = std::min(y0, y);
            x1 = std::max(x1, x);
            y1 = std::max(y1, y);
        }
    if (x1 < 0) return {};
    return {static_cast<float>(x0), static_cast<float>(y0), static_cast<float>(x1 - x0 + 1),
            static_cast<float>(y1 - y0 + 1)};
}

}  // namespace pentamesh::test
