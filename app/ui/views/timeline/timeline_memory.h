// Shows how many activations a stage holds, and when: the curve below the timeline's rows, on the same time
// axis.
#pragma once

#include "app/ui/views/timeline/timeline_scale.h"
#include "app/ui/views/timeline/view.h"

namespace pentamesh::ui {

// Draws one device of the shown timeline; the value at the cursor is marked. `labelled`: what the curve
// is, and the values, are written above it.
void draw_memory_curve(Ui& ui, Rect room, const Timeline& t, int device, const TimeScale& scale,
                       TimelineViewState& state, bool labelled);

}  // namespace pentamesh::ui
