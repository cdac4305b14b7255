// Lays the mesh out in the room that it has, and moves it under the mouse.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/view.h"

namespace pentamesh::ui {

inline constexpr float kRowWords = 22;  // height of the words below the cells

inline constexpr float kAroundPods = 6;  // for their frames
// Returns the room between pods and those words, for the lines that join pods: a low view has none to spare.
[[nodiscard]] constexpr float under_pods(float height) {
    return height > 200 ? 8.0f : 0.0f;
}

// The places of the cells in `cells`, with room for the words below; made when something that they follow
// from changes.
const MeshLayout& layout_for(MeshViewState& state, Rect cells, const Scene& scene, float scale);
// Returns the camera moved so that the mesh stays in the area.
[[nodiscard]] MeshCamera held(MeshCamera camera, Rect area, const MeshLayout& layout);
// The wheel zooms about the cursor, a drag pans, Home and a double-click on nothing fit.
void move_camera(Ui& ui, Rect area, const MeshLayout& layout, MeshViewState& state, const Hit& hit,
                 bool over_cell, const ViewKeys& keys);

}  // namespace pentamesh::ui
