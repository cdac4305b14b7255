// Shows in what plans differ, and why one is faster: A, the open plan as B, and up to six more.
#pragma once

#include "app/tables/table.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/compare/compare_state.h"

#include <optional>

namespace pentamesh::ui {

[[nodiscard]] std::optional<PlanEdit> draw_compare(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                   CompareViewState& state, std::uint64_t revision);
// `part` is 0 for figures, 1 for differences, 2 for why, 3 for the path of edits. Without a pinned plan, only
// the open plan is listed.
[[nodiscard]] Table compare_data(const Scene& scene, const CompareViewState& state, int part);

}  // namespace pentamesh::ui
