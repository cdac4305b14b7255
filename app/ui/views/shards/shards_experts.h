// Draws the experts of a layer as a map: who holds which, and how many tokens each gets.
#pragma once

#include "app/ui/views/shards/shards_draw.h"
#include "app/ui/views/shards/view.h"

namespace pentamesh::ui {

[[nodiscard]] std::optional<PlanEdit> draw_expert_map(Ui& ui, Rect room, const Scene& scene,
                                                      ShardsViewState& state, const Sheet& sheet,
                                                      const SheetLook& look);

}  // namespace pentamesh::ui
