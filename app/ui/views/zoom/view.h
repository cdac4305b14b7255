// The page Zoom of Mesh shows the cluster as boxes in boxes, and one camera from all replicas down to the
// part of a projection that one GPU holds.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/zoom/zoom_places.h"

#include <cstdint>
#include <span>
#include <string>

namespace pentamesh::ui {

// screen = room + (unit - origin) * scale, in the units of zoom_places.h.
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
