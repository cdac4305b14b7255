// The page that puts the four stages of ZeRO side by side: copies that shed what the others keep.
#pragma once

#include "app/ui/views/memory/view.h"

#include <optional>

namespace pentamesh::ui {

// A click on a stage makes it the plan's.
[[nodiscard]] std::optional<PlanEdit> draw_sheds(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                 MemoryViewState& state, std::uint64_t revision);

}  // namespace pentamesh::ui
