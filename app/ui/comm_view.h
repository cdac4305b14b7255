// Communication: what they say to each other.
#pragma once

#include "app/ui/data_table.h"
#include "app/ui/scene.h"
#include "app/ui/ui.h"

namespace pentamesh::ui {

struct CommViewState {
    TableState table;
};
void draw_comm(Ui& ui, Rect head_row, Rect room, Scene& scene, CommViewState& state);
[[nodiscard]] DataTable comm_data(const Scene& scene);

}  // namespace pentamesh::ui
