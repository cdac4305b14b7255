// In what do plans differ, and why is one faster? A, the open plan as B, and up to six more.
#pragma once

#include "app/tables/table.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/compare/compare_state.h"

#include <optional>

namespace pentamesh::ui {

[[nodiscard]] std::optional<PlanEdit> draw_compare(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                   CompareViewState& state, std::uint64_t revision);
// 0: figures, 1: what differs, 2: why, 3: the path of edits. Without a pinned plan: the open plan alone.
[[nodiscard]] Table compare_data(const Scene& scene, const CompareViewState& state, int part);

}  // namespace pentamesh::ui
