// The page Zoom of Mesh shows the cluster as boxes in boxes, and one camera from all replicas down to the
// part of a projection that one GPU holds.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/sharding/placement.h"

#include <cstdint>
#include <span>
#include <string>
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

// screen = room + (unit - origin) * scale, in units of the cluster's height.
struct ZoomCamera {
    double x = 0, y = 0, scale = 1;
};

// Holds the plan, the room, and the fold that the selection asks for.
struct NestOf {
    std::uint64_t revision = 0;
    Fold fold = Fold::dense;
    Vec2 room;
    bool operator==(const NestOf&) const = default;
};

struct ZoomViewState {
    NestPath path;             // of the box that fills the view
    std::int64_t cursor = -1;  // child of it that the keyboard is on; -1: none
    NestPath lead;             // the large box of each level of the mesh; it begins with `path`
    ZoomCamera camera;
    // A flight is short, and it ends.
    ZoomCamera from, to;
    double begun_s = -1;  // < 0: none
    double lasts_s = 0;
    // A tour flies by itself from the whole down to one part and back: asked for, under way, and until when
    // it rests.
    bool tour_asked = false, tours = false;
    double rests_until_s = 0;
    bool panning = false;
    ZoomCamera pan_start;
    Kept<PlacedNest, NestOf> nest;
};
// `revision` is that of the plan, from 1.
void draw_zoom(Ui& ui, Rect head_row, Rect room, Scene& scene, ZoomViewState& state, std::uint64_t revision);
// Moves without a flight, at the next frame: for pictures and tests.
void show_rank(ZoomViewState& state, const Plan& plan, const Mesh& mesh, std::int64_t rank);
[[nodiscard]] Table zoom_data(const Scene& scene, const ZoomViewState& state);

[[nodiscard]] Rect on_screen(const ZoomCamera& camera, Rect room, const NestBox& box);
[[nodiscard]] ZoomCamera fitting(Rect room, const NestBox& box);
// Returns the colour of the axis that cuts a level of the mesh; the text's where no axis does.
[[nodiscard]] Color color_of_level(const Theme& theme, const Nest& nest, std::size_t level);

// Returns true if a path is the way to a deeper one, or that one.
[[nodiscard]] bool leads_to(std::span<const std::int64_t> path, std::span<const std::int64_t> deeper);
// Returns the path of the selected rank; empty where none is selected.
[[nodiscard]] NestPath selected_path(const Scene& scene, const ZoomViewState& state);
// Returns which child of a box is large.
[[nodiscard]] std::int64_t lead_in(const ZoomViewState& state, std::span<const std::int64_t> path);

// Starts a flight to a box; `cursor` is the child of it that the keyboard is then on.
void fly(Ui& ui, Rect room, ZoomViewState& s, NestPath path, std::int64_t cursor = -1);
// Returns the first child that has something in it: a layer rather than the embedding before it.
[[nodiscard]] std::int64_t first_to_enter(const NestChildren& children);

// These are in zoom_places.cpp; `room` and `canvas` are the boxes' own.
void draw_crumbs(Ui& ui, Rect row, Rect room, ZoomViewState& s);
void draw_caption(Ui& ui, Rect row, const Scene& scene, const ZoomViewState& s);
void draw_ladder(Ui& ui, Rect side, Rect canvas, Scene& scene, ZoomViewState& s);

// Draws everything that is on the screen and large enough to be seen.
void draw_boxes(Ui& ui, Rect room, const Scene& scene, const ZoomViewState& state);
// Draws one projection with its cut: the part of `rank` solid, other parts pale, copies hatched.
void draw_tensor(Ui& ui, Rect room, const Nest& nest, std::span<const int> tensors, std::int64_t rank,
                 std::string_view label);
// Returns the boxes of a path, as far as mesh levels go, that a point lies in and that are drawn.
[[nodiscard]] NestPath path_at(const ZoomViewState& state, Rect room, Vec2 point, float least_px);

}  // namespace pentamesh::ui
