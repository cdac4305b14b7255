// Shows which GPUs work at the timeline's cursor: cells coloured by their stage's work, and a sentence about
// it.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

#include <string>

namespace pentamesh::ui {

// Returns true if a cursor is set, and the stages are few enough for a colour each (CellGrid's palette).
[[nodiscard]] bool shows_activity(const Scene& scene);
// Colours by stage, in one draw for any number of GPUs.
void color_by_activity(const Theme& theme, const Scene& scene, CellGrid& grid);
// Writes "At 3.21 s 224 of 256 GPUs work: 96 forward, 128 backward, 32 idle.", each with its colour.
void activity_caption(Ui& ui, Rect row, const Scene& scene);
// Returns "now: backward of micro-batch 12", "now: idle"; empty where no cursor is set.
[[nodiscard]] std::string activity_text(const Scene& scene, std::int64_t rank);

// Makes the stage under the mouse in another view stand out: the cells of all others are dimmed.
void veil_other_stages(Canvas& canvas, const Theme& theme, const Scene& scene, const CellGrid& grid);

}  // namespace pentamesh::ui
