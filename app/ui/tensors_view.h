// Tensors: every tensor's shape and cut.
#pragma once

#include "app/ui/data_table.h"
#include "app/ui/scene.h"
#include "app/ui/ui.h"

namespace pentamesh::ui {

struct TensorsViewState {
    TableState table;
    // Made from the evaluation and kept while it stands.
    std::uint64_t rows_of = 0;
    DataTable rows;
};
void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorsViewState& state,
                  std::uint64_t revision);
[[nodiscard]] DataTable tensors_data(const Scene& scene);

}  // namespace pentamesh::ui
