// Draws the tensors of what was chosen, as large as their bytes, the map of experts next to them, and what
// the rank holds in all.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/views/shards/shards_draw.h"
#include "app/ui/views/shards/view.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pentamesh::ui {

// Precondition: `state.drawn` is of the scene.
[[nodiscard]] std::optional<PlanEdit> draw_layer(Ui& ui, Rect room, Scene& scene, ShardsViewState& state);

// The controls of Shards and Mesh make these edits of training.router_imbalance.
[[nodiscard]] PlanEdit imbalance_edit(const Scene& scene, double to, std::string merge_key = {});
// Returns the imbalance so many steps further, at least 1.
[[nodiscard]] double stepped_imbalance(double now, int by);
// Returns true while the plan's number follows from the loads that were given.
[[nodiscard]] bool loads_hold(const Scene& scene, const ExpertLoads& loads, std::int64_t experts);

[[nodiscard]] std::optional<PlanEdit> draw_expert_map(Ui& ui, Rect room, const Scene& scene,
                                                      ShardsViewState& state, const Sheet& sheet,
                                                      const SheetLook& look);

}  // namespace pentamesh::ui
