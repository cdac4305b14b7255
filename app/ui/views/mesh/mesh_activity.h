// Which GPUs work at the timeline's cursor? Cells coloured by what their stage does, and what that says in
// words.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

#include <string>

namespace pentamesh::ui {

// A cursor is set, and the stages are few enough for a colour each (CellGrid's palette).
[[nodiscard]] bool shows_activity(const Scene& scene);
// Colours by stage, one draw whatever the number of GPUs.
void color_by_activity(const Theme& theme, const Scene& scene, CellGrid& grid);
// "At 3.21 s 224 of 256 GPUs work: 96 forward, 128 backward, 32 idle.", each with its colour.
void activity_caption(Ui& ui, Rect row, const Scene& scene);
// "now: backward of micro-batch 12", "now: idle"; empty where no cursor is set.
[[nodiscard]] std::string activity_text(const Scene& scene, std::int64_t rank);

// The stage under the mouse in another view stands out: the cells of all others are veiled.
void veil_other_stages(Canvas& canvas, const Theme& theme, const Scene& scene, const CellGrid& grid);

}  // namespace pentamesh::ui
