// Names the rows of the timeline: stages, their layers and their nodes.
#pragma once

#include "app/ui/views/timeline/timeline_overlay.h"
#include "app/ui/views/timeline/view.h"

namespace pentamesh::ui {

// Writes stages by number, and by layers and nodes where the rows are high enough; a click selects the stage,
// and moves the slow one here where there is one.
void draw_labels(Ui& ui, Rect labels, const RowPlace& rows, Scene& scene, TimelineViewState& state);
// Returns the width that the labels take in this room.
[[nodiscard]] float labels_width(Ui& ui, Rect room, bool tall, const ShownTimeline& shown);

}  // namespace pentamesh::ui
