// Tensors: every tensor's shape and cut.
#pragma once

#include "app/ui/data_table.h"
#include "app/ui/scene.h"
#include "app/ui/ui.h"

namespace pentamesh::ui {

struct TensorsViewState {
    TableState table;
};
void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorsViewState& state);
[[nodiscard]] DataTable tensors_data(const Scene& scene);

}  // namespace pentamesh::ui
