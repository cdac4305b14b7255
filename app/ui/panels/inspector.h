// Draws the inspector: the selection and how its numbers came about, problems and advice.
#pragma once

#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

#include <optional>

namespace pentamesh::ui {

struct InspectorState {
    ScrollState scroll;
    std::optional<ProblemCode> open;  // the problem whose reason is shown whole
    bool problems_open = false;       // the layer that the status line opens
    Rect problems_anchor;
    ScrollState problems_scroll;
};
[[nodiscard]] std::optional<PlanEdit> draw_inspector(Ui& ui, Rect panel, Scene& scene, InspectorState& state);

// Draws the problems with their fixes over the window, while they are open: for windows too small for the
// inspector.
[[nodiscard]] std::optional<PlanEdit> draw_problems_layer(Ui& ui, const Scene& scene, InspectorState& state);

}  // namespace pentamesh::ui
