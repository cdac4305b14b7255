// The menu of the view Mesh: which figure colours the cells, the field for ranks, a second order of the axes.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/view.h"

#include <cstdint>

namespace pentamesh::ui {

// Draws the button "…" at the right end of the row, and takes it off.
void mesh_menu_button(Ui& ui, Rect& row, MeshViewState& state);
// Opens a menu under `anchor`.
void open_mesh_menu(MeshViewState& state, MeshMenu menu, Rect anchor);
// Draws the menu that is open, over everything before it.
void draw_mesh_menu(Ui& ui, const Scene& scene, MeshViewState& state);

// Sets another order of the axes next to the plan's own: its place in order_presets(), -1 for none.
void choose_second_order(MeshViewState& state, int order);
// Works out the plan in that order.
void update_second_order(const Scene& scene, MeshViewState& state, std::uint64_t revision);

// Opens the field for ranks, and gives it the keyboard.
void begin_going_to_ranks(MeshViewState& state);
// Draws the field. Enter selects the rank that was typed, or of a list all of them.
void draw_rank_field(Ui& ui, Rect field, Scene& scene, MeshViewState& state);

}  // namespace pentamesh::ui
