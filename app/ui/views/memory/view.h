// Memory: what each GPU holds.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

namespace pentamesh::ui {

struct MemoryViewState {
    std::uint32_t hidden = 0;  // categories switched off, by bit
    bool saved = false;        // the waterfall "what each axis saved" instead of the stages
};
void draw_memory(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state);
[[nodiscard]] DataTable memory_data(const Scene& scene);

}  // namespace pentamesh::ui
