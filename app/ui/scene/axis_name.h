// An item on the screen that names an axis says so here: the axis' card opens where the mouse rests on it, or
// by F1 (app/ui/shell/axis_card.h).
#pragma once

#include "app/ui/kit/ui.h"
#include "core/mesh/mesh.h"

#include <string>

namespace pentamesh::ui {

// Says that what stands in `r` names the axis whose groups these are, and what a click there does; groups of
// several axes have no card. `control` has the keyboard for it. The card covers no part of `clear`, by
// default of `r`.
void names_axis(Ui& ui, GroupKind kind, Rect r, std::string action = {}, Id control = 0, Rect clear = {});

}  // namespace pentamesh::ui
