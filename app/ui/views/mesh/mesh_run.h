// Draws a run that hangs over the mesh: who is to blame, who waits for whom, who is held up behind them; and
// says it in a list.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_marks.h"
#include "app/ui/views/mesh/mesh_tiles.h"
#include "app/ui/views/mesh/view.h"

#include <string>

namespace pentamesh::ui {

// Returns true if there are dumps of a run with as many ranks as the plan.
[[nodiscard]] bool has_hang(const Scene& scene);
[[nodiscard]] inline bool shows_hang(const Scene& scene, const MeshViewState& state) {
    return state.shows_run && has_hang(scene);
}
// Draws the switch between the run and the groups at the right end of the row, and takes it off.
void run_switch(Ui& ui, Rect& row, MeshViewState& state);
[[nodiscard]] MeshCaption hang_caption(const Scene& scene);
// Draws what the marks mean and the list, and returns the room that is left for the cells.
[[nodiscard]] Rect draw_hang_list(Ui& ui, Rect room, Scene& scene, MeshViewState& state);
void draw_hang(Ui& ui, const MeshPlace& m, const Scene& scene);
// Says what a rank does in the run, for its tooltip.
[[nodiscard]] std::string hang_tooltip(const Scene& scene, std::int64_t rank);

}  // namespace pentamesh::ui
