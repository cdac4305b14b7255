#include "app/ui/views/zoom/zoom_places.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pentamesh::ui {
namespace {

// A slice is never so thin that it cannot be seen or met.
constexpr double kLeastShare = 0.14;
// Shares of the parent or the child: room above children for the parent's name, and around and between them.
constexpr double kHead = 0.16, kClusterHead = 0.07, kPad = 0.02, kGap = 0.07;
constexpr double kBestAspect = 1.5;

}  // namespace

double nest_head(double w, double h, bool cluster) {
    return std::min((cluster ? kClusterHead : kHead) * h, 0.25 * w);
}

NestGrid nest_grid(double w, double h, std::int64_t count, bool cluster) {
    NestGrid g;
    const double head = nest_head(w, h, cluster), pad = kPad * std::min(w, h);
    g.x = pad;
    g.y = head;
    const double room_w = w - 2 * pad, room_h = h - head - pad;
    double best = 1e300;
    // Columns about the square root of the best shape; the row that is not full costs its empty room.
    const double ideal = std::sqrt(static_cast<double>(count) * room_w / room_h / kBestAspect);
    const auto from = static_cast<std::int64_t>(std::max(1.0, std::floor(ideal / 2)));
    const auto to = std::min(count, static_cast<std::int64_t>(std::ceil(ideal * 2)) + 1);
    for (std::int64_t cols = std::min(from, count); cols <= to; ++cols) {
        const std::int64_t rows = (count + cols - 1) / cols;
        const double aspect =
            room_w / static_cast<double>(cols) / (room_h / static_cast<double>(rows)) / kBestAspect;
        const double empty = static_cast<double>(rows * cols) / static_cast<double>(count) - 1;
        const double cost = std::abs(std::log(aspect)) + 6 * empty + (empty > 0 ? 0.35 : 0);
        if (cost < best) best = cost, g.cols = cols, g.rows = rows;
    }
    g.pitch_x = room_w / static_cast<double>(g.cols);
    g.pitch_y = room_h / static_cast<double>(g.rows);
    const double gap = kGap * std::min(g.pitch_x, g.pitch_y);
    g.w = g.pitch_x - gap;
    g.h = g.pitch_y - gap;
    g.x += gap / 2;
    g.y += gap / 2;
    return g;
}

PlacedNest place_boxes(Nest nest, double aspect) {
    PlacedNest placed{std::move(nest), {}, std::clamp(aspect, 0.25, 8.0)};
    double w = placed.aspect, h = 1;
    for (const NestLevel& level : placed.levels) {
        const NestGrid grid = nest_grid(w, h, level.count, placed.grids.empty());
        placed.grids.push_back(grid);
        w = grid.w, h = grid.h;
    }
    return placed;
}

PlacedChildren placed_children(const PlacedNest& nest, std::span<const std::int64_t> path,
                               const NestBox& box) {
    PlacedChildren out{children_of(nest, path), {}, path.size() > nest.levels.size()};
    out.grid = path.size() < nest.grids.size()
                   ? nest.grids[path.size()]
                   : nest_grid(box.w, box.h, std::max<std::int64_t>(1, out.count));
    return out;
}

NestBox child_box(const PlacedChildren& children, const NestBox& parent, std::int64_t i) {
    const NestGrid& g = children.grid;
    if (!children.sliced) {
        const std::int64_t row = i / g.cols, column = i % g.cols;
        return {parent.x + g.x + static_cast<double>(column) * g.pitch_x,
                parent.y + g.y + static_cast<double>(row) * g.pitch_y, g.w, g.h};
    }
    double sum = 0, before = 0, own = 0, all = 0;
    for (const NestItem& item : children.items) sum += item.weight;
    for (std::size_t k = 0; k < children.items.size(); ++k) {
        const double share = std::max(kLeastShare, sum > 0 ? children.items[k].weight / sum : 0);
        if (static_cast<std::int64_t>(k) < i) before += share;
        if (static_cast<std::int64_t>(k) == i) own = share;
        all += share;
    }
    const double pad = kPad * std::min(parent.w, parent.h), head = nest_head(parent.w, parent.h);
    NestBox room{parent.x + pad, parent.y + head, parent.w - 2 * pad, parent.h - head - pad};
    const double gap = pad;
    if (room.w >= room.h) return {room.x + room.w * before / all, room.y, room.w * own / all - gap, room.h};
    return {room.x, room.y + room.h * before / all, room.w, room.h * own / all - gap};
}

NestBox box_of(const PlacedNest& nest, std::span<const std::int64_t> path) {
    NestBox box{0, 0, nest.aspect, 1};
    for (std::size_t k = 0; k < path.size(); ++k)
        box = child_box(placed_children(nest, path.first(k), box), box, path[k]);
    return box;
}

}  // namespace pentamesh::ui
