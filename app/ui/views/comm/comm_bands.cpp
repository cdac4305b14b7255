// Draws the bands that join the columns of the traffic.
#include "app/ui/views/comm/view.h"

#include <algorithm>
#include <array>

namespace pentamesh::ui {
namespace {

// A band's edge at a share of its way: level at both ends.
float eased(float from, float to, float k) {
    return from + (to - from) * k * k * (3 - 2 * k);
}

// Says where a ribbon's edges are at a place of its way.
struct Edges {
    const Ribbon& r;
    [[nodiscard]] float top(float x) const { return eased(r.from.y, r.to.y, share(x)); }
    [[nodiscard]] float bottom(float x) const { return eased(r.from.bottom(), r.to.bottom(), share(x)); }
    [[nodiscard]] float share(float x) const {
        return std::clamp((x - r.from.right()) / std::max(1.0f, r.to.x - r.from.right()), 0.0f, 1.0f);
    }
};

}  // namespace

void fill_ribbon(Canvas& c, const Ribbon& r, Color color) {
    const Edges edges{r};
    const float x0 = r.from.right(), x1 = r.to.x;
    const bool level = r.from.y == r.to.y && r.from.h == r.to.h;
    if (level) {
        c.rect({x0, r.from.y, x1 - x0, r.from.h}, color);
        return;
    }
    constexpr int kSlices = 48;
    for (int i = 0; i < kSlices; ++i) {
        const float a = x0 + (x1 - x0) * static_cast<float>(i) / kSlices,
                    b = x0 + (x1 - x0) * static_cast<float>(i + 1) / kSlices + 1;
        c.polygon({{a, edges.top(a)}, {b, edges.top(b)}, {b, edges.bottom(b)}, {a, edges.bottom(a)}}, color);
    }
}

void hatch_ribbon(Canvas& c, const Ribbon& r, Color color) {
    constexpr float kEvery = 7, kStride = 2;
    const Edges edges{r};
    const float x0 = r.from.right(), x1 = r.to.x;
    const float low = std::max(r.from.bottom(), r.to.bottom()), high = std::min(r.from.y, r.to.y);
    for (float foot = x0 - (low - high); foot < x1; foot += kEvery) {
        // The line is y = low - (x - foot).
        float begin = 0;
        bool inside = false;
        for (float x = std::max(x0, foot); x <= x1 + kStride; x += kStride) {
            const float y = low - (x - foot);
            const bool now = x <= x1 && y >= edges.top(x) && y <= edges.bottom(x);
            if (now && !inside) begin = x;
            if (!now && inside) c.line({begin, low - (begin - foot)}, {x - kStride, y + kStride}, color, 1);
            inside = now;
            if (y < high) break;
        }
    }
    constexpr int kSlices = 32;
    std::array<Vec2, kSlices + 1> upper, lower;
    for (int i = 0; i <= kSlices; ++i) {
        const float x = x0 + (x1 - x0) * static_cast<float>(i) / kSlices;
        upper[static_cast<std::size_t>(i)] = {x, edges.top(x)};
        lower[static_cast<std::size_t>(i)] = {x, edges.bottom(x)};
    }
    c.polyline(upper, color, 1);
    c.polyline(lower, color, 1);
}

}  // namespace pentamesh::ui
