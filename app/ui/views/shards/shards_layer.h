// Draws the tensors of what was chosen, as large as their bytes, the map of experts next to them, and what
// the rank holds in all.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/views/shards/view.h"

#include <optional>

namespace pentamesh::ui {

// Precondition: `state.drawn` is of the scene.
[[nodiscard]] std::optional<PlanEdit> draw_layer(Ui& ui, Rect room, Scene& scene, ShardsViewState& state);

}  // namespace pentamesh::ui
