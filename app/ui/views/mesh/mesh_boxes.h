// Writes and frames around the mesh's cells: nodes and pods with their names, ranks as numbers.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_layout.h"

namespace pentamesh::ui {

// Draws frames of the fast domains and pods, where they are large enough to be seen; names where they have
// room.
void draw_boxes(Ui& ui, Rect area, const MeshLayout& layout, const MeshCamera& cam, const CellGrid& grid,
                const Scene& scene);
// Writes the rank in each cell, as large as fits; nothing where cells are too small to read one.
void draw_rank_numbers(Ui& ui, Rect area, const MeshLayout& layout, const CellGrid& grid);

}  // namespace pentamesh::ui
