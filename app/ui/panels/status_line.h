// Draws the line at the bottom of the window: its figures, or what mouse and keys do.
#pragma once

#include "app/ui/panels/inspector.h"

namespace pentamesh::ui {

// Draws a count of errors and warnings that opens their layer; a picture has no `state`, and nothing opens.
// `figures` is false where the verdict band has them: the line then says what mouse and keys do.
void draw_status(Ui& ui, Rect room, const Scene& scene, double evaluate_s, InspectorState* state,
                 bool covered = false, bool figures = true);

}  // namespace pentamesh::ui
