// Shows the figures of the chosen software, with their sources: it is part of the Step view.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

namespace pentamesh::ui {

struct SoftwareState {
    Kept<Table> figures;  // by revision
    TableState rows;
};
void draw_software(Ui& ui, Rect room, const Scene& scene, SoftwareState& state, std::uint64_t revision);

}  // namespace pentamesh::ui
