#include "tests/ui/golden_compare.h"

#include <algorithm>
#include <cstdlib>

namespace pentamesh::ui {
namespace {

constexpr int kComparedTile = 16;
constexpr double kMostOfTile = 0.2;
constexpr int kMostOfChannel = 48;  // of 255, at the edge of a letter

bool differs(const Image& a, const Image& b, std::size_t pixel) {
    for (std::size_t k = 0; k < 3; ++k)
        if (std::abs(a.pixels[4 * pixel + k] - b.pixels[4 * pixel + k]) > kMostOfChannel) return true;
    return false;
}

}  // namespace

double different(const Image& a, const Image& b) {
    if (a.width != b.width || a.height != b.height) return 1;
    const std::size_t pixels = a.pixels.size() / 4;
    std::size_t bad = 0;
    for (std::size_t i = 0; i < pixels; ++i) bad += differs(a, b, i) ? 1 : 0;
    return static_cast<double>(bad) / static_cast<double>(pixels);
}

TileReport compare_tiles(const Image& a, const Image& b) {
    TileReport report;
    if (a.width != b.width || a.height != b.height) return {1, 1, 0, 0, 1};
    for (int top = 0; top < a.height; top += kComparedTile)
        for (int left = 0; left < a.width; left += kComparedTile) {
            const int right = std::min(left + kComparedTile, a.width),
                      bottom = std::min(top + kComparedTile, a.height);
            int bad = 0;
            for (int y = top; y < bottom; ++y)
                for (int x = left; x < right; ++x)
                    bad += differs(a, b,
                                   static_cast<std::size_t>(y) * static_cast<std::size_t>(a.width)
                                       + static_cast<std::size_t>(x))
                               ? 1
                               : 0;
            // A tile cut off by the edge counts as a whole one: a line along the edge is no fifth of it.
            const double share = bad / static_cast<double>(kComparedTile * kComparedTile);
            ++report.tiles;
            report.bad += share > kMostOfTile ? 1 : 0;
            if (share > report.worst) report.worst = share, report.worst_x = left, report.worst_y = top;
        }
    return report;
}

}  // namespace pentamesh::ui
