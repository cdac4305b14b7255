// A card next to the plan panel says what the last edit made there changed.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/change.h"

namespace pentamesh::ui {

// Draws it over everything for as long as the outlines of the plan before stay: next to the axis that was
// pressed, or to where else in the panel the press was. It takes no press itself.
void draw_change_card(Ui& ui, const PlanChange& change);

}  // namespace pentamesh::ui
