// The inspector: what is selected and how its numbers came about, problems and advice; and the status line.
#pragma once

#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

#include <optional>

namespace pentamesh::ui {

struct InspectorState {
    ScrollState scroll;
};
[[nodiscard]] std::optional<PlanEdit> draw_inspector(Ui& ui, Rect panel, Scene& scene, InspectorState& state);

void draw_status(Ui& ui, Rect room, const Scene& scene, double evaluate_s);

}  // namespace pentamesh::ui
