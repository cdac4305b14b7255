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
// More children than this are one large box and a map; so many GPUs still stand side by side.
constexpr std::int64_t kMostEqual = 4, kMostGpus = 16;
constexpr double kLead = 0.76, kMore = 0.09;  // shares of the large box, and of the words over the map

// Fills a room of the parent with a grid.
void fill_grid(NestGrid& g, const NestBox& room, std::int64_t count) {
    double best = 1e300;
    // Columns about the square root of the best shape; the row that is not full costs its empty room.
    const double ideal = std::sqrt(static_cast<double>(count) * room.w / room.h / kBestAspect);
    const auto from = static_cast<std::int64_t>(std::max(1.0, std::floor(ideal / 2)));
    const auto to = std::min(count, static_cast<std::int64_t>(std::ceil(ideal * 2)) + 1);
    for (std::int64_t cols = std::min(from, count); cols <= to; ++cols) {
        const std::int64_t rows = (count + cols - 1) / cols;
        const double aspect =
            room.w / static_cast<double>(cols) / (room.h / static_cast<double>(rows)) / kBestAspect;
        const double empty = static_cast<double>(rows * cols) / static_cast<double>(count) - 1;
        const double cost = std::abs(std::log(aspect)) + 6 * empty + (empty > 0 ? 0.35 : 0);
        if (cost < best) best = cost, g.cols = cols, g.rows = rows;
    }
    g.pitch_x = room.w / static_cast<double>(g.cols);
    g.pitch_y = room.h / static_cast<double>(g.rows);
    const double gap = kGap * std::min(g.pitch_x, g.pitch_y);
    g.w = g.pitch_x - gap;
    g.h = g.pitch_y - gap;
    g.x = room.x + gap / 2;
    g.y = room.y + gap / 2;
}

NestBox room_in(double w, double h, bool cluster) {
    const double head = nest_head(w, h, cluster), pad = kPad * std::min(w, h);
    return {pad, head, w - 2 * pad, h - head - pad};
}

// Returns the same with one child large.
NestGrid lead_grid(double w, double h, std::int64_t count, bool cluster) {
    NestGrid g;
    g.enlarged = true;
    NestBox map = room_in(w, h, cluster);
    g.large = map;
    const double gap = 2 * kPad * std::min(w, h);
    if (map.w > map.h) {
        g.large.w = map.w * kLead;
        map.x += g.large.w + gap;
        map.w -= g.large.w + gap;
    } else {
        g.large.h = map.h * kLead;
        map.y += g.large.h + gap;
        map.h -= g.large.h + gap;
    }
    g.more = {map.x, map.y, map.w, kMore * h};
    map.y += g.more.h;
    map.h -= g.more.h;
    fill_grid(g, map, count);
    return g;
}

}  // namespace

double nest_head(double w, double h, bool cluster) {
    return std::min((cluster ? kClusterHead : kHead) * h, 0.25 * w);
}

NestGrid nest_grid(double w, double h, std::int64_t count, bool cluster) {
    NestGrid g;
    fill_grid(g, room_in(w, h, cluster), count);
    return g;
}

PlacedNest place_boxes(Nest nest, double aspect) {
    PlacedNest placed{std::move(nest), {}, std::clamp(aspect, 0.25, 8.0)};
    for (const NestLevel& level : placed.levels)
        placed.enlarged.push_back(level.count > (level.gpus == 1 ? kMostGpus : kMostEqual));
    return placed;
}

PlacedChildren placed_children(const PlacedNest& nest, std::span<const std::int64_t> path, const NestBox& box,
                               std::int64_t lead) {
    PlacedChildren out{children_of(nest, path), {}, path.size() > nest.levels.size(), lead};
    const std::int64_t count = std::max<std::int64_t>(1, out.count);
    const std::size_t depth = path.size();
    const bool one = depth < nest.enlarged.size() && nest.enlarged[depth];
    const bool cluster = depth == 0 && !nest.levels.empty();
    out.grid = one ? lead_grid(box.w, box.h, count, cluster) : nest_grid(box.w, box.h, count, cluster);
    return out;
}

NestBox grid_box(const NestGrid& g, const NestBox& parent, std::int64_t i) {
    const std::int64_t row = i / g.cols, column = i % g.cols;
    return {parent.x + g.x + static_cast<double>(column) * g.pitch_x,
            parent.y + g.y + static_cast<double>(row) * g.pitch_y, g.w, g.h};
}

NestBox child_box(const PlacedChildren& children, const NestBox& parent, std::int64_t i) {
    const NestGrid& g = children.grid;
    if (!children.sliced && g.enlarged && i == children.lead)
        return {parent.x + g.large.x, parent.y + g.large.y, g.large.w, g.large.h};
    if (!children.sliced) return grid_box(g, parent, i);
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
        box = child_box(placed_children(nest, path.first(k), box, path[k]), box, path[k]);
    return box;
}

}  // namespace pentamesh::ui
