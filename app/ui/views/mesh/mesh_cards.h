// Writes into the cells what a GPU is: its rank; in large cells its coordinates, its part of a weight and how
// full it is.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_tiles.h"

#include <cstdint>

namespace pentamesh::ui {

// In every cell, in those of highlighted groups, or only ranks. Cells too small for a rank stay empty.
enum class Cards : std::uint8_t { all, lit, ranks };
void draw_cards(Ui& ui, const MeshPlace& m, const Scene& scene, const CellGrid& colored, Cards which);

}  // namespace pentamesh::ui
