// The card next to the pressed control says what the last edit of the plan changed.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/change.h"

namespace pentamesh::ui {

// Draws it over everything for as long as the outlines of the plan before stay, next to the plan panel. It
// takes no press.
void draw_change_card(Ui& ui, const PlanChange& change);

}  // namespace pentamesh::ui
