#include "app/ui/views/zoom/exact_grid.h"

#include "core/model/local_shard.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {
namespace {

constexpr std::int64_t kMostBoxes = 4096;
constexpr float kWideGap = 2, kThinGap = 1;  // logical pixels, between boxes
constexpr float kWideFrom = 10;              // logical pixels of a box, from which its gap is wide

std::int64_t device(float logical, float scale) {
    return std::max<std::int64_t>(1, std::llround(logical * scale));
}

// Returns how many things a box stands for, where so many boxes have room: a divisor of the count that is not
// much more than needed, else what is needed.
std::int64_t things_a_box(std::int64_t count, std::int64_t room) {
    constexpr std::int64_t kNear = 4;
    const std::int64_t least = divide_up(count, room);
    for (std::int64_t each = least; each <= std::min(count, least * kNear); ++each)
        if (count % each == 0) return each;
    return least;
}

// Fills a room of so many device pixels; returns false where no number of columns has room.
bool fill(ExactGrid& g, std::int64_t room_w, std::int64_t room_h, float gap, const BoxShape& shape) {
    g.gap = device(gap, g.scale);
    const std::int64_t least_w = device(shape.least_w, g.scale), least_h = device(shape.least_h, g.scale);
    const bool column = shape.rows == BoxShape::Rows::one_column, row = shape.rows == BoxShape::Rows::one_row;
    const std::int64_t most = std::min(column ? 1 : g.boxes, (room_w + g.gap) / (least_w + g.gap));
    double best = 1e300;
    for (std::int64_t cols = row ? g.boxes : 1; cols <= most; ++cols) {
        const std::int64_t rows = divide_up(g.boxes, cols);
        const std::int64_t w = (room_w - (cols - 1) * g.gap) / cols, h = (room_h - (rows - 1) * g.gap) / rows;
        if (w < least_w || h < least_h) continue;
        // A row that is not full costs its empty room.
        const double empty = static_cast<double>(rows * cols) / static_cast<double>(g.boxes) - 1;
        const double aspect = static_cast<double>(w) / static_cast<double>(h) / shape.aspect;
        const double cost = std::abs(std::log(aspect)) + 6 * empty + (empty > 0 ? 0.35 : 0);
        if (cost < best) best = cost, g.cols = cols, g.rows = rows, g.w = w, g.h = h;
    }
    return best < 1e300;
}

}  // namespace

Rect ExactGrid::box(std::int64_t i) const {
    const auto length = [&](std::int64_t pixels) { return static_cast<float>(pixels) / scale; };
    return {length(x + i % cols * (w + gap)), length(y + i / cols * (h + gap)), length(w), length(h)};
}

Rect ExactGrid::outline() const {
    const Rect first = box(0), last = box(cols * rows - 1);
    return {first.x, first.y, last.right() - first.x, last.bottom() - first.y};
}

std::int64_t ExactGrid::at(Vec2 point) const {
    const std::int64_t px = std::llround(std::floor(point.x * scale)) - x,
                       py = std::llround(std::floor(point.y * scale)) - y;
    if (boxes == 0 || px < 0 || py < 0 || px % (w + gap) >= w || py % (h + gap) >= h) return -1;
    const std::int64_t col = px / (w + gap), i = py / (h + gap) * cols + col;
    return col < cols && i < boxes ? i : -1;
}

ExactGrid exact_grid(Rect room, float scale, std::int64_t count, const BoxShape& shape) {
    ExactGrid g;
    g.count = count, g.scale = scale;
    g.x = std::llround(std::ceil(room.x * scale)), g.y = std::llround(std::ceil(room.y * scale));
    const std::int64_t room_w = std::llround(std::floor(room.right() * scale)) - g.x,
                       room_h = std::llround(std::floor(room.bottom() * scale)) - g.y;
    const std::int64_t thin = device(kThinGap, scale);
    const auto fit = [&](std::int64_t length, float least, BoxShape::Rows one) {
        const std::int64_t boxes = (length + thin) / (device(least, scale) + thin);
        return std::clamp<std::int64_t>(boxes, 0, shape.rows == one ? 1 : kMostBoxes);
    };
    const std::int64_t has_room =
        std::min(kMostBoxes, fit(room_w, shape.least_w, BoxShape::Rows::one_column)
                                 * fit(room_h, shape.least_h, BoxShape::Rows::one_row));
    if (count <= 0 || has_room <= 0) return g;
    g.each = things_a_box(count, has_room);
    g.boxes = divide_up(count, g.each);
    const bool wide = fill(g, room_w, room_h, kWideGap, shape)
                      && static_cast<float>(std::min(g.w, g.h)) >= kWideFrom * scale;
    if (!wide && !fill(g, room_w, room_h, kThinGap, shape)) g.boxes = 0;
    return g;
}

}  // namespace pentamesh::ui
