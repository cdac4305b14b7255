// The zoom view is put together from these parts.
#pragma once

#include "app/ui/views/zoom/view.h"

#include <span>
#include <string>

namespace pentamesh::ui {

[[nodiscard]] Rect on_screen(const ZoomCamera& camera, Rect room, const NestBox& box);
[[nodiscard]] ZoomCamera fitting(Rect room, const NestBox& box);
// Returns the colour of the axis that cuts a level of the mesh; the text's where no axis does.
[[nodiscard]] Color color_of_level(const Theme& theme, const Nest& nest, std::size_t level);

// Returns which child of a box is large.
[[nodiscard]] std::int64_t lead_in(const ZoomViewState& state, std::span<const std::int64_t> path);

// Starts a flight to a box; `cursor` is the child of it that the keyboard is then on.
void fly(Ui& ui, Rect room, ZoomViewState& s, NestPath path, std::int64_t cursor = -1);
// Returns the first child that has something in it: a layer rather than the embedding before it.
[[nodiscard]] std::int64_t first_to_enter(const NestChildren& children);

// These are in zoom_guide.cpp; `room` and `canvas` are the boxes' own.
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
