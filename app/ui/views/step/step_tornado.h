// Shows how much each choice and constant matters: bars to both sides of the step, the widest first; a click
// makes the change.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/beside.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/scene/scene.h"
#include "core/decide/sensitivity.h"

#include <optional>

namespace pentamesh::ui {

struct TornadoState {
    WorkedOut<Sensitivity, std::uint64_t> of;  // by revision
    std::optional<std::uint64_t> asked;        // the revision that was to be drawn and is not there
    ScrollState scroll;
};
// Precondition: the plan has a step.
[[nodiscard]] std::optional<PlanEdit> draw_tornado(Ui& ui, Rect room, TornadoState& state,
                                                   std::uint64_t revision);

// Returns the chart's rows, or a row that says that they are being worked out.
[[nodiscard]] Table tornado_data(const Scene& scene, const TornadoState& state);

}  // namespace pentamesh::ui
