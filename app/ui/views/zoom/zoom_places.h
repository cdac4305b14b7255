// Places each box of the nest on the plane. The nest itself is placement.h's.
#pragma once

#include "core/sharding/placement.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pentamesh::ui {

// Lengths are in units of the cluster's height; y grows downwards.
struct NestBox {
    double x = 0, y = 0, w = 1, h = 1;
    [[nodiscard]] bool contains(double px, double py) const {
        return px >= x && py >= y && px < x + w && py < y + h;
    }
};

// Places equal children in their parent, from its top-left corner, row by row. Of many children one is
// large, and the grid next to it is a small map of all; `more` has their number.
struct NestGrid {
    std::int64_t cols = 1, rows = 1;
    double x = 0, y = 0;              // of the first child
    double pitch_x = 1, pitch_y = 1;  // from one to the next
    double w = 1, h = 1;              // of a child
    bool enlarged = false;
    NestBox large, more;
};
[[nodiscard]] NestGrid nest_grid(double parent_w, double parent_h, std::int64_t count, bool cluster = false);
// Returns the height of the strip above a box' children, for its name; the cluster's takes a smaller share.
[[nodiscard]] double nest_head(double w, double h, bool cluster = false);

struct PlacedNest : Nest {
    std::vector<bool> enlarged;  // of `levels`: one child is large
    double aspect = 1;           // of the cluster's box: width over height
};
// `aspect` is from 0.25 to 8.
[[nodiscard]] PlacedNest place_boxes(Nest nest, double aspect);

struct PlacedChildren : NestChildren {
    NestGrid grid;          // of equal children
    bool sliced = false;    // side by side (or one above the other) by weight, instead of in the grid
    std::int64_t lead = 0;  // the child that is large, where the grid has one
};
// `box` is that of the path: children are laid out for its shape.
[[nodiscard]] PlacedChildren placed_children(const PlacedNest& nest, std::span<const std::int64_t> path,
                                             const NestBox& box, std::int64_t lead = 0);
[[nodiscard]] NestBox child_box(const PlacedChildren& children, const NestBox& parent, std::int64_t i);
// Returns the child's place in the grid, also where it is the large one.
[[nodiscard]] NestBox grid_box(const NestGrid& grid, const NestBox& parent, std::int64_t i);
// Returns the box of a path in which every step is the large one.
[[nodiscard]] NestBox box_of(const PlacedNest& nest, std::span<const std::int64_t> path);

}  // namespace pentamesh::ui
