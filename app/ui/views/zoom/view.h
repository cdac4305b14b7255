// The view Zoom shows the cluster as boxes in boxes, and one camera from all replicas down to the part of a
// projection that one GPU holds.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/zoom/zoom_places.h"

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

}  // namespace pentamesh::ui
